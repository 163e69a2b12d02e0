#include "accel/hdf5_connector/log/log_run.hpp"

#include <optional>
#include <random>

#include <gmock/gmock.h>

#include "accel/hdf5_connector/element_size.hpp"

namespace slabmark::slablog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Where each element's bytes are; the plainest thing that runs can be compared with.
using Model = std::vector<std::optional<std::uint64_t>>;

void put(Model& model, const LogRuns& runs) {
  for (const auto& run : runs) {
    for (std::uint64_t i = 0; i < run.length; ++i)
      model[run.offset + i] = run.position + i * element_size;
  }
}

Model model_of(const LogRuns& runs, std::size_t elements) {
  Model model(elements);
  put(model, runs);
  return model;
}

class RandomRuns {
 public:
  explicit RandomRuns(std::uint64_t elements) : elements_(elements) {}

  /// In any order, and they may overlap.
  LogRuns any(std::size_t count) {
    LogRuns runs;
    for (std::size_t i = 0; i < count; ++i) {
      const auto offset = below(elements_);
      const auto length = std::min(1 + below(6), elements_ - offset);
      runs.push_back({offset, length, place_, in_memory});
      place_ += (length + below(2)) * element_size;
    }
    return runs;
  }
  LogRuns ascending(std::size_t count) { return last_wins(any(count), element_size); }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

 private:
  std::mt19937_64 random_{1};
  std::uint64_t elements_;
  std::uint64_t place_ = 0;  ///< no two runs of a test have the same
};

TEST(LogRun, RunsThatContinueEachOtherInTheDatasetAndInTheirPlaceBecomeOne) {
  LogRuns runs;
  append(runs, {10, 2, 100, in_memory}, element_size);
  append(runs, {12, 3, 108, in_memory}, element_size);
  append(runs, {15, 1, 200, in_memory}, element_size);  // elsewhere
  append(runs, {16, 1, 204, in_spill}, element_size);
  EXPECT_THAT(runs, ElementsAre(LogRun{10, 5, 100, in_memory}, LogRun{15, 1, 200, in_memory},
                                LogRun{16, 1, 204, in_spill}));
}

TEST(LogRun, OverlayKeepsTheNewerRunsAndWhatTheyLeaveOfTheOlder) {
  const LogRuns older = {{0, 10, 0, in_segment}, {20, 5, 400, in_segment}};
  const LogRuns newer = {{2, 3, 1000, in_memory}, {8, 14, 2000, in_memory}};
  EXPECT_THAT(overlay(older, newer, element_size),
              ElementsAre(LogRun{0, 2, 0, in_segment}, LogRun{2, 3, 1000, in_memory},
                          LogRun{5, 3, 20, in_segment}, LogRun{8, 14, 2000, in_memory},
                          LogRun{22, 3, 408, in_segment}));
  EXPECT_EQ(overlay({}, newer, element_size), newer);
  EXPECT_EQ(overlay(older, {}, element_size), older);
}

TEST(LogRun, TheLastRunWinsInWhateverOrderTheyWereWritten) {
  RandomRuns random(60);
  for (int round = 0; round < 500; ++round) {
    const auto written = random.any(random.below(20));
    const auto kept = last_wins(written, element_size);
    EXPECT_TRUE(is_sorted_apart(kept));
    ASSERT_EQ(model_of(kept, 60), model_of(written, 60)) << "round " << round;
  }
}

TEST(LogRun, LayersHoldWhatTheirListsHoldOneOverAnother) {
  RandomRuns random(80);
  Layers layers(element_size);
  Model expected(80);
  std::size_t added = 0;
  for (int round = 0; round < 200; ++round) {
    const auto list = random.ascending(1 + random.below(8));
    added += list.size();
    put(expected, list);
    layers.add(list);
    // A look-up walks through all lists.
    ASSERT_LE(layers.lists().size(), 8u) << added << " runs were added";
    if (round % 20 == 19) {
      ASSERT_EQ(model_of(layers.merged(), 80), expected);
    }
  }
  layers.clear();
  EXPECT_TRUE(layers.empty());
  EXPECT_THAT(layers.merged(), IsEmpty());
}

TEST(LogRun, ThePartsWithinSomeRunsAreTheElementsThatBothHave) {
  RandomRuns random(60);
  for (int round = 0; round < 500; ++round) {
    const auto list = random.ascending(random.below(12));
    const auto wanted = elements_of(random.ascending(random.below(12)));
    auto expected = model_of(list, 60);
    auto at = wanted.begin();
    for (std::uint64_t i = 0; i < 60; ++i) {
      while (at != wanted.end() && at->end() <= i) ++at;
      if (at == wanted.end() || i < at->offset) expected[i].reset();
    }
    const auto parts = parts_within(list, wanted, element_size);
    EXPECT_TRUE(is_sorted_apart(parts));
    ASSERT_EQ(model_of(parts, 60), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace slabmark::slablog
