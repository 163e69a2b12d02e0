// What is pending: strided runs in closed form, and what was written over them.
#include "accel/hdf5_connector/pending.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "accel/hdf5_connector/log/log_dataset.hpp"
#include "log_file_fixture.hpp"

namespace slabmark::slablog {
namespace {

/// A regular hyperslab of random strides, `levels` of them.
RunList random_strides(std::mt19937_64& random, int levels) {
  RunList runs = {{random() % 50, 1 + random() % 5}};
  for (int level = 0; level < levels; ++level) {
    const auto span = runs.back().end() - runs.front().offset;
    const auto stride = span + random() % 7;
    const auto count = 2 + random() % 5;
    const auto group = runs;
    for (std::uint64_t i = 1; i < count; ++i) {
      for (const auto& run : group) runs.push_back({run.offset + i * stride, run.length});
    }
  }
  return runs;
}

TEST(PendingRuns, StridedRunsAreThoseThatTheyWereMadeOf) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    const auto runs = random_strides(random, 1 + i % 4);
    const auto strided = StridedRuns::of(runs);
    ASSERT_TRUE(strided);
    ASSERT_EQ(strided->runs(), runs.size());
    EXPECT_EQ(strided->end(), runs.back().end());
    for (std::uint64_t n = 0; n < runs.size(); ++n) ASSERT_EQ(strided->offset(n), runs[n].offset);
    for (std::uint64_t element = 0; element <= runs.back().end(); ++element) {
      const auto first = std::find_if(
          runs.begin(), runs.end(), [&](const slabmark::Run& run) { return run.end() > element; });
      ASSERT_EQ(strided->first_that_ends_after(element),
                static_cast<std::uint64_t>(first - runs.begin()));
    }
  }
}

TEST(PendingRuns, RunsThatAreNotStridedAreNoStridedRuns) {
  for (const RunList& runs : {RunList{{3, 1}},
                              {{3, 1}, {5, 2}},
                              {{3, 1}, {5, 1}, {8, 1}},
                              {{5, 1}, {3, 1}},
                              {{3, 2}, {4, 2}},
                              {{3, 1}, {3, 1}},
                              {{0, 1}, {2, 1}, {9, 1}, {11, 1}, {12, 1}, {14, 1}},
                              {{0, 1}, {4, 1}, {2, 1}, {6, 1}}}) {
    EXPECT_FALSE(StridedRuns::of(runs)) << runs.size();
  }
}

TEST(PendingRuns, WhatWasWrittenLastHoldsInEachPartAsInAllOfIt) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 100; ++i) {
    Pending pending(4);
    std::vector<std::uint64_t> place_of(3000, 0);  // of each element
    for (int write = 1; write < 9; ++write) {
      const auto runs = random_strides(random, 2);
      LogRun place{0, 0, 1'000'000 * static_cast<std::uint64_t>(write), in_memory};
      auto position = place.position;
      LogRuns list;
      for (const auto& run : runs) {
        list.push_back({run.offset, run.length, position, in_memory});
        for (auto element = run.offset; element < run.end(); ++element, position += 4) {
          if (element < place_of.size()) place_of[element] = position;
        }
      }
      if (random() % 2 == 0) {
        pending.add({*StridedRuns::of(runs), place});
      } else {
        pending.add(std::move(list));
      }
    }
    const auto check = [&](const LogRuns& found, slabmark::Run range) {
      std::vector<std::uint64_t> places(place_of.size(), 0);
      for (const auto& run : found) {
        for (auto element = run.offset; element < run.end(); ++element) {
          if (element < places.size()) places[element] = run.position + 4 * (element - run.offset);
        }
      }
      for (auto at = range.offset; at < range.end(); ++at) ASSERT_EQ(places[at], place_of[at]);
    };
    for (std::uint64_t at = 0; at < 500; at += 50) check(pending.within({at, 50}), {at, 50});
    const auto first = std::find_if(place_of.begin(), place_of.end(),
                                    [](std::uint64_t place) { return place > 0; });
    EXPECT_EQ(pending.next(0), static_cast<std::uint64_t>(first - place_of.begin()));
    check(pending.merged(), {0, 1000});
  }
}

TEST(PendingRuns, ColumnsTakeTheirElementsAndLittleMore) {
  constexpr std::uint64_t rows = 500;
  constexpr std::uint64_t columns = 300;
  LogDataset dataset(0, hdf5::Handle(H5Tcopy(H5T_NATIVE_INT), H5Tclose), {rows, columns},
                     std::vector<std::byte>(4));
  for (std::uint64_t column = 0; column < columns; ++column) {
    RunList runs;
    for (std::uint64_t row = 0; row < rows; ++row) runs.push_back({row * columns + column, 1});
    auto* data = dataset.buffer(rows);
    std::fill_n(data, 4 * rows, std::byte(column % 251));
    dataset.add_pending(std::make_shared<const RunList>(std::move(runs)), data, 0);
  }
  EXPECT_LT(dataset.held_bytes(), rows * columns * 4 * 5 / 4);
  // As one list would be too long, it comes in parts.
  std::uint64_t end = 0;
  int parts = 0;
  dataset.for_each_pending(columns, [&](const LogRuns& pending) {
    ++parts;
    for (const auto& run : pending) {
      ASSERT_EQ(run.offset, end);
      end = run.end();
      ASSERT_EQ(*reinterpret_cast<const std::byte*>(run.position),
                std::byte(run.offset % columns % 251));
    }
    EXPECT_EQ(end % columns, 0);
  });
  EXPECT_GT(parts, 1);
  EXPECT_EQ(end, rows * columns);
  EXPECT_LT(dataset.held_bytes(), rows * columns * 4 * 5 / 4);
}

class WrittenByColumns : public LogFileTest,
                         public testing::WithParamInterface<std::tuple<const char*, bool>> {};

TEST_P(WrittenByColumns, AnArrayHoldsWhatWasWrittenLast) {
  const auto [options, in_chunks] = GetParam();
  constexpr hsize_t rows = 300;
  constexpr hsize_t columns = 256;
  for (const bool alone : {false, true}) {
    if (alone && rank() > 0) break;
    const auto name = std::string(alone ? "alone.h5" : "a.h5");
    const auto stride = alone ? 1 : static_cast<hsize_t>(ranks());
    const auto first = alone ? 0 : mine();
    const auto value = [&](hsize_t row, hsize_t column, int time) {
      return static_cast<int>((row * columns + column) * 3) + time;
    };
    {
      const auto list = access(options, !alone);
      const auto file =
          handle(H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), H5Fclose);
      const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      const Dims chunk = {64, 100};
      if (in_chunks) H5Pset_chunk(creation.get(), 2, chunk.data());
      const auto d = dataset(file, "d", {rows, columns}, H5T_NATIVE_INT, creation.get());
      for (int time = 0; time < 2; ++time) {
        for (auto column = first; column < columns; column += stride) {
          std::vector<int> values;
          for (hsize_t row = 0; row < rows; ++row) values.push_back(value(row, column, time));
          ASSERT_GE(write_n(d, {{0, column}}, {{rows, 1}}, values), 0);
          if (column % 16 == first && time == 0) {  // a run over it, by whose column it is
            ASSERT_GE(write_n(d, {{7, column}}, {{1, 1}}, {-1}), 0);
          }
          if (column == first && time == 1) {
            EXPECT_EQ(read_n(d, {{7, column}}, {{1, 1}}, 1).front(), value(7, column, 1));
          }
        }
        for (auto row = first; row < 20; row += stride) {  // and rows over columns
          if (time == 0 || stride > 1) continue;
          std::vector<int> values(columns, -static_cast<int>(row) - 1);
          ASSERT_GE(write_n(d, {{row, 0}}, {{1, columns}}, values), 0);
        }
      }
    }
    if (!alone) world_.barrier();
    if (rank() > 0) continue;
    const auto found = all_plainly(name, "d");
    for (hsize_t row = 0; row < rows; ++row) {
      for (hsize_t column = 0; column < columns; ++column) {
        const bool by_row = stride == 1 && row < 20;
        ASSERT_EQ(found[row * columns + column],
                  by_row ? -static_cast<int>(row) - 1 : value(row, column, 1))
            << row << ' ' << column << ' ' << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, WrittenByColumns,
                         testing::Values(std::tuple("layout=log", false),
                                         std::tuple("layout=log;buffer=100K", false),
                                         std::tuple("layout=canonical", false),
                                         std::tuple("layout=canonical", true),
                                         std::tuple("layout=canonical;buffer=100K", false),
                                         std::tuple("layout=canonical;buffer=100K", true)));

}  // namespace
}  // namespace slabmark::slablog
