#include "slablog/write_alone.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace slabmark::slablog {

namespace {

// A call takes as long as copying some 16 KB.
constexpr std::uint64_t bridged_bytes = 16 << 10;
constexpr std::uint64_t window_bytes = 4 << 20;

/// What lies beyond the end is zero.
void read_before_end(posix::File& file, std::uint64_t offset, std::vector<std::byte>& bytes) {
  const auto end = std::max(offset, std::min(file.size(), offset + bytes.size()));
  file.read_at(offset, bytes.data(), end - offset);
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(end - offset), bytes.end(), std::byte{0});
}

/// Runs that are no longer than a window, unless they are in memory.
LogRuns cut(const LogRuns& pending, std::uint64_t most, std::size_t element_bytes) {
  LogRuns runs;
  runs.reserve(pending.size());
  for (const auto& run : pending) {
    if (run.source == in_memory) {
      runs.push_back(run);
      continue;
    }
    for (auto at = run.offset; at < run.end(); at += most) {
      runs.push_back(part_of(run, at, std::min(run.end(), at + most), element_bytes));
    }
  }
  return runs;
}

}  // namespace

void write_alone(ElementFiles& files, LogDataset& dataset, std::uint64_t address) {
  const auto size = dataset.element_bytes();
  const auto most = std::max<std::uint64_t>(1, window_bytes / size);
  const auto runs = cut(dataset.pending(), most, size);
  std::vector<std::byte> window;
  for (std::size_t first = 0; first < runs.size();) {
    const auto begin = runs[first].offset;
    auto end = runs[first].end();
    bool has_holes = false;
    auto last = first + 1;
    for (; last < runs.size() && (runs[last].offset - end) * size <= bridged_bytes &&
           runs[last].end() - begin <= most;
         ++last) {
      has_holes = has_holes || runs[last].offset > end;
      end = runs[last].end();
    }
    const auto at = address + begin * size;
    if (last == first + 1 && runs[first].source == in_memory) {
      files.hdf5.write_at(at, reinterpret_cast<const std::byte*>(runs[first].position),
                          (end - begin) * size);
    } else {
      window.resize((end - begin) * size);
      if (has_holes) read_before_end(files.hdf5, at, window);
      Gathering gathering(files, dataset, std::numeric_limits<std::size_t>::max());
      for (auto i = first; i < last; ++i) {
        gathering.add(runs[i], window.data() + (runs[i].offset - begin) * size);
      }
      gathering.finish();
      files.hdf5.write_at(at, window.data(), window.size());
    }
    first = last;
  }
}

}  // namespace slabmark::slablog
