#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include "bench/method/raw/file_order.hpp"
#include "storage/mpiio/datatype.hpp"

namespace slabmark {

// A FileOrder in the types of MPI. `element` is the type of all its transfers, or MPI_BYTE.

/// The blocks of one of several calls: in the file, ascending, and in memory, in the same order.
struct CallPart {
  mpiio::BlockList file;    ///< offsets as the FileOrder's
  mpiio::BlockList memory;  ///< offsets from `base`
  std::byte* base;
};

/// Cuts a round into calls of `most_elements` (> 0), the last one shorter.
std::vector<CallPart> cut_in_calls(const FileOrder& order, std::span<std::byte* const> buffers,
                                   MPI_Datatype element, std::uint64_t most_elements);

/// The memory of the whole round, whose offsets count from the first transfer's buffer. Buffers
/// that follow one another become one block, which libraries need no copy of.
mpiio::BlockList memory_blocks(const FileOrder& order, std::span<std::byte* const> buffers,
                               MPI_Datatype element);

/// File types, made once for each selection and put where the datasets are.
class FileTypes {
 public:
  const mpiio::Datatype& of(const Transfer& transfer, const PlacedTransfer& placed,
                            MPI_Datatype element);
  /// Of all transfers of an order that is not interleaved.
  mpiio::Datatype of_all(std::span<const Transfer> transfers, const FileOrder& order,
                         MPI_Datatype element);
  /// Makes those of the transfers beforehand.
  void prepare(std::span<const Transfer> transfers, const FileOrder& order, MPI_Datatype element) {
    for (const auto& placed : order.transfers()) of(transfers[placed.index], placed, element);
  }
  void next_round() { types_.next_round(); }

 private:
  SelectionCache<mpiio::Datatype> types_;
};

}  // namespace slabmark
