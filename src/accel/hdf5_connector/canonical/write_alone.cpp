#include "accel/hdf5_connector/canonical/write_alone.hpp"

#include <H5VLconnector_passthru.h>
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "core/geometry/chunk_grid.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

namespace {

// A call takes as long as copying some 16 KB.
constexpr std::uint64_t bridged_bytes = 16 << 10;
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

/// Elements of a run, and where they are on the line of the chunks.
struct InChunk {
  std::uint64_t place = 0;
  LogRun run;
};

std::vector<InChunk> by_chunk(const LogRuns& runs, const LogDataset& dataset,
                              const ChunkGrid& grid) {
  std::vector<InChunk> parts;
  for (const auto& run : runs) {
    auto at = run.offset;
    grid.for_each_run({run.offset, run.length}, [&](Run on_line) {
      // Where the grid keeps the order of the array, a run may lie in several chunks.
      while (on_line.length > 0) {
        const auto rest = grid.chunk_elements() - on_line.offset % grid.chunk_elements();
        const auto length = std::min(on_line.length, rest);
        parts.push_back({on_line.offset, part_of(run, at, at + length, dataset.element_bytes())});
        at += length;
        on_line = {on_line.offset + length, on_line.length - length};
      }
    });
  }
  std::sort(parts.begin(), parts.end(),
            [](const InChunk& a, const InChunk& b) { return a.place < b.place; });
  return parts;
}

/// One chunk of a dataset in memory, as much of it as lies in the dataset.
class ChunkInMemory {
 public:
  ChunkInMemory(const LogDataset& dataset, const ChunkGrid& grid, void* under, hid_t connector)
      : grid_(grid),
        under_(under),
        connector_(connector),
        type_(dataset.type()),
        in_memory_(grid.chunk()),
        in_file_(grid.extent()),
        bytes_(grid.chunk_elements() * dataset.element_bytes()) {}

  std::byte* data() { return bytes_.data(); }

  void go_to(std::uint64_t number) {
    const auto first = grid_.first_element(number);
    auto count = grid_.chunk();
    for (std::size_t d = 0; d < count.size(); ++d) {
      count[d] = std::min(count[d], grid_.extent()[d] - first[d]);
    }
    in_memory_.select(make_box(Extent(first.size(), 0), count));
    in_file_.select(make_box(first, count));
  }

  // HDF5 leaves memory as it is where it would fill nothing.
  void clear() { std::fill(bytes_.begin(), bytes_.end(), std::byte{0}); }
  void read() {
    hid_t memory = in_memory_.get();
    hid_t file = in_file_.get();
    void* data = bytes_.data();
    hdf5::check(H5VLdataset_read(1, &under_, connector_, &type_, &memory, &file,
                                 H5P_DATASET_XFER_DEFAULT, &data, nullptr),
                "H5Dread", "a chunk");
  }
  void write() {
    hid_t memory = in_memory_.get();
    hid_t file = in_file_.get();
    const void* data = bytes_.data();
    hdf5::check(H5VLdataset_write(1, &under_, connector_, &type_, &memory, &file,
                                  H5P_DATASET_XFER_DEFAULT, &data, nullptr),
                "H5Dwrite", "a chunk");
  }

 private:
  const ChunkGrid& grid_;
  void* under_;
  hid_t connector_, type_;
  hdf5::Space in_memory_, in_file_;
  std::vector<std::byte> bytes_;
};

void write_runs_alone(ElementFiles& files, const LogDataset& dataset, const LogRuns& pending,
                      std::uint64_t address) {
  const auto size = dataset.element_bytes();
  const auto most = std::max<std::uint64_t>(1, window_bytes / size);
  const auto runs = cut(pending, most, size);
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

}  // namespace

void write_alone(ElementFiles& files, LogDataset& dataset, std::uint64_t address) {
  dataset.for_each_pending(
      1, [&](const LogRuns& runs) { write_runs_alone(files, dataset, runs, address); });
}

void write_chunks_alone(ElementFiles& files, LogDataset& dataset, const Extent& chunk, void* under,
                        hid_t connector, bool unreadable) {
  const ChunkGrid grid(dataset.extent(), chunk);
  ChunkInMemory memory(dataset, grid, under, connector);
  const auto write = [&](const LogRuns& runs) {
    const auto parts = by_chunk(runs, dataset, grid);
    for (auto part = parts.begin(); part != parts.end();) {
      const auto number = part->place / grid.chunk_elements();
      const auto begin = number * grid.chunk_elements();
      std::uint64_t elements = 0;
      auto end = part;
      for (; end != parts.end() && end->place < begin + grid.chunk_elements(); ++end) {
        elements += end->run.length;
      }
      memory.go_to(number);
      if (elements < grid.elements_in_array(number)) {
        memory.clear();
        if (!unreadable) memory.read();
      }
      Gathering gathering(files, dataset, std::numeric_limits<std::size_t>::max());
      for (; part != end; ++part) {
        gathering.add(part->run, memory.data() + (part->place - begin) * dataset.element_bytes());
      }
      gathering.finish();
      memory.write();
      unreadable = false;
    }
  };
  // No chunk lies in two rows of chunks.
  const auto rows = std::max<std::uint64_t>(1, dataset.extent().front());
  dataset.for_each_pending(element_count(dataset.extent()) / rows * chunk.front(), write);
}

}  // namespace slabmark::slablog
