#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace slabmark::zarr {

/// Memory for a shard under way. The readers and writers of many arrays share one, since they work
/// one after another.
struct Buffers {
  std::vector<std::byte> line;     ///< chunks one after another
  std::vector<std::byte> encoded;  ///< what is to be written, or was read
  std::vector<std::byte> decoded;  ///< a chunk
  std::vector<std::byte> index;
};
using BuffersPtr = std::shared_ptr<Buffers>;

}  // namespace slabmark::zarr
