#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/map/decomposition.hpp"
#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"
#include "scratch.hpp"

namespace slabmark {

/// The folder of real decompositions, empty if there is none.
inline std::string real_data() {
  const char* folder = std::getenv("SLABMARK_TEST_DATA");
  return folder == nullptr ? "" : folder;
}

#define SKIP_WITHOUT_REAL_DATA() \
  if (real_data().empty())       \
  GTEST_SKIP() << "SLABMARK_TEST_DATA names no folder with real decomposition files"

/// One map of a hand-made file of the many-map layout: 3 ranks, 4 x 10 elements.
struct HandMadeMap {
  std::vector<long long> dims = {4, 10};
  std::vector<long long> nreqs = {2, 0, 3};
  std::optional<std::vector<long long>> fill_starts;
  std::vector<long long> offsets = {8, 0, 20, 30, 11};
  std::vector<long long> lengths = {3, 2, 1, 10, 1};
};

inline const std::vector<RunList> rows_of_hand_made_map = {
    {{0, 2}, {8, 2}, {10, 1}}, {}, {{11, 1}, {20, 1}, {30, 10}}};

/// The same rows, with requests between them that only fill.
inline HandMadeMap map_with_requests_that_only_fill() {
  HandMadeMap map;
  map.nreqs = {3, 1, 3};
  map.fill_starts = {2, 0, 3};
  map.offsets = {8, 0, 14, 16, 20, 30, 11};
  map.lengths = {3, 2, 1, 2, 1, 10, 1};
  return map;
}

/// Rank 0 makes the file, the others wait for it.
inline void make_file(const Comm& comm, const std::string& path, const std::string& content) {
  if (comm.is_root()) std::ofstream(path, std::ios::binary) << content;
  comm.barrier();
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Expects that `work` throws an Error for bad input whose sentence has all of `parts`.
inline void expect_bad_input(const std::function<void()>& work,
                             const std::vector<std::string>& parts) {
  try {
    work();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.status(), ExitStatus::bad_input) << message;
    EXPECT_TRUE(message.ends_with('.')) << message;
    for (const std::string& part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
    }
  }
}

/// What each recorded rank owns of map `k`.
inline std::vector<RunList> rows_of(MapFile& file, std::size_t k) {
  std::vector<RunList> rows;
  const int ranks = static_cast<int>(file.maps().at(k).recorded_ranks);
  for (int rank = 0; rank < ranks; ++rank) rows.push_back(file.read(k, rank, ranks).runs);
  return rows;
}

}  // namespace slabmark
