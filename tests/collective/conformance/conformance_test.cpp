// Every adapter of the engine must pass these tests through its own interface (README.md).

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "collective/conformance/fixture.hpp"
#include "file_size_limit.hpp"

namespace slabmark::conformance {

namespace {

using testing::HasSubstr;

/// Two arrays without records, and two with. `factor`: how large they are.
Program several_arrays(std::uint64_t factor = 1) {
  Program program;
  program.arrays = {{"v", ElementType::int32, {9, 40 * factor}},
                    {"w", ElementType::float64, {200 * factor}},
                    {"r", ElementType::float32, {5, 30 * factor}, true},
                    {"s", ElementType::int16, {77 * factor}, true}};
  return program;
}

/// A step that writes record `record` of all arrays.
Step all_arrays(const Program& program, std::size_t ranks, std::uint64_t record,
                std::uint64_t width = 3) {
  Step step;
  for (std::size_t a = 0; a < program.arrays.size(); ++a) {
    const Array& array = program.arrays[a];
    step.push_back(request(ranks, a, array.has_records ? record : 0, [&](std::size_t rank) {
      return dealt(rank, ranks, element_count(array.extent), width);
    }));
  }
  return step;
}

/// A program of an array of integers that each step writes a part of: `runs_of(step, rank)`.
template <class RunsOf>
Program one_array(std::size_t ranks, std::uint64_t elements, std::size_t steps,
                  const RunsOf& runs_of) {
  Program program;
  program.arrays = {{"v", ElementType::int32, {elements}}};
  for (std::size_t step = 0; step < steps; ++step) {
    program.steps.push_back(
        {request(ranks, 0, 0, [&](std::size_t rank) { return runs_of(step, rank); })});
  }
  return program;
}

TEST_P(Conformance, ElementsOfEveryTypeGoToTheirPlacesInOneFlush) {
  Program program;
  Step step;
  for (const auto type :
       {ElementType::int8, ElementType::uint8, ElementType::character, ElementType::int16,
        ElementType::uint16, ElementType::int32, ElementType::uint32, ElementType::int64,
        ElementType::uint64, ElementType::float32, ElementType::float64}) {
    const std::size_t a = program.arrays.size();
    program.arrays.push_back({"v" + std::to_string(a), type, {7, 30 + a}});
    step.push_back(request(ranks(), a, 0, [&](std::size_t rank) {
      RunList runs = dealt((rank + a) % ranks(), ranks(), 7 * (30 + a), 1 + a % 4);
      if (a % 2 == 0) std::ranges::reverse(runs);  // in memory
      return runs;
    }));
  }
  program.steps = {step};
  write_and_read(program);
}

TEST_P(Conformance, WhatAnEarlierFlushWroteStaysInTheHolesOfALaterOne) {
  // Every fourth block, those behind them, some again, and the last fourth never.
  write_and_read(one_array(ranks(), 4000, 3, [&](std::size_t step, std::size_t rank) {
    RunList runs;
    for (const auto run : dealt(rank, ranks(), 1000, 2)) {
      if (step == 2 && run.offset % 10 != 0) continue;
      runs.push_back({4 * run.offset + (step % 2) * 2 * run.length, run.length});
    }
    return runs;
  }));
}

TEST_P(Conformance, RecordsComeOneAfterAnotherAndInAnyOrder) {
  Program program = several_arrays();
  for (const std::uint64_t record : {0, 1, 4, 2, 4}) {
    program.steps.push_back(all_arrays(program, ranks(), record));
  }
  // Records of one array alone, and two of it in one flush.
  program.steps.push_back({all_arrays(program, ranks(), 5)[3]});
  program.steps.push_back({all_arrays(program, ranks(), 6)[2], all_arrays(program, ranks(), 7)[2]});
  write_and_read(program);
}

TEST_P(Conformance, SelectionsThatComeAgainAndThoseThatLookAlikeAreToldApart) {
  Program program = several_arrays();
  const auto arrays = program.arrays.size();
  for (const std::uint64_t width : {3, 3, 5, 3}) {
    program.steps.push_back(all_arrays(program, ranks(), program.steps.size() % 3, width));
  }
  // The same, but that the last piece of the last rank is an element shorter.
  program.steps.push_back(program.steps.back());
  auto& runs = program.steps.back().front().runs.back();
  ASSERT_FALSE(runs.empty());
  runs.back().length -= 1;
  // The pieces of the first step on other ranks; the first step without its last array.
  program.steps.push_back(program.steps.front());
  for (Request& one : program.steps.back()) std::ranges::rotate(one.runs, one.runs.begin() + 1);
  program.steps.push_back(program.steps.front());
  program.steps.back().resize(arrays - 1);
  write_and_read(program, "a");
  program.steps.resize(2);
  write_and_read(program, "b");  // with what was kept of the first file
}

TEST_P(Conformance, ABlockOfEachRankGoesToItsPlace) {
  write_and_read(one_array(ranks(), 500, 3, [&](std::size_t step, std::size_t rank) {
    const auto mine = equal_range(500 - 10 * step, rank, ranks());
    return RunList{{mine.offset + 10 * step, mine.length}};
  }));
}

TEST_P(Conformance, RanksMayHaveNothingInAStepAndAllOfThemToo) {
  const auto last = ranks() - 1;
  write_and_read(one_array(ranks(), 500, 5, [&](std::size_t step, std::size_t rank) {
    const bool has_some = step == 1 ? rank == last : step == 2 ? false : rank == step % ranks();
    return has_some ? dealt(0, 1, 500 - 100 * step, 500) : RunList{};
  }));
}

TEST_P(Conformance, RequestsOfNoSizeMoveNothing) {
  write_and_read(one_array(ranks(), 500, 2, [&](std::size_t step, std::size_t rank) {
    RunList runs = dealt(rank, ranks(), 500, 10);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (step == 0 || i % 2 == 1) runs[i].length = 0;
    }
    return runs;
  }));
}

/// In every second step each rank has half of the elements of the next one, too. They are many
/// pieces, as few are no work for the drop-in.
Program with_shared_elements(std::size_t ranks) {
  Program program = several_arrays(4);
  const Step apart = all_arrays(program, ranks, 0, 1);
  Step shared = apart;
  for (std::size_t r = 0; r < shared.size(); ++r) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const RunList& next = apart[r].runs[(rank + 1) % ranks];
      RunList& runs = shared[r].runs[rank];
      runs.insert(runs.end(), next.begin(), next.begin() + next.size() / 2);
    }
  }
  program.steps = {apart, shared, apart, shared};
  return program;
}

TEST_P(Conformance, OfElementsThatRanksShareThoseOfTheHighestStayOrAllRanksAreRefused) {
  if (ranks() == 1) GTEST_SKIP() << "one rank shares with nobody";
  const Program program = with_shared_elements(ranks());
  if (lacking(Ability::share_elements).empty()) return write_and_read(program);
  Contents contents(program);
  const auto file = adapter->create(scratch.file("a"), program);
  const std::size_t steps = lacking(Ability::go_on).empty() ? program.steps.size() : 2;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::string failure = write(*file, program, step);
    if (step % 2 == 1) {
      EXPECT_THAT(failure, HasSubstr("written by more than one rank")) << "on every rank";
    } else {
      EXPECT_EQ(failure, "");
      contents.write(step);
    }
  }
  if (steps > 2) {
    EXPECT_EQ(failure_of([&] { file->close(); }), "");
  }
  expect_in_file(contents, program);
}

TEST_P(Conformance, OfElementsThatARankRepeatsInARequestTheLastStay) {
  const auto lacks = lacking(Ability::repeat_elements);
  if (!lacks.empty()) GTEST_SKIP() << lacks;
  write_and_read(one_array(ranks(), 600, 3, [&](std::size_t step, std::size_t rank) {
    RunList runs;
    for (const auto run : dealt(rank, ranks(), 600, 6)) {
      runs.push_back({run.offset, 4});
      runs.push_back({run.offset + 2 * (step % 2), 3});  // the same again in the third step
    }
    return runs;
  }));
}

TEST_P(Conformance, OfTwoRequestsForAnElementInOneStepTheLaterStays) {
  const auto lacks = lacking(Ability::rewrite);
  if (!lacks.empty()) GTEST_SKIP() << lacks;
  Program program = several_arrays();
  for (int times = 0; times < 3; ++times) {
    Step step = all_arrays(program, ranks(), 0);
    const Step again = times == 1 ? all_arrays(program, ranks(), 0) : step;
    step.insert(step.end(), again.begin(), again.end());
    for (std::size_t r = again.size(); r < step.size(); ++r) {
      for (RunList& runs : step[r].runs) runs.resize(runs.size() / 2);
    }
    program.steps.push_back(std::move(step));
  }
  write_and_read(program);
}

TEST_P(Conformance, ARequestThatLeavesItsArrayIsRefusedAndTheFileGoesOn) {
  const auto lacks = lacking(Ability::overrun);
  if (!lacks.empty()) GTEST_SKIP() << lacks;
  Program program = several_arrays(4);
  program.steps = {all_arrays(program, ranks(), 0),
                   {},
                   all_arrays(program, ranks(), 1),
                   all_arrays(program, ranks(), 0)};
  program.steps[1] = {all_arrays(program, ranks(), 0)[1]};
  program.steps[1][0].runs.back() = {{799, 2}};
  if (ranks() > 1 &&
      lacking(Ability::share_elements).empty()) {  // what counts calls must count those refused
    program.steps[2] = with_shared_elements(ranks()).steps[1];
  }
  Contents contents(program);
  const auto file = adapter->create(scratch.file("a"), program);
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    const std::string failure = write(*file, program, step);
    if (step == 1) {
      EXPECT_TRUE(rank() < comm.size() - 1 || !failure.empty());
    } else {
      EXPECT_EQ(failure, "") << "in step " << step;
      contents.write(step, adapter->overlap());
    }
  }
  EXPECT_EQ(failure_of([&] { file->close(); }), "");
  expect_in_file(contents, program);
}

TEST_P(Conformance, AWriteThatFailsIsToldToAllRanksAndWhatWasWrittenStays) {
  if (const auto lacks = lacking(Ability::fail); !lacks.empty()) GTEST_SKIP() << lacks;
  // The second step is behind the largest size that files may have then.
  const std::uint64_t limit = 24u << 20, far = 64u << 20;
  const Program program = one_array(ranks(), far / 4, 3, [&](std::size_t step, std::size_t rank) {
    return dealt(rank, ranks() + 1, step == 1 ? far / 4 : 3000, 5, step == 1 ? far / 4 - 3000 : 0);
  });
  Contents contents(program);
  const auto file = adapter->create(scratch.file("a"), program);
  EXPECT_EQ(write(*file, program, 0), "");
  contents.write(0);
  {
    const FileSizeLimit limited(limit);
    EXPECT_NE(write(*file, program, 1), "");
    comm.barrier();
  }
  if (lacking(Ability::go_on).empty()) {
    EXPECT_EQ(write(*file, program, 2), "");
    contents.write(2);
    failure_of([&] { file->close(); });
  }
  expect_in_file(contents, program);
}

Program of_several_steps(std::size_t ranks) {
  Program program = several_arrays();
  for (const std::uint64_t record : {0, 1}) {
    program.steps.push_back(all_arrays(program, ranks, record, record + 2));
  }
  return program;
}

TEST_P(Conformance, LittleMemoryChangesNothing) {
  use({.little_memory = true});
  write_and_read(of_several_steps(ranks()));
}

TEST_P(Conformance, RanksThatShareNoMemoryWriteTheSame) {
  use({.no_shared_memory = true});
  write_and_read(of_several_steps(ranks()));
}

TEST_P(Conformance, HintsChangeNothing) {
  use({.hints = {{"cb_nodes", "3"}, {"cb_buffer_size", "8192"}, {"striping_unit", "65536"}}});
  write_and_read(of_several_steps(ranks()));
}

TEST_P(Conformance, AHintThatIsNoNumberCountsAsNotGiven) {
  use({.hints = {{"striping_factor", "many"}, {"no_such_hint", "at all"}}});
  write_and_read(of_several_steps(ranks()));
}

TEST_P(Conformance, ElementsBeyondTwoAndFourGibibytesGoToTheirPlaces) {
  Program program;
  const std::uint64_t size = (std::uint64_t{1} << 32) + 4096;
  program.arrays = {{"huge", ElementType::int8, {size}},
                    {"behind", ElementType::int32, {400}},
                    {"wide", ElementType::float64, {3, std::uint64_t{1} << 28}}};
  Step step;
  step.push_back(request(ranks(), 0, 0, [&](std::size_t rank) {
    RunList runs;
    for (const std::uint64_t place : {std::uint64_t{0}, (std::uint64_t{1} << 31) - 100,
                                      (std::uint64_t{1} << 32) - 100, size - 200}) {
      for (const auto run : dealt(rank, ranks(), 200, 3)) {
        runs.push_back({place + run.offset, run.length});
      }
    }
    return runs;
  }));
  step.push_back(
      request(ranks(), 1, 0, [&](std::size_t rank) { return dealt(rank, ranks(), 400, 7); }));
  step.push_back(request(ranks(), 2, 0, [&](std::size_t rank) {
    RunList runs;
    for (const std::uint64_t row : {0, 2}) {
      for (const auto run : dealt(rank, ranks(), 100, 4)) {
        runs.push_back({(row << 28) + (1u << 27) + run.offset, run.length});
      }
    }
    return runs;
  }));
  program.steps = {step, step};
  write_and_read(program);
}

INSTANTIATE_TEST_SUITE_P(Adapters, Conformance, testing::ValuesIn(adapters()), name_of_adapter);

}  // namespace
}  // namespace slabmark::conformance
