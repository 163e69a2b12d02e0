#include "core/geometry/element_type.hpp"

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

TEST(ElementTypes, AreTheRowOfTheirNumber) {
  for (std::size_t i = 0; i < element_types.size(); ++i) {
    const ElementType type = element_types[i].type;
    EXPECT_EQ(static_cast<std::size_t>(type), i);
    EXPECT_EQ(find_element_type(name_of(type)), type);
    EXPECT_EQ(with_type(type, [](auto value) { return sizeof value; }), size_of(type));
  }
  EXPECT_EQ(find_element_type("double"), std::nullopt);
}

TEST(ElementTypes, HaveTheirSizeInTheirName) {
  for (const ElementTypeInfo& info : element_types) {
    if (info.type == ElementType::character) continue;
    EXPECT_TRUE(info.name.ends_with(std::to_string(8 * info.size))) << info.name;
  }
  EXPECT_EQ(name_of(ElementType::character), "char");
  EXPECT_EQ(size_of(ElementType::character), 1u);
}

}  // namespace
}  // namespace slabmark
