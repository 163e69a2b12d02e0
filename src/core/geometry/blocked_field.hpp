/// @file
/// Fields that are cut into blocks, and the slices of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slabmark {

/// The axes of a field, and of all arrays below, in this order. x varies fastest in memory and in
/// files.
inline constexpr std::string_view axis_names = "xyz";

/// A 3-D field that is cut into equal blocks, one per rank. `halo` points around each block hold
/// copies of the neighbors' points. Ranks are numbered with x fastest.
struct BlockedField {
  std::array<std::uint64_t, 3> points = {1, 1, 1};     ///< of the field along each axis
  std::array<std::uint64_t, 3> processes = {1, 1, 1};  ///< blocks along each axis
  std::uint64_t halo = 0;  ///< points on each side of a block, in each direction
};

/// Splits ranks into factors that are as equal as possible. The axis with the most points gets the
/// greatest, and no factor exceeds the points of its axis; if that cannot be, all ranks are along
/// x.
std::array<std::uint64_t, 3> balanced_processes(std::uint64_t ranks,
                                                const std::array<std::uint64_t, 3>& points);

/// Every `stride`-th point of [begin, end), which are ceil((end - begin) / stride) points.
struct PointRange {
  std::uint64_t begin = 0;   ///< the first point
  std::uint64_t end = 0;     ///< one after the last point
  std::uint64_t stride = 1;  ///< distance of the points that are kept

  /// Number of points that are kept.
  std::uint64_t count() const { return (end - begin + stride - 1) / stride; }
};

/// The part of a field that an output holds: a range of each axis. The axis `normal` has one point,
/// and the file has no dimension for it.
struct Slice {
  std::string name;                   ///< of the datasets, after the field's: "" or "_z75"
  std::array<PointRange, 3> ranges;   ///< along each axis
  std::optional<std::size_t> normal;  ///< the axis normal to a plane; none for a box
  /// The slice includes the halos at the field's outer faces, and ranges count from their first
  /// point. Halos between blocks, which copy points of the neighbor, never belong to a slice.
  bool with_halos = false;
};

/// The slice that is all of the field's points, without its halos.
Slice whole_field(const BlockedField& field);

/// The same with the halos at its outer faces.
Slice whole_field_with_halos(const BlockedField& field);

/// The plane of `slice` at `position` of the axis `normal`, with a name such as "_z75". The ranges
/// of the other axes stay.
Slice plane_of(Slice slice, std::size_t normal, std::uint64_t position);

/// Checks a field for this number of ranks. Throws InputError if it has no points or more than
/// 2^60, if processes and ranks differ in number, or if an axis has more processes than points.
void check_field(const BlockedField& field, std::uint64_t ranks);

/// Checks a slice of a field. Throws InputError if a range is empty or leaves the field, or if a
/// stride is 0 or exceeds its range.
void check_slice(const BlockedField& field, const Slice& slice);

/// The points of a slice along one axis that a block owns.
struct SlicePart {
  std::uint64_t memory = 0;  ///< position of the first point in the block's memory
  std::uint64_t file = 0;    ///< position of the first point in the file
  std::uint64_t count = 0;   ///< number of points
};

/// The part of `slice` that the block of `rank` owns, along each axis. A count of 0 means none.
std::array<SlicePart, 3> parts_of(const BlockedField& field, const Slice& slice,
                                  std::uint64_t rank);

/// The number of points of the block of `rank` along each axis, halos included.
std::array<std::uint64_t, 3> block_with_halo(const BlockedField& field, std::uint64_t rank);

}  // namespace slabmark
