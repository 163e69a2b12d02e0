#include "core/geometry/element_type.hpp"

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

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

// Files of the private layout hold them.
TEST(ElementTypes, KeepTheirNumbers) {
  const std::string_view names[] = {"uint8", "int32", "int64",  "float32", "float64", "char",
                                    "int8",  "int16", "uint16", "uint32",  "uint64"};
  for (std::size_t i = 0; i < std::size(names); ++i) EXPECT_EQ(element_types[i].name, names[i]);
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
