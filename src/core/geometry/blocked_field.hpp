#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slabmark {

/// Axes of a field, and of all arrays below, in this order. x is the fastest in memory and in
/// files.
inline constexpr std::string_view axis_names = "xyz";

/// A 3-D field that is cut into equal blocks, one a rank, each surrounded by `halo` points that the
/// application keeps for its neighbours. Ranks are numbered with x fastest.
struct BlockedField {
  std::array<std::uint64_t, 3> points = {1, 1, 1};
  std::array<std::uint64_t, 3> processes = {1, 1, 1};
  std::uint64_t halo = 0;  ///< points on each side of a block, in each direction
};

/// As equal factors as there are, the greatest for the axis with the most points, and none larger
/// than the points of its axis. Where there are none of these, all ranks are along x.
std::array<std::uint64_t, 3> balanced_processes(std::uint64_t ranks,
                                                const std::array<std::uint64_t, 3>& points);

/// Every `stride`-th point of [begin, end). Where the stride does not divide the length, the last
/// point is kept: ceil((end - begin) / stride) points in all.
struct PointRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t stride = 1;

  std::uint64_t count() const { return (end - begin + stride - 1) / stride; }
};

/// What one output holds of a field: a range of each axis. On the axis `normal` it is one point,
/// and the file has no dimension for it.
struct Slice {
  std::string name;  ///< of the datasets, after the field's: "" or "_z75"
  std::array<PointRange, 3> ranges;
  std::optional<std::size_t> normal;
  /// The halos at the field's outer faces belong to it; ranges count from their first point then.
  /// (Halos between blocks are copies of the neighbour's points, and belong to nothing.)
  bool with_halos = false;
};

/// The slice that is all of the field's points, without its halos.
Slice whole_field(const BlockedField& field);

/// The same with the halos at its outer faces.
Slice whole_field_with_halos(const BlockedField& field);

/// The plane of `slice` at `position` of the axis `normal`, named "_z75"; what `slice` keeps along
/// the other axes stays.
Slice plane_of(Slice slice, std::size_t normal, std::uint64_t position);

/// Throws InputError where the field has no points or more than 2^60, the processes are not as many
/// as the ranks, or an axis has more processes than points.
void check_field(const BlockedField& field, std::uint64_t ranks);

/// Throws InputError where a range is empty or leaves the field, or a stride is 0 or beyond its
/// range.
void check_slice(const BlockedField& field, const Slice& slice);

/// What one block holds of a slice along an axis: `count` points, the first as a position in the
/// block's memory and as one in the file.
struct SlicePart {
  std::uint64_t memory = 0;
  std::uint64_t file = 0;
  std::uint64_t count = 0;
};

/// What the block of `rank` holds of `slice` along each axis; nothing where a count is 0.
std::array<SlicePart, 3> parts_of(const BlockedField& field, const Slice& slice,
                                  std::uint64_t rank);

/// Points of the block of `rank` along each axis, halos included.
std::array<std::uint64_t, 3> block_with_halo(const BlockedField& field, std::uint64_t rank);

}  // namespace slabmark
