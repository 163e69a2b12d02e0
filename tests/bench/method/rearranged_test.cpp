// What the rearranged methods do beyond what all methods do.

#include <memory>

#include <gtest/gtest.h>

#include "bench/method/pass.hpp"
#include "bench/method/registry.hpp"
#include "bench/pattern/conformance.hpp"
#include "bench/pattern/selection.hpp"
#include "scratch.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark {
namespace {

class Rearranged : public testing::Test {
 protected:
  const MethodInfo& method = find_method("mpiio-rearranged");
  Comm comm{MPI_COMM_WORLD};
  Scratch scratch{comm};
  std::shared_ptr<void> kept;

  Outcome write(const Pattern& pattern, const std::string& name, const Settings& settings = {}) {
    return write_file(method, comm, pattern, settings, scratch.file(name), Flush::each_round,
                      &kept);
  }

  /// Two rows of each rank, of 1000 doubles each, `hole` doubles apart that nobody has.
  Pattern two_rows(std::uint64_t hole) const {
    Pattern pattern;
    pattern.name = "rows";
    const std::uint64_t row = 1000;
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    const std::uint64_t half = ranks * row;
    pattern.datasets = {{"v", ElementType::float64, {{"x", 2 * half + hole}}, false, std::nullopt}};
    const auto file =
        select_row_runs({2 * half + hole}, {{rank * row, row}, {half + hole + rank * row, row}});
    pattern.transfers = [file](std::uint64_t) {
      return std::vector<Transfer>{{0, 0, file, nullptr}};
    };
    return pattern;
  }

  std::uint64_t writes(const Outcome& outcome) const {
    return comm.sum(outcome.effective["calls"]["MPI_File_write_at"].get<std::uint64_t>());
  }
};

TEST_F(Rearranged, TheNextFileThatLooksLikeTheLastNeedsNoPlan) {
  const Pattern pattern = two_rows(0);
  EXPECT_EQ(write(pattern, "a").effective["plans"], 1);
  EXPECT_EQ(write(pattern, "b").effective["plans"], 0);
  EXPECT_EQ(check_plainly(method.format, comm, pattern, scratch.file("b")), "");
}

TEST_F(Rearranged, ReadingMakesAPlanOfItsOwnAndKeepsIt) {
  const Pattern pattern = two_rows(0);
  write(pattern, "a");
  for (const int plans : {1, 0}) {
    const auto outcome =
        read_file(method, comm, pattern, {}, scratch.file("a"), Flush::each_round, &kept);
    EXPECT_EQ(outcome.fault, "");
    EXPECT_EQ(outcome.effective["plans"], plans);
  }
}

TEST_F(Rearranged, EachFileGetsAPlanOfItsOwnWhereNothingIsKept) {
  const Pattern pattern = two_rows(0);
  const Settings off{{{"mpiio.keep", "off"}}, {}};
  for (const auto* name : {"a", "b"}) EXPECT_EQ(write(pattern, name, off).effective["plans"], 1);
  EXPECT_EQ(write(pattern, "kept").effective["plans"], 1);
  EXPECT_EQ(write(pattern, "c", off).effective["plans"], 1) << "though there is one to be had";
}

TEST_F(Rearranged, WhatIsKeptDoesNotMisleadAFileOfAnotherPatternOrOtherSettings) {
  const auto patterns = conformance_patterns(comm.rank(), comm.size());
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (method.supports(patterns[i], {})) continue;
    SCOPED_TRACE(patterns[i].name);
    const Settings settings{{{"mpiio.window", i % 2 == 0 ? "1K" : "2K"}}, {}};
    const auto name = std::to_string(i);
    EXPECT_EQ(write(patterns[i], name, settings).fault, "");
    EXPECT_EQ(check_plainly(method.format, comm, patterns[i], scratch.file(name)), "");
  }
}

// The file begins at 0, and one aggregator has one window for all, so it writes all at once but for
// the hole.
TEST_F(Rearranged, AHoleIsWrittenOverUpToTheSizeThatTheOptionSays) {
  const auto with = [](const char* holes) {
    return Settings{{{"mpiio.aggregators", "1"}, {"mpiio.holes", holes}}, {}};
  };
  const Pattern pattern = two_rows(512);  // 4 KiB
  EXPECT_EQ(writes(write(pattern, "over", with("4096"))), 1u);
  EXPECT_EQ(writes(write(pattern, "around", with("4095"))), 2u);
  EXPECT_EQ(writes(write(two_rows(0), "none", with("0"))), 1u);
}

TEST_F(Rearranged, RangesOfAggregatorsBeginAtMultiplesOfTheStripeThatTheFileHas) {
  const Settings striped{{}, {{"striping_unit", "65536"}}};
  const auto by_hint = write(two_rows(0), "a", striped).effective;
  EXPECT_EQ(by_hint["alignment"], 65536);
  EXPECT_EQ(by_hint["alignment_from"], "hint striping_unit");
  const Settings other{{{"mpiio.align", "128"}}, {{"striping_unit", "65536"}}};
  const auto by_option = write(two_rows(0), "b", other).effective;
  EXPECT_EQ(by_option["alignment"], 128);
  EXPECT_EQ(by_option["alignment_from"], "option mpiio.align");
  const auto by_page = write(two_rows(0), "c").effective;
  EXPECT_EQ(by_page["alignment"], 4096);
  EXPECT_EQ(by_page["alignment_from"], "page");
}

TEST_F(Rearranged, TheRecordSaysWhatTheNumberOfAggregatorsFollowsFrom) {
  const auto from = [&](const char* name, const Settings& settings) {
    return write(two_rows(0), name, settings).effective["aggregators_from"];
  };
  EXPECT_EQ(from("a", {{{"mpiio.aggregators", "1"}}, {{"cb_nodes", "1"}}}),
            "option mpiio.aggregators");
  EXPECT_EQ(from("b", {{}, {{"cb_nodes", "1"}}}), "hint cb_nodes");
  EXPECT_EQ(from("c", {}), "nodes");
}

TEST_F(Rearranged, TheOptionSaysHowManyAggregatorsOfANodeWriteAtOnce) {
  const auto writers = [&](const char* name, const char* option) {
    const Settings settings{{{"mpiio.aggregators", "2"}, {"mpiio.writers", option}}, {}};
    return write(two_rows(0), name, settings).effective["writers"];
  };
  EXPECT_EQ(writers("a", "2"), 2);
  EXPECT_EQ(writers("b", "1"), 1);
  const bool one_at_a_time = posix::locks_file_to_write(scratch.file("a"));
  EXPECT_EQ(writers("c", "auto"), one_at_a_time ? 1 : 2);
}

}  // namespace
}  // namespace slabmark
