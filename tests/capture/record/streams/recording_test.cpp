#include "capture/record/streams/recording.hpp"

#include <random>

#include <gmock/gmock.h>

#include "capture/read/box_lists.hpp"
#include "capture/read/events.hpp"

namespace slabmark {
namespace {

using capture::Boxes;
using capture::Event;
using capture::Recording;
using testing::ElementsAre;
using Numbers = std::vector<std::int64_t>;
using Selected = CapturedEvent::Selection;

/// All events of a stream, and what follows them.
struct Read {
  std::vector<CapturedEvent> events;
  std::map<std::uint64_t, std::uint64_t> uncaptured;
  bool finished = false;

  explicit Read(const capture::Bytes& bytes) {
    EventReader reader(bytes, "The events");
    for (CapturedEvent event; reader.next(event);) events.push_back(event);
    uncaptured = reader.uncaptured();
    finished = reader.finished();
  }
};

/// A step of output: two datasets in boxes, a wait by number, a flush.
class Program {
 public:
  void step(std::int64_t time) {
    Boxes boxes(2);
    for (const capture::Id dataset : {u_, v_}) {
      const Numbers start{time, 4}, count{1, 6};
      boxes.clear(2);
      boxes.add(start.data(), count.data());
      requests_.push_back(recording.record({.call = put_,
                                            .file = file_,
                                            .dataset = dataset,
                                            .flags = capture::writes | capture::nonblocking,
                                            .selection = &boxes}));
    }
    recording.record({.call = wait_,
                      .file = file_,
                      .flags = capture::collective,
                      .requests = {capture::Requests::Which::listed, requests_}});
    requests_.clear();
  }

  Recording recording;

 private:
  capture::Id file_ = recording.definitions.open_file(R"({"kind":"file","path":"a"})");
  capture::Id u_ = recording.definitions.define(R"({"kind":"dataset","name":"u"})");
  capture::Id v_ = recording.definitions.define(R"({"kind":"dataset","name":"v"})");
  capture::Id put_ = recording.definitions.define_call("put", "write");
  capture::Id wait_ = recording.definitions.define_call("wait", "flush");
  std::vector<std::uint64_t> requests_;
};

TEST(Recording, EventsComeBackAsTheyWereRecorded) {
  Program program;
  program.step(3);
  EXPECT_TRUE(program.recording.ends_block());
  program.recording.end_block();
  EXPECT_FALSE(program.recording.ends_block());
  const Read read(program.recording.events.bytes());
  ASSERT_EQ(read.events.size(), 3);
  EXPECT_EQ(read.events[0].dataset, 0);
  EXPECT_EQ(read.events[1].dataset, 1);
  EXPECT_EQ(read.events[2].dataset, CapturedEvent::none);
  EXPECT_EQ(read.events[0].selection, Selected::box);
  EXPECT_THAT(read.events[0].origin, ElementsAre(3, 4));
  EXPECT_THAT(read.events[1].counts, ElementsAre(1, 6));
  EXPECT_EQ(read.events[1].request, 2);
  EXPECT_THAT(read.events[2].listed, ElementsAre(1, 2));
  EXPECT_FALSE(read.finished);
}

TEST(Recording, AStepThatComesAgainLaterTakesAFewBytes) {
  Program program;
  std::vector<std::size_t> ends;
  for (std::int64_t time = 0; time < 100; ++time) {
    program.step(time);
    program.recording.end_block();
    ends.push_back(program.recording.events.bytes().size());
  }
  EXPECT_LT(ends.back() - ends[1], 98 * 16);
  const Read read(program.recording.events.bytes());
  ASSERT_EQ(read.events.size(), 300);
  for (std::size_t step = 0; step < 100; ++step) {
    EXPECT_EQ(read.events[3 * step].origin[0], static_cast<std::int64_t>(step));
    EXPECT_THAT(read.events[3 * step + 2].listed, ElementsAre(2 * step + 1, 2 * step + 2));
  }
}

TEST(Recording, APendingBlockIsReadAsIfItHadEnded) {
  Program program;
  program.step(0);
  program.recording.end_block();
  program.step(1);
  capture::Bytes bytes = program.recording.events.bytes();
  program.recording.events.put_pending(bytes, program.recording.times);
  EXPECT_EQ(Read(bytes).events.size(), 6);
  EXPECT_EQ(Read(program.recording.events.bytes()).events.size(), 3);
}

TEST(Recording, WhatIsNotCapturedIsCountedByItsName) {
  Recording recording;
  for (int i = 0; i < 3; ++i) recording.count_uncaptured("MPI_File_delete");
  recording.count_uncaptured("H5Lcreate");
  recording.finish();
  const Read read(recording.events.bytes());
  const std::map<std::uint64_t, std::uint64_t> expected = {{0, 3}, {1, 1}};
  EXPECT_EQ(read.uncaptured, expected);
  EXPECT_TRUE(read.finished);
}

TEST(Recording, TheSameTextIsTheSameDefinitionAndEachOpeningIsANewOne) {
  Recording recording;
  auto& definitions = recording.definitions;
  EXPECT_TRUE(definitions.is_empty());
  EXPECT_EQ(definitions.open_file("{}"), 0);
  EXPECT_EQ(definitions.open_file("{}"), 1);
  const capture::Id close = definitions.define_call("close", "close");
  EXPECT_EQ(definitions.define_call("close", "close"), close);
  const capture::Id write = definitions.define_call("a \"name\"\n", "write");
  EXPECT_NE(write, close);
  EXPECT_TRUE(definitions.ends_block(close));
  EXPECT_FALSE(definitions.ends_block(write));
  const std::string text(definitions.bytes().begin(), definitions.bytes().end());
  EXPECT_THAT(text, testing::HasSubstr(R"("name":"a \"name\"\u000a")"));
  EXPECT_THAT(text, testing::HasSubstr(R"("kind":"process")"));
}

TEST(Recording, ListsThatComeAgainHaveOneNumberWhereverTheyLie) {
  Recording recording;
  const auto number = [&](std::int64_t shift) {
    Boxes boxes(1);
    for (const std::int64_t start : {5, 9, 14}) {
      const std::int64_t at = start + shift, count = 2;
      boxes.add(&at, &count);
    }
    return recording.lists.number(capture::ListCoder(boxes), false);
  };
  EXPECT_EQ(number(0), number(1000));
  EXPECT_EQ(BoxLists(recording.lists.bytes(), "The lists").size(), 1);
}

TEST(Recording, RandomEventsComeBackAsTheyWereRecorded) {
  std::mt19937_64 random(11);
  const auto number = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  Recording recording;
  std::vector<std::pair<Event, Numbers>> recorded;  // with arguments
  std::vector<std::uint64_t> made;
  std::vector<std::vector<std::uint64_t>> listed;
  for (int i = 0; i < 3000; ++i) {
    Event event{.call = static_cast<capture::Id>(number(5)),
                .file = static_cast<capture::Id>(number(3)),
                .dataset = number(4) == 0 ? capture::no_id : static_cast<capture::Id>(number(6))};
    Numbers arguments;
    for (std::int64_t a = number(4); a > 0; --a)
      arguments.push_back(static_cast<std::int64_t>(random()));
    event.arguments = arguments;
    Boxes selection(1), memory(1);
    std::vector<std::uint64_t> requests;
    const auto kind = number(4);
    if (kind < 3) {
      event.flags = capture::writes | (kind == 0 ? capture::nonblocking : 0);
      event.rank = 1;
      for (std::int64_t b = number(4); b > 0; --b) {
        const std::int64_t start = number(1 << 30), count = number(100);
        selection.add(&start, &count);
        memory.add(&start, &count);
      }
      if (number(5) > 0) event.selection = &selection;
      if (number(3) == 0 && memory.size() > 0) event.memory = &memory;
    } else if (!made.empty()) {
      for (std::int64_t r = 1 + number(3); r > 0; --r)
        requests.push_back(made[static_cast<std::size_t>(number(std::int64_t(made.size())))]);
      event.requests = {capture::Requests::Which::listed, requests};
    }
    const std::uint64_t request = recording.record(event);
    if (request > 0) made.push_back(request);
    recorded.emplace_back(event, arguments);
    listed.push_back(requests);
    if (number(20) == 0) recording.end_block();
  }
  recording.finish();
  const Read read(recording.events.bytes());
  ASSERT_EQ(read.events.size(), recorded.size());
  const BoxLists lists(recording.lists.bytes(), "The lists");
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto& [event, arguments] = recorded[i];
    const CapturedEvent& back = read.events[i];
    EXPECT_EQ(back.file, event.file);
    EXPECT_EQ(back.call, event.call);
    EXPECT_EQ(back.dataset, event.dataset == capture::no_id ? CapturedEvent::none : event.dataset);
    EXPECT_EQ(back.arguments, arguments);
    EXPECT_EQ(back.listed, listed[i]);
    EXPECT_EQ(back.memory.has_value(), event.memory != nullptr);
    EXPECT_EQ(back.moves() && back.selection == Selected::all,
              back.moves() && event.selection == nullptr);
    if (back.selection == Selected::list) lists.get(back.list);
  }
  EXPECT_TRUE(read.finished);
}

}  // namespace
}  // namespace slabmark
