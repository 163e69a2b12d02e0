#include <gtest/gtest.h>

#include "base/error.hpp"
#include "method/method.hpp"

namespace slabmark {
namespace {

TEST(Settings, AFlagTakesTheUsualWordsAndNoOthers) {
  for (const auto* word : {"on", "true", "yes", "1"}) {
    EXPECT_TRUE((Settings{{{"a.b", word}}, {}}.flag("a.b", false))) << word;
  }
  for (const auto* word : {"off", "false", "no", "0"}) {
    EXPECT_FALSE((Settings{{{"a.b", word}}, {}}.flag("a.b", true))) << word;
  }
  EXPECT_THROW((Settings{{{"a.b", "maybe"}}, {}}.flag("a.b", true)), InputError);
}

TEST(Settings, AnOptionThatIsNotSetIsItsDefault) {
  const Settings none;
  EXPECT_TRUE(none.flag("a.b", true));
  EXPECT_EQ(none.text("a.b", "c"), "c");
  EXPECT_EQ(none.count("a.b", 7), 7u);
  EXPECT_EQ(none.real("a.b", 0.5), 0.5);
}

TEST(Settings, ACountTakesSizesAndARealTakesSeconds) {
  const Settings settings{{{"a.bytes", "4K"}, {"a.seconds", "0.25"}}, {}};
  EXPECT_EQ(settings.count("a.bytes", 0), 4096u);
  EXPECT_EQ(settings.real("a.seconds", 0), 0.25);
  EXPECT_THROW(settings.real("a.bytes", 0), InputError);
}

}  // namespace
}  // namespace slabmark
