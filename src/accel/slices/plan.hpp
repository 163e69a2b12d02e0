#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "accel/slices/gather.hpp"
#include "collective/exchange/row_exchange.hpp"
#include "core/geometry/blocked_field.hpp"

namespace slabmark::slice {

/// A stretch of points that one call of gather() moves.
struct Gathering {
  std::size_t field = 0;  ///< in the order of the file
  Points points;
  bool to_own_part = false;  ///< into what this rank writes, else into what it sends
  std::uint64_t offset = 0;  ///< bytes, of the first row there
  std::uint64_t pitch = 0;   ///< bytes between rows there
};

/// The part of a field that this rank writes in one output, contiguous in its buffer and in the
/// field's plane in the file.
struct Stretch {
  std::size_t field = 0;
  std::uint64_t offset = 0;    ///< bytes, in the buffer
  std::uint64_t in_field = 0;  ///< bytes from the beginning of the field's data in the file
  std::uint64_t bytes = 0;
};

/// How the points of one slice of several fields go from the ranks that own them to those that
/// write, always the same in each output. The fields' rows lie one after another in the file (rows
/// of the fastest axis that has more than one point), and each writer has an equal range of them,
/// so that it issues one request.
struct Plan {
  std::array<std::uint64_t, 3> shape = {1, 1, 1};  ///< points in the file along x, y, z
  std::vector<Gathering> gatherings;
  std::vector<SentRows> sent;          ///< to writers
  std::vector<ReceivedRows> received;  ///< at places of what this rank writes
  std::vector<Stretch> stretches;      ///< empty: this rank does not write
  std::uint64_t send_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::vector<int> writers;  ///< ranks, in the order of the file; the first keeps the file
};

/// Ranks that write, all different, in the order of the file: each one that owns points of its own
/// range, so that a plane that one rank owns moves nowhere. Where several do, they are taken in
/// turns: another `first` begins with another rank.
std::vector<int> choose_writers(const BlockedField& field, const Slice& slice, std::uint64_t fields,
                                std::uint64_t writers, std::uint64_t first);

/// Plan of `rank` for `slice` of fields with these element types in memory, written as `type`.
Plan make_plan(const BlockedField& field, const Slice& slice, std::uint64_t fields,
               ElementType type, std::vector<int> writers, std::uint64_t rank);

}  // namespace slabmark::slice
