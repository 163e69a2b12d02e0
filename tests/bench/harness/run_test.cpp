#include "bench/harness/run.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "bench/harness/bound.hpp"
#include "bench/method/registry.hpp"
#include "bench/pattern/transfer_pattern.hpp"
#include "core/base/error.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

namespace fs = std::filesystem;

// Rank r owns the rows r, r + size, ... of a 12 x 5 array of doubles, in two datasets.
Pattern interleaved_rows(int rank, int size) {
  Pattern pattern;
  pattern.name = "interleaved rows";
  pattern.datasets = {{"u", ElementType::float64, {{"row", 12}, {"column", 5}}, false, {}},
                      {"v", ElementType::float32, {{"row", 12}, {"column", 5}}, false, {}}};
  RunList runs;
  for (std::uint64_t row = static_cast<std::uint64_t>(rank); row < 12;
       row += static_cast<std::uint64_t>(size)) {
    runs.push_back({row * 5, 5});
  }
  const SelectionPtr rows = select_row_runs({12, 5}, runs);
  pattern.transfers = [rows](std::uint64_t) {
    return std::vector<Transfer>{{0, 0, rows, nullptr}, {1, 0, rows, nullptr}};
  };
  return pattern;
}

class Run : public testing::Test {
 protected:
  Cell cell(const std::string& method, Settings settings = {}) {
    Cell cell;
    cell.method = &find_method(method);
    cell.settings = std::move(settings);
    cell.written = &written_;
    cell.path = scratch_.file(method + ".out");
    return cell;
  }

  RunOptions trials(std::uint64_t count) {
    RunOptions options;
    options.rule = fixed_trials(count);
    return options;
  }

  // Message of the Error that running `cells` ends in; empty if they are well.
  std::string error_of(const std::vector<Cell>& cells, const RunOptions& options) {
    try {
      run_cells(comm_, cells, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const Comm comm_{MPI_COMM_WORLD};
  const Scratch scratch_{comm_};
  const Pattern written_ = interleaved_rows(comm_.rank(), comm_.size());
  const Pattern read_ = interleaved_rows((comm_.rank() + 1) % comm_.size(), comm_.size());
};

// 2 datasets with 6 requests of 16 bytes each.
Pattern requests(int rank, int size) {
  TransferGeometry geometry;
  geometry.bytes = 96;
  geometry.block = 8;
  geometry.buffer = 16;
  geometry.interleaved = true;
  geometry.datasets = 2;
  return make_transfer_pattern(geometry, static_cast<std::uint64_t>(rank),
                               static_cast<std::uint64_t>(size));
}

TEST_F(Run, RoundsThatArePostedTogetherHaveBuffersOfTheirOwn) {
  const Pattern written = requests(comm_.rank(), comm_.size());
  const Pattern read = requests((comm_.rank() + 1) % comm_.size(), comm_.size());
  ASSERT_EQ(written.rounds, 12u);
  for (const MethodInfo& method : methods()) {
    if (!method.missing.empty() || method.format == FileFormat::none) continue;
    if (method.kind == MethodKind::slices || method.kind == MethodKind::as_captured) continue;
    if (comm_.any(method.supports(written, {}).has_value())) continue;  // by its version
    for (const Direction direction : {Direction::write, Direction::read}) {
      Cell together = cell(method.name);
      together.written = &written;
      together.read = &read;
      together.direction = direction;
      together.rounds_together = 5;  // and a last group of 2
      const auto records = run_cells(comm_, std::vector{together}, trials(1));
      if (!comm_.is_root()) continue;
      EXPECT_EQ(records[0].verified.state, Verified::yes) << method.name;
      EXPECT_EQ(records[0].memory.at("buffers").max, 5 * 16) << method.name;
    }
  }
}

TEST_F(Run, RoundsPostedTogetherMayMoveOneBuffer) {
  const Pattern written = requests(comm_.rank(), comm_.size());
  Cell one = cell("posix");
  one.written = &written;
  one.read = &written;
  one.rounds_together = 5;
  one.one_buffer = true;
  std::set<std::byte*> places;
  one.fill = [&](std::uint64_t, const Transfer&, std::span<std::byte> buffer) {
    places.insert(buffer.data());
    std::memset(buffer.data(), 7, buffer.size());
  };
  RunOptions options = trials(1);
  options.verify = false;
  const auto records = run_cells(comm_, std::vector{one}, options);
  EXPECT_EQ(places.size(), 1u);
  if (!comm_.is_root()) return;
  EXPECT_EQ(records[0].memory.at("buffers").max, 16) << "bytes of one round";
}

TEST_F(Run, BuffersMayHoldSomethingElseThanTheVerifiedContents) {
  const Pattern written = requests(comm_.rank(), comm_.size());
  Cell filled = cell("posix");
  filled.written = &written;
  filled.fill = [](std::uint64_t round, const Transfer& transfer, std::span<std::byte> buffer) {
    EXPECT_EQ(buffer.size(), 16u);
    EXPECT_EQ(transfer.dataset, round / 6);
    std::fill(buffer.begin(), buffer.end(), static_cast<std::byte>('a' + round));
  };
  RunOptions options = trials(1);
  options.verify = false;
  options.keep = true;
  const auto records = run_cells(comm_, std::vector{filled}, options);
  if (!comm_.is_root()) return;
  EXPECT_EQ(records[0].verified.state, Verified::not_asked);
  std::ifstream file(filled.path, std::ios::binary);
  const std::string found{std::istreambuf_iterator<char>(file), {}};
  std::string expected;
  for (char round = 'a'; round < 'a' + 12; ++round) {
    expected += std::string(16 * static_cast<std::size_t>(comm_.size()), round);
  }
  EXPECT_EQ(found, expected);
}

TEST_F(Run, MeasuresAsManyTrialsAsAskedForAfterOneWarmUp) {
  const auto records = run_cells(comm_, std::vector{cell("posix")}, trials(3));
  if (!comm_.is_root()) return;
  ASSERT_EQ(records.size(), 1u);
  ASSERT_EQ(records[0].trials.size(), 4u);
  EXPECT_TRUE(records[0].trials[0].warm_up);
  EXPECT_FALSE(records[0].trials[1].warm_up);
  EXPECT_EQ(records[0].summary.open_to_close.seconds.trials, 3u);
}

TEST_F(Run, TakesTheCellsOfTheFirstRoundInTheirOrderIfAskedTo) {
  RunOptions options = trials(1);
  options.warm_up = false;
  options.first_round_in_order = true;
  const std::vector<Cell> cells = {cell("posix"), cell("null"), cell("mpiio-independent")};
  for (options.seed = 1; options.seed <= 20; ++options.seed) {
    std::vector<std::uint64_t> positions;
    for (const CellRecord& record : run_cells(comm_, cells, options)) {
      if (comm_.is_root()) positions.push_back(record.trials.front().position);
    }
    if (comm_.is_root()) {
      EXPECT_EQ(positions, (std::vector<std::uint64_t>{0, 1, 2}));
    }
  }
}

TEST_F(Run, CountsBytesAndRequestsOfAllRanks) {
  const auto records = run_cells(comm_, std::vector{cell("posix")}, trials(1));
  if (!comm_.is_root()) return;
  EXPECT_EQ(records[0].pattern.bytes, 12u * 5 * (8 + 4));
  EXPECT_EQ(records[0].pattern.requests_total, 2u * 12);
}

TEST_F(Run, VerifiesEveryElementAndLeavesNoFile) {
  const auto records = run_cells(comm_, std::vector{cell("posix")}, trials(2));
  EXPECT_EQ(records[0].verified.state, Verified::yes);
  EXPECT_EQ(records[0].verified.elements, 2u * 12 * 5);
  EXPECT_FALSE(fs::exists(scratch_.file("posix.out")));
}

TEST_F(Run, KeepsTheFileOfTheLastTrialIfAskedTo) {
  RunOptions options = trials(2);
  options.keep = true;
  run_cells(comm_, std::vector{cell("posix")}, options);
  EXPECT_EQ(fs::file_size(scratch_.file("posix.out")), 12u * 5 * (8 + 4));
}

TEST_F(Run, RefusesAFileThatExistsAndLeavesItAsItWas) {
  const std::string path = scratch_.file("posix.out");
  if (comm_.is_root()) std::ofstream(path) << "precious";
  comm_.barrier();
  EXPECT_NE(error_of({cell("posix")}, trials(1)).find("exists already"), std::string::npos);
  std::string kept;
  std::ifstream(path) >> kept;
  EXPECT_EQ(kept, "precious");
}

TEST_F(Run, LeavesAFileAloneThatAnotherJobMakesBetweenTrials) {
  const std::string path = scratch_.file("posix.out");
  Progress progress;
  progress.trial_begins = [&](const Cell&, std::uint64_t round, bool, std::optional<double>) {
    if (round == 2) std::ofstream(path) << "precious";
  };
  EXPECT_THROW(run_cells(comm_, std::vector{cell("posix")}, trials(3), progress), InputError);
  std::string kept;
  std::ifstream(path) >> kept;
  EXPECT_EQ(kept, "precious");
}

TEST_F(Run, EstimatesTheTimeLeftOnceEachCellHasHadATrial) {
  std::vector<std::optional<double>> left;
  Progress progress;
  progress.trial_begins = [&](const Cell&, std::uint64_t, bool, std::optional<double> seconds) {
    left.push_back(seconds);
  };
  run_cells(comm_, std::vector{cell("posix"), cell("mpiio-independent")}, trials(2), progress);
  if (!comm_.is_root()) return;
  ASSERT_EQ(left.size(), 6u) << "with the warm-up";
  EXPECT_FALSE(left[1]);
  EXPECT_GT(left[4].value_or(0.0), left[5].value_or(0.0));
}

TEST_F(Run, ReplacesAFileThatExistsIfAskedTo) {
  if (comm_.is_root()) std::ofstream(scratch_.file("posix.out")) << "old";
  comm_.barrier();
  RunOptions options = trials(1);
  options.overwrite = true;
  EXPECT_EQ(error_of({cell("posix")}, options), "");
}

TEST_F(Run, NamesAMissingOutputDirectory) {
  Cell lost = cell("posix");
  lost.path = scratch_.file("nowhere/posix.out");
  const std::string error = error_of({lost}, trials(1));
  EXPECT_NE(error.find("nowhere"), std::string::npos) << error;
}

TEST_F(Run, RefusesTwoCellsThatWriteTheSameFile) {
  EXPECT_NE(error_of({cell("posix"), cell("posix")}, trials(1)).find("asked for twice"),
            std::string::npos);
}

TEST_F(Run, ReadsWhatAnotherRankWrote) {
  Cell reading = cell("posix");
  reading.direction = Direction::read;
  reading.read = &read_;
  const auto records = run_cells(comm_, std::vector{reading}, trials(2));
  EXPECT_EQ(records[0].verified.state, Verified::yes);
  EXPECT_EQ(records[0].verified.elements, 2u * 12 * 5);
  EXPECT_TRUE(records[0].cache == "cold" || records[0].cache == "warm") << records[0].cache;
  if (comm_.is_root()) {
    EXPECT_EQ(records[0].trials[1].phases.count(Phase::create), 0u);
  }
}

TEST_F(Run, ChargesAStragglerToThePhaseInWhichItLingers) {
  Settings settings;
  const int slow = comm_.size() - 1;
  settings.options = {{"null.delay_flush", "0.01"},
                      {"null.slow_rank", std::to_string(slow)},
                      {"null.slow_factor", "50"}};
  const auto records = run_cells(comm_, std::vector{cell("null", settings)}, trials(1));
  if (!comm_.is_root()) return;
  const auto& phases = records[0].trials.back().phases;
  const auto longest = std::max_element(phases.begin(), phases.end(), [](auto& a, auto& b) {
    return a.second.seconds < b.second.seconds;
  });
  EXPECT_EQ(longest->first, Phase::flush);
  EXPECT_EQ(longest->second.ranks.slowest, static_cast<std::uint64_t>(slow));
}

TEST_F(Run, AFailingRankEndsTheRunOnAllWithItsMessageAndNoFigure) {
  Settings settings;
  settings.options = {{"null.fail_phase", "flush"},
                      {"null.fail_rank", std::to_string(comm_.size() - 1)}};
  const std::string error = error_of({cell("null", settings)}, trials(1));
  EXPECT_NE(error.find("failed in phase flush"), std::string::npos) << error;
}

TEST_F(Run, TheBoundMovesTheSameBytesAndEntersTheRecords) {
  const Pattern bound = bound_of(comm_, written_);
  EXPECT_EQ(moved_bytes(bound), moved_bytes(written_));
  Cell limit = cell("mpiio-independent");
  limit.written = &bound;
  limit.is_bound = true;
  const auto records = run_cells(comm_, std::vector{cell("posix"), limit}, trials(2));
  EXPECT_EQ(records[1].verified.state, Verified::yes);
  if (!comm_.is_root()) return;
  ASSERT_EQ(records[0].bounds.size(), 1u);
  EXPECT_EQ(records[0].bounds[0].method, "mpiio-independent");
  EXPECT_EQ(records[0].bounds[0].bytes, records[0].pattern.bytes);
  EXPECT_TRUE(records[1].bounds.empty());
}

TEST_F(Run, TheNeighboursBoundCoversTheSameFile) {
  const Pattern mine = bound_of(comm_, written_);
  const Pattern next = bound_of(comm_, written_, true);
  Cell reading = cell("posix");
  reading.direction = Direction::read;
  reading.written = &mine;
  reading.read = &next;
  EXPECT_EQ(error_of({reading}, trials(1)), "");
}

}  // namespace
}  // namespace slabmark
