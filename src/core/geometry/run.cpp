#include "core/geometry/run.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace slabmark {

std::uint64_t total_length(std::span<const Run> runs) {
  std::uint64_t total = 0;
  for (const Run& run : runs) total += run.length;
  return total;
}

Run equal_range(std::uint64_t total, std::uint64_t part, std::uint64_t parts) {
  const std::uint64_t length = total / parts;
  const std::uint64_t longer = total % parts;
  return {part * length + std::min(part, longer), length + (part < longer ? 1 : 0)};
}

std::uint64_t equal_range_of(std::uint64_t element, std::uint64_t total, std::uint64_t parts) {
  const std::uint64_t length = total / parts;
  const std::uint64_t longer = total % parts;
  const std::uint64_t in_longer = longer * (length + 1);
  if (element < in_longer) return element / (length + 1);
  return longer + (element - in_longer) / length;
}

void coalesce(RunList& runs) {
  std::size_t kept = 0;
  for (const Run& run : runs) {
    if (run.length == 0) continue;
    if (kept > 0 && runs[kept - 1].end() == run.offset) {
      runs[kept - 1].length += run.length;
    } else {
      runs[kept++] = run;
    }
  }
  runs.resize(kept);
}

RunList split_at_rows(std::span<const Run> runs, std::uint64_t row_length) {
  if (row_length == 0) throw InputError("Runs cannot be cut at rows of length 0.");
  RunList pieces;
  pieces.reserve(runs.size());
  std::uint64_t row_begin = 0;
  for (Run rest : runs) {
    while (rest.length > 0) {
      // A division a run would cost more than all the rest; most runs follow in the same row.
      const bool same_row = rest.offset >= row_begin && rest.offset - row_begin < row_length;
      if (!same_row) row_begin = rest.offset - rest.offset % row_length;
      const std::uint64_t length = std::min(rest.length, row_length - (rest.offset - row_begin));
      pieces.push_back({rest.offset, length});
      rest = {rest.offset + length, rest.length - length};
    }
  }
  return pieces;
}

std::optional<std::uint64_t> find_overlap(std::span<const Run> sorted) {
  std::uint64_t covered_end = 0;
  for (const Run& run : sorted) {
    if (run.length == 0) continue;
    // Runs below covered_end began at or before run.offset, hence run.offset itself is shared.
    if (run.offset < covered_end) return run.offset;
    covered_end = run.end();
  }
  return std::nullopt;
}

RunList complement(std::span<const Run> sorted, std::uint64_t total) {
  RunList gaps;
  std::uint64_t covered_end = 0;
  for (const Run& run : sorted) {
    if (run.length == 0) continue;
    const std::uint64_t begin = std::min(run.offset, total);
    if (begin > covered_end) gaps.push_back({covered_end, begin - covered_end});
    covered_end = std::max(covered_end, std::min(run.end(), total));
  }
  if (covered_end < total) gaps.push_back({covered_end, total - covered_end});
  return gaps;
}

}  // namespace slabmark
