#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convert/contents.hpp"
#include "core/geometry/run.hpp"

namespace slabmark::convert {

/// A box of a variable that is moved at once. It begins and ends at chunks of the target, or at the
/// end of the variable.
struct VariableBox {
  std::size_t variable = 0;
  Extent start, size;
};

/// Boxes that are in memory together.
using Batch = std::vector<VariableBox>;

/// All elements of the variables in the order of the file, as batches of at most `most_bytes` where
/// a chunk is no larger. `chunks`: of the target, by variable; empty: any cut will do.
std::vector<Batch> batches_of(const FileContents& contents, const std::vector<Extent>& chunks,
                              std::uint64_t most_bytes);

/// For each box of a batch, the elements of it (counted row by row) that a rank reads. All ranks
/// have about equally many bytes. No chunk of the source is cut where it need not be, since whoever
/// reads an element of a chunk decompresses all of it.
std::vector<Run> shares_of(const FileContents& contents, const Batch& batch, std::uint64_t rank,
                           std::uint64_t ranks);

}  // namespace slabmark::convert
