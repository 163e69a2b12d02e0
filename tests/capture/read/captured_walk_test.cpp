#include "capture/read/captured_walk.hpp"

#include <gmock/gmock.h>

#include "capture/format/event_flags.hpp"
#include "capture/read/recorded.hpp"
#include "capture/read/recorded_program.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

using capture::Boxes;
using testing::ElementsAre;
using Numbers = std::vector<std::int64_t>;

/// One rank that writes records of 4 elements each, through PnetCDF.
class WalkTest : public testing::Test {
 protected:
  std::uint64_t put(const std::vector<std::pair<Numbers, Numbers>>& boxes, unsigned flags = 0) {
    Boxes selection(2);
    for (const auto& [start, count] : boxes) selection.add(start.data(), count.data());
    return recording.record({.call = put_,
                             .file = file_,
                             .dataset = dataset_,
                             .flags = capture::writes | flags,
                             .selection = &selection});
  }
  void wait(capture::Requests requests, unsigned flags = capture::collective) {
    recording.record({.call = flags & capture::cancels ? cancel_ : wait_,
                      .file = file_,
                      .flags = flags,
                      .requests = requests});
  }

  /// The walk over what was recorded.
  CapturedWalk& walk() {
    const std::string path = scratch.file("a.pattern");
    recording.finish();
    PatternWriter writer(path);
    writer.add_events(recording.events.bytes());
    writer.add_lists(recording.lists.bytes());
    const std::vector<std::uint32_t> files = {0}, definitions = {0, 1, 2, 3};
    writer.end_rank(files, definitions);
    writer.finish(Json::parse(R"({"files":[{"level":"pnetcdf","path":"a.nc"}],
      "ranks":[{}],"definitions":[{"kind":"call","name":"ncmpi_put_vara","effect":"write"},
      {"kind":"call","name":"ncmpi_wait_all","effect":"flush"},
      {"kind":"call","name":"ncmpi_cancel","effect":"other"},
      {"kind":"dataset","name":"r","type":"int32","extent":[0,4],"maximum":[null,4]}]})"),
                  "captured");
    program.emplace(path, FileChoice{});
    program->shapes.of_definition[3] = {true, {4}};
    program->shapes.moved_paths = {0};
    program->direction = capture::writes;
    walk_.emplace(program->file, program->paths, program->numbers, program->shapes, 0,
                  program->direction);
    return *walk_;
  }
  /// Elements of each record that the next event moves.
  std::map<std::uint64_t, std::uint64_t> next() {
    std::map<std::uint64_t, std::uint64_t> elements;
    if (walk_->next()) {
      for (const PlacedBoxes& placed : walk_->placed()) elements[placed.time] += placed.elements;
    }
    return elements;
  }
  using Moved = std::map<std::uint64_t, std::uint64_t>;

  const Scratch scratch;
  capture::Recording recording;
  std::optional<RecordedProgram> program;

 private:
  capture::Id file_ = recording.definitions.open_file("{}");
  capture::Id put_ = recording.definitions.define_call("ncmpi_put_vara", "write");
  capture::Id wait_ = recording.definitions.define_call("ncmpi_wait_all", "flush");
  capture::Id cancel_ = recording.definitions.define_call("ncmpi_cancel", "other");
  capture::Id dataset_ = recording.definitions.define(R"({"kind":"dataset"})");
  std::optional<CapturedWalk> walk_;
};

TEST_F(WalkTest, ABlockingCallIsInTheRoundOfItsRecord) {
  put({{{2, 1}, {1, 3}}});
  put({{{5, 0}, {1, 4}}});
  CapturedWalk& walk = this->walk();
  EXPECT_EQ(next(), (Moved{{2, 3}}));
  EXPECT_EQ(walk.round().time, 3);
  EXPECT_EQ(next(), (Moved{{5, 4}}));
  EXPECT_EQ(walk.round().time, 6);
  EXPECT_FALSE(walk.next());
}

TEST_F(WalkTest, ACallOfSeveralRecordsIsInOneRound) {
  put({{{2, 0}, {2, 4}}});
  put({{{7, 0}, {1, 1}}, {{7, 2}, {1, 1}}, {{9, 0}, {1, 4}}});
  CapturedWalk& walk = this->walk();
  EXPECT_EQ(next(), (Moved{{2, 4}, {3, 4}}));
  EXPECT_EQ(walk.round().time, 0);
  EXPECT_EQ(walk.fragments().size(), 2);
  EXPECT_EQ(next(), (Moved{{7, 2}, {9, 4}}));
  EXPECT_EQ(walk.elements(), 6);
}

TEST_F(WalkTest, WhatIsPostedIsInTheRoundThatItsWaitEnds) {
  const std::uint64_t first = put({{{0, 0}, {1, 4}}}, capture::nonblocking);
  const std::vector<std::uint64_t> requests = {first};
  wait({capture::Requests::Which::listed, requests});
  put({{{1, 0}, {1, 4}}}, capture::nonblocking);
  CapturedWalk& walk = this->walk();
  EXPECT_EQ(next(), (Moved{{0, 4}}));
  EXPECT_EQ(walk.round(), (RoundKey{0, 0, 0}));
  next();
  EXPECT_EQ(walk.round(), (RoundKey{0, 0, 0}));
  EXPECT_EQ(next(), (Moved{{1, 4}}));
  EXPECT_EQ(walk.round(), (RoundKey{0, 1, 0}));
}

TEST_F(WalkTest, WhatIsCancelledIsNotMoved) {
  put({{{0, 0}, {1, 4}}}, capture::nonblocking);
  wait({capture::Requests::Which::all_reading}, capture::cancels);
  put({{{1, 0}, {1, 4}}}, capture::nonblocking);
  const std::vector<std::uint64_t> second = {2};
  wait({capture::Requests::Which::listed, second}, capture::cancels);
  wait({capture::Requests::Which::all});
  walk();
  EXPECT_EQ(next(), (Moved{{0, 4}}));
  EXPECT_EQ(next(), Moved());
  EXPECT_EQ(next(), Moved());
}

TEST_F(WalkTest, BoxesAreGivenWithoutTheRecord) {
  put({{{3, 0}, {1, 1}}, {{3, 2}, {1, 2}}});
  CapturedWalk& walk = this->walk();
  next();
  Numbers numbers;
  walk.append_boxes(walk.placed().front(), numbers);
  EXPECT_THAT(numbers, ElementsAre(0, 1, 1, 1, 2, 2, 1, 1));
}

TEST_F(WalkTest, ACallThatDoesNotFitItsDatasetIsRefused) {
  put({{{0, 0}, {1, 4}}});
  walk();
  program->shapes.of_definition[3] = {false, {4}};
  EXPECT_THAT(refusal([&] { next(); }),
              testing::HasSubstr("a call selects in 2 dimensions of a dataset of 1"));
}

}  // namespace
}  // namespace slabmark
