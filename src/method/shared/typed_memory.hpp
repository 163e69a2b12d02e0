#pragma once

#include <cstddef>
#include <cstdint>

#include <mpi.h>

#include "geometry/run.hpp"
#include "pattern/pattern.hpp"
#include "storage/mpiio/datatype.hpp"

namespace slabmark {

/// Memory of some elements as the libraries above MPI-IO take it: contiguous elements where it is,
/// else one derived datatype, which lives as long as this object.
struct TypedMemory {
  void* address = nullptr;
  MPI_Offset count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  mpiio::Datatype owned;
};

/// The memory of `blocks`, whose offsets count from `base`. Not MPI_BOTTOM and absolute addresses:
/// PnetCDF takes a null address for "no data".
TypedMemory memory_of(const mpiio::BlockList& blocks, std::byte* base, MPI_Datatype element);

/// Runs of the selection of a memory buffer, neighbours merged.
RunList buffer_runs(const Selection& buffer);

/// Hands out the memory of a transfer in the order of its elements.
class MemoryCursor {
 public:
  /// `runs`: buffer_runs() of the transfer's buffer selection, null if it has none (dense).
  MemoryCursor(std::byte* buffer, const RunList* runs, MPI_Datatype element);

  TypedMemory take(std::uint64_t elements);

 private:
  std::byte* buffer_;
  const RunList* runs_;
  MPI_Datatype element_;
  std::uint64_t element_bytes_;
  std::size_t run_ = 0;
  std::uint64_t taken_ = 0;  ///< of the current run, or of the dense buffer
};

}  // namespace slabmark
