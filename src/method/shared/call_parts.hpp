#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include "method/raw/file_order.hpp"
#include "storage/mpiio/datatype.hpp"

namespace slabmark {

/// What one of several calls moves: blocks of the file, ascending, and of memory, in the same
/// order.
struct CallPart {
  mpiio::BlockList file;    ///< offsets as the FileOrder's
  mpiio::BlockList memory;  ///< offsets from `base`
  std::byte* base;
};

/// Cuts a round into calls of `most_elements` (> 0), the last one shorter. `element` is the type of
/// all its transfers, or MPI_BYTE.
std::vector<CallPart> cut_in_calls(const FileOrder& order, std::span<std::byte* const> buffers,
                                   MPI_Datatype element, std::uint64_t most_elements);

}  // namespace slabmark
