#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/geometry/hyperslab.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::hdf5 {

/// Hyperslabs that H5Sselect_hyperslab(H5S_SELECT_OR) collects before unions are merged. With HDF5
/// 2.2.0 a union of 10^5 1-D hyperslabs took 0.23, 0.17, 0.17 to 0.22, 0.20, 0.40 and 1.7 s with
/// leaves of 1, 4, 16, 64, 256 and 1024 on a busy machine (studies/hdf5_union): flat up to 64, then
/// the quadratic cost shows that the leaves are there to avoid.
constexpr std::size_t union_leaf = 16;

/// Builds the union of many hyperslabs of one array, by divide and conquer.
///
/// H5S_SELECT_OR, hyperslab after hyperslab, walks the whole selection each time: 10^4 of them in
/// 1-D take seconds, 10^5 minutes. Here small unions are merged with others of their own size, so
/// that each hyperslab is walked only logarithmically often.
class UnionBuilder {
 public:
  /// With `leading_time` the array has a time dimension in front, of which the union takes position
  /// 0; see Space::move_to().
  explicit UnionBuilder(Extent extent, bool leading_time = false, std::size_t leaf = union_leaf);

  /// Adds a hyperslab (without time); one without elements changes nothing. The order does not
  /// matter, but ascending hyperslabs are merged faster.
  void add(const Hyperslab& slab);

  /// Adds the elements of `run`, which may cross rows: as n-D hyperslabs, at most 2 * rank - 1.
  void add(Run run);

  /// The union. The builder is empty afterwards.
  Space finish();

  std::uint64_t hyperslabs() const { return hyperslabs_; }  ///< added and not empty

 private:
  struct Part {
    Space space;
    std::uint64_t leaves;
  };

  void close_leaf();
  void merge_last_two();

  Extent extent_;
  bool leading_time_;
  std::size_t leaf_;
  Hyperslab slab_;  ///< of runs, its storage reused
  Space current_;
  std::size_t in_current_ = 0;
  std::vector<Part> parts_;  ///< like the digits of a binary number, the largest first
  std::uint64_t hyperslabs_ = 0;
};

}  // namespace slabmark::hdf5
