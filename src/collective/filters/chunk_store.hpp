#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"

namespace slabmark {

/// A chunk as the file of a flush holds it.
struct FilteredChunk {
  std::uint64_t place = 0;    ///< offset of its array's ArrayPlace, and the bytes before it there
  std::uint64_t address = 0;  ///< byte of the file
  std::uint64_t bytes = 0;    ///< after filters; 0: it has no space
  std::uint64_t mask = 0;     ///< bit i: filter i was left out
};

/// Where the chunks of a file lie.
class ChunkStore {
 public:
  virtual ~ChunkStore() = default;

  // Collective: every rank brings chunks of its own, ascending, of which `place` is set. Failures
  // are agreed.
  /// Sets the rest of them; `bytes` is 0 of one that the file does not hold.
  virtual void look_up(std::vector<FilteredChunk>& chunks) = 0;
  /// Gives them space for their `bytes`, enters them into the index and sets `address`.
  virtual void allocate(std::vector<FilteredChunk>& chunks) = 0;

  // Each rank for itself:
  virtual void read(std::uint64_t address, std::byte* memory, std::uint64_t bytes) = 0;
  virtual void write(std::uint64_t address, std::byte* memory, std::uint64_t bytes) = 0;
};

/// Work on the chunks of all ranks, in the order of the ranks.
using ChunkWork = std::function<void(std::span<FilteredChunk> of_all)>;

/// Collective: the root does `work`, since it alone has the file open in HDF5, and every rank gets
/// its chunks back. A failure is agreed.
void by_root(const Comm& comm, std::vector<FilteredChunk>& mine, const ChunkWork& work);

/// Collective: all ranks do `work`, the same on each, since all have the file open in HDF5. A
/// failure is agreed.
void by_all(const Comm& comm, std::vector<FilteredChunk>& mine, const ChunkWork& work);

}  // namespace slabmark
