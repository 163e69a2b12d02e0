#include "core/base/printable.hpp"

#include <gtest/gtest.h>

namespace slabmark {
namespace {

TEST(Printable, TextOfAnyLanguageStaysAsItIs) {
  EXPECT_EQ(printable("Größe 大きさ 🌍 \"a\\b\""), "Größe 大きさ 🌍 \"a\\b\"");
}

TEST(Printable, WhatControlsATerminalOrSplitsALineIsEscaped) {
  EXPECT_EQ(printable("a\nb\rc\td\x1b[2Je\x7f"), "a\\nb\\rc\\td\\x1b[2Je\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xc2\\x9b");           // CSI as one character
  EXPECT_EQ(printable("\xE2\x80\xA8"), "\\xe2\\x80\\xa8");  // line separator
  EXPECT_EQ(printable("\xE2\x80\xAE"
                      "x"),
            "\\xe2\\x80\\xaex");  // right to left from here on
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, BytesThatAreNoUtf8AreEscaped) {
  EXPECT_EQ(printable("\xFF\xC3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xC0\xAF"), "\\xc0\\xaf");                    // a slash in two bytes
  EXPECT_EQ(printable("\xE0\x80\xAF"), "\\xe0\\x80\\xaf");           // in three
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");           // half of a pair
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
}

TEST(Printable, OfAHugeTextBeginningAndEndStay) {
  std::string huge = "The name '";
  for (int i = 0; i < 100'000; ++i) huge += "ö";
  huge += "' is too long; choose another.";
  const std::string line = printable(huge);
  EXPECT_LT(line.size(), 2100U);
  EXPECT_TRUE(line.starts_with("The name 'ö"));
  EXPECT_TRUE(line.ends_with("ö' is too long; choose another."));
  EXPECT_EQ(line.find("\\x"), std::string::npos);  // no character is cut in two
}

TEST(Wrapped, LinesEndAtBlanksAndLaterOnesAreIndented) {
  EXPECT_EQ(wrapped("name  one two three", 6, 13), "name  one two\n      three");
  EXPECT_EQ(wrapped("name  one two three", 6, 12), "name  one\n      two\n      three");
  EXPECT_EQ(wrapped("short", 2, 10), "short");
}

TEST(Wrapped, AWordThatIsLongerThanALineStaysWhole) {
  EXPECT_EQ(wrapped("a muchlongerword b", 0, 8), "a\nmuchlongerword\nb");
  EXPECT_EQ(wrapped("muchlongerword", 2, 8), "muchlongerword");
}

}  // namespace
}  // namespace slabmark
