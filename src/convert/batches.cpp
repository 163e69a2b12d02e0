#include "convert/batches.hpp"

#include <algorithm>

namespace slabmark::convert {

namespace {

/// How much of a variable is moved at once. Grows from the fastest dimension on, since files hold
/// rows.
Extent box_size(const Extent& extent, const Extent& chunk, std::uint64_t most_elements) {
  Extent size(extent.size(), 1);
  for (std::size_t d = 0; d < chunk.size(); ++d) size[d] = std::min(chunk[d], extent[d]);
  for (std::size_t d = extent.size(); d-- > 0;) {
    const std::uint64_t step = size[d];
    const std::uint64_t others = element_count(size) / step;
    const std::uint64_t steps = std::max<std::uint64_t>(1, most_elements / (others * step));
    size[d] = std::min(extent[d], steps * step);
    if (size[d] < extent[d]) break;
  }
  return size;
}

/// The rows of a box along the first dimension that has several: where it can be cut.
struct Rows {
  std::uint64_t count = 1, elements = 1;
  std::uint64_t first = 0, chunk = 1;  ///< in the source
};

Rows rows_of(const VariableBox& box, const Extent& chunk) {
  Rows rows{1, element_count(box.size)};
  for (std::size_t d = 0; d < box.size.size(); ++d) {
    if (box.size[d] == 1) continue;
    return {box.size[d], rows.elements / box.size[d], box.start[d], chunk[d]};
  }
  return rows;
}

/// The element of a box next to `wanted` at which a share may begin.
std::uint64_t cut_near(const FileVariable& variable, const VariableBox& box, std::uint64_t wanted) {
  const std::uint64_t all = element_count(box.size);
  if (variable.stored_chunk.empty() || wanted >= all) return std::min(wanted, all);
  const Rows rows = rows_of(box, variable.stored_chunk);
  const std::uint64_t row = rows.first + (wanted + rows.elements - 1) / rows.elements;
  const std::uint64_t cut = (row + rows.chunk - 1) / rows.chunk * rows.chunk;
  const std::uint64_t at_begin = wanted == 0 ? 0 : cut - rows.first;
  return std::min(at_begin, rows.count) * rows.elements;
}

}  // namespace

std::vector<Batch> batches_of(const FileContents& contents, const std::vector<Extent>& chunks,
                              std::uint64_t most_bytes) {
  std::vector<Batch> batches;
  std::uint64_t bytes = 0;
  for (std::size_t v = 0; v < contents.variables.size(); ++v) {
    const Extent extent = contents.extent_of(v);
    const std::uint64_t element = size_of(contents.variables[v].type);
    if (element_count(extent) == 0) continue;
    const Extent size =
        box_size(extent, chunks[v], std::max<std::uint64_t>(1, most_bytes / element));
    Extent counts;
    for (std::size_t d = 0; d < size.size(); ++d) {
      counts.push_back((extent[d] + size[d] - 1) / size[d]);
    }
    for (std::uint64_t number = 0; number < element_count(counts); ++number) {
      VariableBox box{v, indices_of(number, counts), size};
      for (std::size_t d = 0; d < size.size(); ++d) {
        box.start[d] *= size[d];
        box.size[d] = std::min(size[d], extent[d] - box.start[d]);
      }
      const std::uint64_t more = element_count(box.size) * element;
      if (batches.empty() || bytes + more > most_bytes) {
        batches.emplace_back();
        bytes = 0;
      }
      batches.back().push_back(std::move(box));
      bytes += more;
    }
  }
  return batches;
}

std::vector<Run> shares_of(const FileContents& contents, const Batch& batch, std::uint64_t rank,
                           std::uint64_t ranks) {
  std::uint64_t total = 0;
  for (const VariableBox& box : batch) {
    total += element_count(box.size) * size_of(contents.variables[box.variable].type);
  }
  const Run mine = equal_range(total, rank, ranks);
  std::vector<Run> shares;
  std::uint64_t before = 0;
  for (const VariableBox& box : batch) {
    const FileVariable& variable = contents.variables[box.variable];
    const std::uint64_t bytes = size_of(variable.type);
    const auto cut = [&](std::uint64_t position) {
      return cut_near(variable, box, position <= before ? 0 : (position - before) / bytes);
    };
    const std::uint64_t begin = cut(mine.offset);
    shares.push_back({begin, cut(mine.end()) - begin});
    before += element_count(box.size) * bytes;
  }
  return shares;
}

}  // namespace slabmark::convert
