#pragma once

#include <cstdint>
#include <vector>

#include <mpi.h>

namespace slabmark::capture {

/// Contiguous bytes; offsets count from a buffer's address, or from where a view begins.
struct ByteRun {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;

  bool operator==(const ByteRun&) const = default;
};

using ByteRuns = std::vector<ByteRun>;

/// Adds a run behind the others; to the last one where it adjoins it.
void append(ByteRuns& runs, ByteRun run);

/// The parts of a datatype of MPI.
struct TypeMap {
  ByteRuns runs = {{0, 1}};  ///< in the order of the type; neighbours are one
  std::int64_t extent = 1;   ///< from one of them to the next
  std::int64_t size = 1;     ///< bytes of all runs
};

/// Takes a datatype apart, whatever it was made by. False where MPI does not say how it was made,
/// and of none (MPI_DATATYPE_NULL).
/// Asks MPI by the names of its profiling interface.
bool take_apart(MPI_Datatype type, TypeMap& map);

/// The bytes of `count` of them, one after another.
ByteRuns repeated(const TypeMap& map, std::int64_t count);

}  // namespace slabmark::capture
