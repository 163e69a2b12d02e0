#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/harness/bound.hpp"
#include "bench/harness/run.hpp"
#include "bench/harness/verify.hpp"
#include "bench/method/registry.hpp"
#include "bench/pattern/content.hpp"
#include "core/base/error.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::uint64_t points = 20;

// In each round rank r owns r, r + size, ... of the doubles of the next time.
Pattern points_over_time(int rank, int size, FilePolicy policy, std::uint64_t rounds) {
  Pattern pattern;
  pattern.name = "points";
  pattern.datasets = {{"u", ElementType::float64, {{"x", points}}, true, {}}};
  pattern.rounds = rounds;
  pattern.file_policy = policy;
  pattern.files = 2;
  RunList runs;
  for (auto x = static_cast<std::uint64_t>(rank); x < points; x += static_cast<std::uint64_t>(size))
    runs.push_back({x, 1});
  const SelectionPtr mine = select_row_runs({points}, runs);
  pattern.transfers = [mine](std::uint64_t round) {
    return std::vector<Transfer>{{0, round, mine, nullptr}};
  };
  return pattern;
}

// Each element is 1000 * its time + its place.
class Numbers : public Content {
 public:
  static double at(std::uint64_t time, std::uint64_t x) {
    return static_cast<double>(1000 * time + x);
  }
  void fill(std::size_t, std::uint64_t time, const Extent& start, const Extent& count,
            std::byte* out) const override {
    for (std::uint64_t i = 0; i < count[0]; ++i) {
      const double value = at(time, start[0] + i);
      std::memcpy(out + i * sizeof value, &value, sizeof value);
    }
  }
};

class Files : public testing::Test {
 protected:
  Pattern pattern(FilePolicy policy, std::uint64_t rounds = 3, int next = 0) const {
    auto made =
        points_over_time((comm_.rank() + next) % comm_.size(), comm_.size(), policy, rounds);
    made.content = std::make_shared<Numbers>();
    return made;
  }

  Cell writing(const Pattern& written, const std::string& method = "posix") const {
    Cell cell;
    cell.method = &find_method(method);
    cell.written = &written;
    cell.path = scratch_.file("u.raw");
    return cell;
  }

  RunOptions trials(std::uint64_t count, bool keep = false) const {
    RunOptions options;
    options.rule = fixed_trials(count);
    options.keep = keep;
    return options;
  }

  std::set<std::string> files() const {
    comm_.barrier();
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(scratch_.file("")))
      names.insert(entry.path().filename());
    comm_.barrier();
    return names;
  }

  std::vector<double> numbers(const std::string& name) const {
    std::ifstream file(scratch_.file(name), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<double> all(bytes.size() / sizeof(double));
    std::memcpy(all.data(), bytes.data(), all.size() * sizeof(double));
    return all;
  }

  const Comm comm_{MPI_COMM_WORLD};
  const Scratch scratch_{comm_};
};

TEST_F(Files, OfSeveralAPassWritesEachAndAddsTheirBytes) {
  const Pattern written = pattern(FilePolicy::several);
  const auto records = run_cells(comm_, std::vector{writing(written)}, trials(2, true));
  EXPECT_EQ(files(), (std::set<std::string>{"u_1.raw", "u_2.raw"}));
  EXPECT_EQ(numbers("u_2.raw").size(), 3 * points);
  EXPECT_EQ(records[0].verified.elements, 2 * 3 * points);
  EXPECT_EQ(records[0].pattern.bytes, 2 * 3 * points * sizeof(double));
  if (!comm_.is_root()) return;
  EXPECT_EQ(records[0].trials.size(), 3u);
}

TEST_F(Files, OfSeveralOneStandsAtATime) {
  const Pattern written = pattern(FilePolicy::several);
  Cell cell = writing(written);
  std::vector<std::size_t> standing;
  cell.before_create = [&](const std::string&) {
    standing.push_back(static_cast<std::size_t>(
        std::distance(fs::directory_iterator(scratch_.file("")), fs::directory_iterator{})));
  };
  run_cells(comm_, std::vector{cell}, trials(1));
  if (comm_.is_root()) {
    EXPECT_EQ(standing, std::vector<std::size_t>(4, 0)) << "a warm-up and a trial of 2 files";
  }
}

TEST_F(Files, AreReadRightAfterTheyAreWrittenIfACellReadsAfterAnother) {
  for (const FilePolicy policy : {FilePolicy::one, FilePolicy::several}) {
    const Pattern written = pattern(policy);
    std::vector<Cell> cells(2, writing(written));
    cells[1].direction = Direction::read;
    cells[1].read = &written;
    cells[1].after = &cells[0];
    const auto records = run_cells(comm_, cells, trials(2));
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(files(), std::set<std::string>{});
    EXPECT_EQ(records[1].direction, "read");
    EXPECT_EQ(records[1].cache, "warm");
    EXPECT_EQ(records[1].verified.state, Verified::yes);
    EXPECT_EQ(records[1].verified.elements, records[0].verified.elements);
    EXPECT_EQ(records[1].stop, StopReason::fixed);
    if (!comm_.is_root()) continue;
    ASSERT_EQ(records[1].trials.size(), 3u);
    EXPECT_TRUE(records[1].trials[0].warm_up);
    EXPECT_EQ(records[1].trials[2].phases.count(Phase::open), 1u);
  }
}

TEST_F(Files, OfOneARoundEachHoldsItsRoundFromTimeZero) {
  const Pattern written = pattern(FilePolicy::a_round);
  const auto records = run_cells(comm_, std::vector{writing(written)}, trials(2, true));
  EXPECT_EQ(files(), (std::set<std::string>{"u_1.raw", "u_2.raw", "u_3.raw"}));
  const auto found = numbers("u_3.raw");
  ASSERT_EQ(found.size(), points);
  EXPECT_EQ(found[7], Numbers::at(2, 7));
  EXPECT_EQ(records[0].pattern.bytes, points * sizeof(double)) << "a trial is a round";
  if (comm_.is_root()) {
    EXPECT_EQ(records[0].trials.size(), 3u);
  }
}

TEST_F(Files, ThatAreAppendedToStayOpenAndARoundIsATrial) {
  const Pattern written = pattern(FilePolicy::appended);
  const auto records = run_cells(comm_, std::vector{writing(written)}, trials(2, true));
  const CellRecord& record = records[0];
  const auto found = numbers("u.raw");
  ASSERT_EQ(found.size(), 3 * points);
  EXPECT_EQ(found[points + 7], Numbers::at(1, 7));
  EXPECT_EQ(record.verified.elements, 3 * points);
  EXPECT_EQ(record.pattern.bytes, points * sizeof(double));
  EXPECT_EQ(record.pattern.rounds, 1u);
  ASSERT_TRUE(record.once);
  if (!comm_.is_root()) return;
  ASSERT_EQ(record.trials.size(), 3u);
  for (const TrialRecord& trial : record.trials) {
    EXPECT_EQ(trial.phases.count(Phase::create) + trial.phases.count(Phase::close), 0u);
    EXPECT_EQ(trial.phases.count(Phase::post), 1u);
  }
  EXPECT_EQ(record.once->phases.count(Phase::create), 1u);
  EXPECT_EQ(record.once->phases.count(Phase::close), 1u);
  EXPECT_EQ(record.once->phases.count(Phase::post), 0u);
}

TEST_F(Files, EveryMethodWritesAndReadsOpenFilesRoundByRound) {
  const Pattern written = pattern(FilePolicy::appended);
  const Pattern read = pattern(FilePolicy::appended, 3, 1);
  for (const MethodInfo& method : methods()) {
    if (!method.missing.empty() || method.format == FileFormat::none) continue;
    if (comm_.any(method.supports(written, {}).has_value())) continue;
    for (const Direction direction : {Direction::write, Direction::read}) {
      Cell cell = writing(written, method.name);
      cell.read = &read;
      cell.direction = direction;
      const auto records = run_cells(comm_, std::vector{cell}, trials(2));
      EXPECT_EQ(records[0].verified.state, Verified::yes) << method.name;
      EXPECT_EQ(records[0].verified.elements, 3 * points) << method.name;
    }
  }
}

TEST_F(Files, ThatAreAppendedToTakeTurns) {
  const Pattern written = pattern(FilePolicy::appended);
  std::vector<Cell> cells(2, writing(written));
  cells[1].path = scratch_.file("v.raw");
  std::vector<std::string> turns;
  for (Cell& cell : cells) {
    cell.before_round = [&, path = cell.path](std::uint64_t round) {
      turns.push_back(path.substr(path.size() - 5) + std::to_string(round));
    };
  }
  RunOptions options = trials(2);
  options.first_round_in_order = true;
  run_cells(comm_, cells, options);
  ASSERT_EQ(turns.size(), 6u);
  EXPECT_EQ(turns[0] + turns[1], "u.raw0v.raw0");
  EXPECT_EQ((std::set<std::string>{turns[2], turns[3]}),
            (std::set<std::string>{"u.raw1", "v.raw1"}));
}

TEST_F(Files, HoldWhatTheApplicationsOwnMemoryHolds) {
  const Pattern written = pattern(FilePolicy::appended);
  Cell cell = writing(written);
  std::vector<double> memory(points);
  const auto rank = static_cast<std::uint64_t>(comm_.rank());
  const auto size = static_cast<std::uint64_t>(comm_.size());
  cell.before_round = [&](std::uint64_t round) {
    for (std::uint64_t i = 0; rank + i * size < points; ++i) {
      memory[i] = Numbers::at(round, rank + i * size);
    }
  };
  cell.memory = [&](std::span<const Transfer> transfers) {
    return std::vector(transfers.size(), reinterpret_cast<std::byte*>(memory.data()));
  };
  EXPECT_EQ(run_cells(comm_, std::vector{cell}, trials(2))[0].verified.state, Verified::yes);
  cell.before_round = nullptr;
  EXPECT_THROW(run_cells(comm_, std::vector{cell}, trials(2)), IoError) << "all rounds alike";
}

TEST_F(Files, WithFewerRoundsThanTrialsAreRefused) {
  const Pattern written = pattern(FilePolicy::appended);
  try {
    run_cells(comm_, std::vector{writing(written)}, trials(3));
    ADD_FAILURE() << "4 trials of 3 rounds";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("it has 3, but there may be 4 trials"));
  }
  EXPECT_EQ(files(), std::set<std::string>{});
}

TEST_F(Files, WhoseRoundsAreUnequalTrialsAreRefused) {
  Pattern written = pattern(FilePolicy::appended);
  written.transfers = [all = written.transfers](std::uint64_t round) {
    auto transfers = all(round);
    if (round == 1) transfers.front().file = select_all({points});
    if (round == 0) transfers.front().file = select_none({points});
    return transfers;
  };
  try {
    run_cells(comm_, std::vector{writing(written)}, trials(2));
    ADD_FAILURE() << "the record would tell the mean of all rounds for each";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("round 2 moves 160 and the first 0"));
  }
  EXPECT_EQ(files(), std::set<std::string>{});
}

TEST_F(Files, ThatWereExchangedAreFoundOut) {
  for (const FilePolicy policy : {FilePolicy::several, FilePolicy::a_round}) {
    Pattern written = points_over_time(comm_.rank(), comm_.size(), policy, 3);
    written.datasets.front().has_time = policy == FilePolicy::several;
    RunOptions options = trials(2, true);
    options.overwrite = true;
    run_cells(comm_, std::vector{writing(written)}, options);
    const auto wrong = [&](std::uint64_t part, const char* name) {
      return verify_file(comm_, FileFormat::raw, file_part(written, part), scratch_.file(name))
          .elements_wrong;
    };
    EXPECT_EQ(wrong(0, "u_1.raw") + wrong(1, "u_2.raw"), 0u);
    EXPECT_GE(wrong(0, "u_2.raw"), points);
    EXPECT_GE(wrong(1, "u_1.raw"), points);
  }
}

TEST_F(Files, OfWhichOneExistsAlreadyAreRefusedAndLeftAsTheyWere) {
  if (comm_.is_root()) std::ofstream(scratch_.file("u_2.raw")) << "precious";
  comm_.barrier();
  const Pattern written = pattern(FilePolicy::several);
  EXPECT_THROW(run_cells(comm_, std::vector{writing(written)}, trials(1)), InputError);
  EXPECT_EQ(files(), std::set<std::string>{"u_2.raw"});
  EXPECT_EQ(fs::file_size(scratch_.file("u_2.raw")), 8u);
}

TEST_F(Files, AreBesideABoundOfTheSamePolicy) {
  for (const FilePolicy policy : {FilePolicy::several, FilePolicy::a_round, FilePolicy::appended}) {
    const Pattern written = pattern(policy);
    const Pattern bound = bound_of(comm_, written);
    std::vector<Cell> cells = {writing(written), writing(bound)};
    cells[1].path = scratch_.file("bound.raw");
    cells[1].is_bound = true;
    const auto records = run_cells(comm_, cells, trials(2));
    EXPECT_EQ(records[0].pattern.bytes, records[1].pattern.bytes);
    if (comm_.is_root()) {
      EXPECT_EQ(records[0].bounds.size(), 1u);
    }
  }
}

}  // namespace
}  // namespace slabmark
