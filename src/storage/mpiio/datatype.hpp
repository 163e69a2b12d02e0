#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include "core/parallel/datatype.hpp"

namespace slabmark::mpiio {

using slabmark::Datatype;

/// `length` elements at `offset` bytes.
struct Block {
  std::int64_t offset = 0;
  std::uint64_t length = 0;
};

/// Collects blocks for a datatype without holding them twice: 12 bytes a block, as MPI wants them.
/// A block that goes on where the last one ended is merged with it. MPI's lengths are int, so a
/// longer block is stored as several.
class BlockList {
 public:
  explicit BlockList(MPI_Datatype element);

  void add(Block block);
  bool empty() const { return lengths_.empty(); }
  std::size_t size() const { return lengths_.size(); }
  std::uint64_t elements() const { return elements_; }
  std::uint64_t element_bytes() const { return static_cast<std::uint64_t>(element_bytes_); }
  std::int64_t first_offset() const { return offsets_.front(); }

  /// The blocks as one datatype. Not for an empty list, which some implementations cannot handle.
  Datatype datatype() const;

 private:
  MPI_Datatype element_;
  std::int64_t element_bytes_ = 1;
  std::uint64_t elements_ = 0;
  std::vector<int> lengths_;
  std::vector<MPI_Aint> offsets_;
};

/// The given types at the given byte offsets, one of each.
Datatype make_struct(std::span<const MPI_Aint> offsets, std::span<const MPI_Datatype> types);

}  // namespace slabmark::mpiio
