#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <mpi.h>

#include "bench/method/shared/selection_cache.hpp"
#include "bench/pattern/pattern.hpp"
#include "core/geometry/run.hpp"
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

/// Walks the runs of a buffer, or all of a dense one, a number of elements at a time.
class RunCursor {
 public:
  explicit RunCursor(const RunList* runs) : runs_(runs) {}  ///< null: dense

  /// Visits the parts of runs that the next `elements` lie in.
  template <class Visit>
  void take(std::uint64_t elements, const Visit& visit) {
    while (elements > 0) {
      const Run part = runs_ == nullptr ? Run{taken_, elements} : rest_of((*runs_)[run_], elements);
      visit(part);
      elements -= part.length;
      taken_ += part.length;
      if (runs_ == nullptr || taken_ < (*runs_)[run_].length) continue;
      ++run_;
      taken_ = 0;
    }
  }

 private:
  Run rest_of(Run run, std::uint64_t most) const {
    return {run.offset + taken_, std::min(most, run.length - taken_)};
  }

  const RunList* runs_;
  std::size_t run_ = 0;
  std::uint64_t taken_ = 0;  ///< of the current run, or of the dense buffer
};

/// Hands out the memory of a transfer in the order of its elements.
class MemoryCursor {
 public:
  /// `runs`: BufferRuns::of() the transfer.
  MemoryCursor(std::byte* buffer, const RunList* runs, MPI_Datatype element)
      : buffer_(buffer), cursor_(runs), element_(element) {}

  TypedMemory take(std::uint64_t elements);

 private:
  std::byte* buffer_;
  RunCursor cursor_;
  MPI_Datatype element_;
};

/// Copies elements between a buffer with gaps and dense memory, in their order.
class Bounce {
 public:
  Bounce(const RunList& runs, std::byte* buffer, std::size_t element_bytes)
      : next_(&runs), last_(&runs), buffer_(buffer), element_bytes_(element_bytes) {}

  /// The next `elements`: gathered when writing, room for them when reading.
  std::byte* take(std::uint64_t elements, bool gather);
  /// Puts what was read there where it belongs.
  void scatter(std::uint64_t elements);

 private:
  RunCursor next_;
  RunCursor last_;  ///< before the elements taken last
  std::byte* buffer_;
  std::size_t element_bytes_;
  std::vector<std::byte> dense_;
};

/// Runs of the selections of buffers, neighbours merged.
class BufferRuns {
 public:
  const RunList* of(const Transfer& transfer);  ///< null: its buffer is dense
  std::optional<Bounce> bounce(const Transfer& transfer, std::byte* buffer,
                               std::size_t element_bytes);  ///< nothing if it is dense
  void next_round() { runs_.next_round(); }

 private:
  SelectionCache<RunList> runs_;
};

}  // namespace slabmark
