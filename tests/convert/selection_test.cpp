#include "convert/selection.hpp"

#include <gmock/gmock.h>

namespace slabmark::convert {
namespace {

FileVariable variable_with(const std::string& name, std::vector<std::size_t> dimensions,
                           const std::string& bounds = "") {
  FileVariable variable{.name = name, .type = ElementType::float32};
  variable.dimensions = std::move(dimensions);
  if (bounds.empty()) return variable;
  FileAttribute attribute{.name = "bounds"};
  const auto* text = reinterpret_cast<const std::byte*>(bounds.data());
  attribute.values.assign(text, text + bounds.size());
  variable.attributes.push_back(attribute);
  return variable;
}

TEST(Selection, SplitsSoThatEachVariableIsInSomeFile) {
  FileContents contents;
  contents.dimensions = {{"time", 3, true}, {"x", 2, false}};
  contents.variables = {variable_with("time", {0}, "edges"), variable_with("edges", {0, 1}),
                        variable_with("T", {0, 1}),          variable_with("x", {1}),
                        variable_with("a", {0}, "b"),        variable_with("b", {0}, "a")};
  std::vector<std::vector<std::string>> found;
  for (const Selection& one : split(contents)) found.push_back(one.only);
  EXPECT_THAT(found,
              testing::ElementsAre(testing::ElementsAre("T", "x"), testing::ElementsAre("a", "x")));
}

}  // namespace
}  // namespace slabmark::convert
