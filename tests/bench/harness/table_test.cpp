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
  EXPECT_NE(row.find("0.5000 [0.5000, 0.5000]"), std::string::npos) << row;
  EXPECT_NE(row.find(" 16 "), std::string::npos) << "8 MiB in 0.5 s\n" << row;
  EXPECT_TRUE(row.ends_with("yes")) << row;
}

TEST(FormatTable, TheShareIsThatOfTheFasterLimit) {
  CellRecord record = measured("hdf5-slab", 1.0);
  record.bounds = {{"posix", 8 * mib, 0.25, 0.25}, {"mpiio-independent", 8 * mib, 0.125, 0.125}};
  const std::string row = line_of(format_table(std::vector{record}), "hdf5-slab");
  EXPECT_NE(row.find(" 12.5 %"), std::string::npos) << row;
}

TEST(FormatTable, AMethodThatDoesNotSupportThePatternHasItsReasonAndNoRow) {
  CellRecord refused;
  refused.method = "pnetcdf-vard";
  refused.unsupported = "two datasets are called 'u'";
  const std::string table = format_table(std::vector{measured("posix", 0.5), refused});
  EXPECT_EQ(line_of(table, "pnetcdf-vard"), "pnetcdf-vard: not run: two datasets are called 'u'");
}

TEST(FormatTable, ALimitIsMarkedAsSuch) {
  CellRecord limit = measured("posix", 0.5);
  limit.pattern.name = "bound";
  EXPECT_NE(format_table(std::vector{limit}).find("posix (limit)"), std::string::npos);
}

TEST(FormatTable, FewerThanSixTrialsAreSaidToHaveARange) {
  CellRecord record = measured("posix", 0.5);
  record.trials.resize(3);
  record.summary = summarise(record.trials, record.pattern.bytes);
  EXPECT_NE(format_table(std::vector{record}).find("fewer than 6 trials"), std::string::npos);
}

TEST(FormatBars, TheFastestHasTheFullWidthAndASlowOneIsNotShownAsZero) {
  const std::string bars =
      format_bars(std::vector{measured("posix", 0.001), measured("hdf5-slab", 100.0)}, 10);
  EXPECT_NE(bars.find("██████████ 8000"), std::string::npos) << bars;
  EXPECT_NE(bars.find("█ 0.08 [0.08, 0.08]"), std::string::npos) << bars;
}

}  // namespace
}  // namespace slabmark
