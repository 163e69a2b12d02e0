#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "capture/read/pattern_file.hpp"

namespace slabmark {

/// Returns the highest of the libraries through which a program opened files. The program may have
/// inspected the same files through lower libraries. Empty if no program made the calls.
std::string highest_level(const PatternFile& file);

/// The files of a header by path and level: a file that is opened again is the same, but not
/// through another library.
class Paths {
 public:
  struct Path {
    std::string name;
    std::string level;
    bool is_unasked = true;         ///< all its openings are
    std::set<std::uint64_t> ranks;  ///< that opened it together
  };

  explicit Paths(const PatternFile& file);
  std::uint64_t number(std::uint32_t file) const { return numbers_[file]; }
  const std::vector<Path>& all() const { return all_; }
  /// True if no rank opened it together with others, where there are others.
  bool is_private(std::uint64_t path) const {
    return recorded_ranks_ > 1 && all_[path].ranks == std::set<std::uint64_t>{1};
  }
  /// True if one rank alone opened a file that ranks also open together. Closing such a file is not
  /// a step of all ranks.
  bool is_aside(std::uint64_t path, const Json& file) const {
    return recorded_ranks_ > 1 && file.value("ranks", std::uint64_t{1}) == 1 && !is_private(path);
  }
  /// True if what is moved to or from it is left out, in the directions of `flags`: nobody asked
  /// for it, and other calls say more.
  bool is_left_out(std::uint64_t path, std::uint32_t flags) const {
    return all_[path].is_unasked && (flags & say_more_);
  }
  /// Directions in which others moved anything. Until that is known, both.
  void set_others(std::uint32_t directions) { say_more_ = directions; }

 private:
  std::uint64_t recorded_ranks_;
  std::uint32_t say_more_ = ~std::uint32_t{0};
  std::vector<std::uint64_t> numbers_;
  std::vector<Path> all_;
};

/// The definitions of a header by what they define: a dataset that is opened again may be described
/// in other words, with more attributes or a larger extent.
class DatasetNumbers {
 public:
  explicit DatasetNumbers(const PatternFile& file);
  /// The first definition of the same dataset.
  std::uint64_t operator[](std::uint64_t definition) const { return first_[definition]; }

 private:
  std::vector<std::uint64_t> first_;
};

}  // namespace slabmark
