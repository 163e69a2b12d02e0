#include "bench/harness/table.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

constexpr std::uint64_t mib = 1024 * 1024;

// Six trials of `seconds` each, of which half is spent in post.
CellRecord measured(const std::string& method, double seconds) {
  CellRecord record;
  record.method = method;
  record.direction = "write";
  record.pattern.name = "decomposition";
  record.pattern.bytes = 8 * mib;
  record.pattern.ranks = 4;
  TrialRecord trial;
  trial.open_to_close = seconds;
  trial.phases[Phase::post].seconds = seconds / 2;
  record.trials.assign(6, trial);
  record.summary = summarise(record.trials, record.pattern.bytes);
  record.verified.state = Verified::yes;
  return record;
}

std::string line_of(const std::string& table, const std::string& start) {
  const std::size_t at = table.find("\n" + start) + 1;
  return table.substr(at, table.find('\n', at) - at);
}

TEST(FormatTable, ARowHoldsMedianIntervalRateAndVerification) {
  const std::string row = line_of(format_table(std::vector{measured("posix", 0.5)}), "posix");
  EXPECT_NE(row.find("0.2500"), std::string::npos) << row;
  EXPECT_NE(row.find("0.5000 +0.0 +0.0 "), std::string::npos) << row;
  EXPECT_NE(row.find(" 16 "), std::string::npos) << "8 MiB in 0.5 s\n" << row;
  EXPECT_TRUE(row.ends_with("yes")) << row;
}

TEST(FormatTable, TheShareIsThatOfTheFasterBound) {
  CellRecord record = measured("hdf5-slab", 1.0);
  record.bounds = {{"posix", 8 * mib, 0.25, 0.25}, {"mpiio-independent", 8 * mib, 0.125, 0.125}};
  const std::string row = line_of(format_table(std::vector{record}), "hdf5-slab");
  EXPECT_NE(row.find(" 12 "), std::string::npos) << row;
}

TEST(FormatTable, FitsEightyColumnsWithUsualNamesAndAnyTime) {
  for (const double seconds : {0.0001, 3.0, 42.0, 420.0, 42000.0}) {
    CellRecord record = measured("as-captured-pnetcdf", seconds);
    record.trials.front().open_to_close = seconds / 2;
    record.trials.back().open_to_close = 3 * seconds;
    record.summary = summarise(record.trials, record.pattern.bytes);
    const std::string table = format_table(std::vector{measured("posix", seconds), record});
    EXPECT_NE(table.find("-50 +200"), std::string::npos) << table;
    for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1) {
      EXPECT_LE(table.find('\n', at) - at, 80u) << table;
    }
  }
}

TEST(FormatTable, AMethodThatDoesNotSupportThePatternHasItsReasonAndNoRow) {
  CellRecord refused;
  refused.method = "pnetcdf-vard";
  refused.unsupported = "two datasets are called 'u'";
  const std::string table = format_table(std::vector{measured("posix", 0.5), refused});
  EXPECT_EQ(line_of(table, "pnetcdf-vard"), "pnetcdf-vard: not run: two datasets are called 'u'");
}

TEST(FormatTable, AnUpperBoundIsMarkedAsSuch) {
  CellRecord bound = measured("posix", 0.5);
  bound.pattern.name = "bound";
  EXPECT_NE(line_of(format_table(std::vector{bound}), "posix").find(" bound "), std::string::npos);
}

TEST(FormatTable, FewerThanSixTrialsHaveARange) {
  CellRecord record = measured("posix", 0.5);
  record.trials.resize(3);
  record.summary = summarise(record.trials, record.pattern.bytes);
  EXPECT_NE(format_table(std::vector{record}).find("needs 6 trials"), std::string::npos);
}

TEST(FormatBars, TheFastestHasTheFullWidthAndASlowOneIsNotShownAsZero) {
  const std::string bars = format_bars(
      std::vector{measured("posix", 0.001), measured("hdf5-slab", 100.0)}, 11 + 10 + 18);
  EXPECT_NE(bars.find("██████████ 8000"), std::string::npos) << bars;
  EXPECT_NE(bars.find("█ 0.08 [0.08, 0.08]"), std::string::npos) << bars;
}

}  // namespace
}  // namespace slabmark
