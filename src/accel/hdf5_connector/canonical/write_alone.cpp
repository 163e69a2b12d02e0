#include "accel/hdf5_connector/canonical/write_alone.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "collective/exchange/rearranger.hpp"
#include "core/geometry/chunk_grid.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

namespace {

constexpr auto no_limit = std::numeric_limits<std::size_t>::max();

/// Reads zeros beyond the end.
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

/// Writes runs of a contiguous dataset past HDF5.
void write_runs(ElementFiles& files, const CanonicalDataset& dataset, const LogRuns& pending) {
  constexpr auto bridged_bytes = RearrangerSettings{}.bridged_hole;
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
    const auto at = *dataset.address + begin * size;
    if (last == first + 1 && runs[first].source == in_memory) {
      files.hdf5.write_at(at, reinterpret_cast<const std::byte*>(runs[first].position),
                          (end - begin) * size);
    } else {
      window.resize((end - begin) * size);
      if (has_holes) read_before_end(files.hdf5, at, window);
      Gathering gathering(files, dataset, no_limit);
      for (auto i = first; i < last; ++i) {
        gathering.add(runs[i], window.data() + (runs[i].offset - begin) * size);
      }
      gathering.finish();
      files.hdf5.write_at(at, window.data(), window.size());
    }
    first = last;
  }
}

// HDF5 gives space, and fills it where it has to, when it writes the first element.
void write_contiguous(ElementFiles& files, CanonicalDataset& dataset, const std::string& path) {
  if (!dataset.address) {
    const auto first = dataset.first_pending();
    if (dataset.is_all_pending() && first.source == in_memory) {
      const auto* all = reinterpret_cast<const void*>(first.position);
      return dataset.write_by_hdf5(H5S_ALL, H5S_ALL, all, path);
    }
    std::vector<std::byte> element(dataset.element_bytes());
    Gathering gathering(files, dataset, 1);
    gathering.add(part_of(first, first.offset, first.offset + 1, element.size()), element.data());
    gathering.finish();
    dataset.write_first(first.offset, element.data(), path);
  }
  dataset.for_each_pending(1, [&](const LogRuns& runs) { write_runs(files, dataset, runs); });
}

/// Elements of a run that lie in one chunk.
struct InChunk {
  std::uint64_t chunk = 0;
  std::uint64_t place = 0;  ///< elements before them in the chunk
  LogRun run;
};

std::vector<InChunk> by_chunk(const LogRuns& runs, std::size_t element_bytes,
                              const ChunkGrid& grid) {
  std::vector<InChunk> parts;
  for (const auto& run : runs) {
    auto at = run.offset;
    grid.for_each_part({run.offset, run.length}, [&](std::uint64_t chunk, Run in_chunk) {
      parts.push_back(
          {chunk, in_chunk.offset, part_of(run, at, at + in_chunk.length, element_bytes)});
      at += in_chunk.length;
    });
  }
  std::sort(parts.begin(), parts.end(), [](const InChunk& a, const InChunk& b) {
    return std::pair(a.chunk, a.place) < std::pair(b.chunk, b.place);
  });
  return parts;
}

/// Writes one chunk after another by HDF5.
class ChunkWriter {
 public:
  ChunkWriter(ElementFiles& files, CanonicalDataset& dataset, const std::string& path)
      : files_(files),
        dataset_(dataset),
        path_(path),
        grid_(dataset.extent(), dataset.chunk),
        in_memory_(dataset.chunk),
        in_file_(dataset.extent()),
        bytes_(grid_.chunk_elements() * dataset.element_bytes()),
        has_space_(!dataset.is_unreadable()) {}

  void write(const LogRuns& runs) {
    const auto parts = by_chunk(runs, dataset_.element_bytes(), grid_);
    for (auto part = parts.begin(); part != parts.end();) {
      const auto end = std::find_if(
          part, parts.end(), [&](const InChunk& other) { return other.chunk != part->chunk; });
      write_chunk({part, end});
      part = end;
    }
  }

 private:
  void write_chunk(std::span<const InChunk> parts) {
    const auto number = parts.front().chunk;
    select(number);
    std::uint64_t elements = 0;
    for (const auto& part : parts) elements += part.run.length;
    if (elements < grid_.elements_in_array(number)) read();
    Gathering gathering(files_, dataset_, no_limit);
    for (const auto& part : parts) {
      gathering.add(part.run, bytes_.data() + part.place * dataset_.element_bytes());
    }
    gathering.finish();
    dataset_.write_by_hdf5(in_memory_.get(), in_file_.get(), bytes_.data(), path_);
    has_space_ = true;
  }

  /// As much of the chunk as lies in the dataset.
  void select(std::uint64_t number) {
    const auto first = grid_.first_element(number);
    auto count = grid_.chunk();
    for (std::size_t d = 0; d < count.size(); ++d) {
      count[d] = std::min(count[d], grid_.extent()[d] - first[d]);
    }
    in_memory_.select(make_box(Extent(first.size(), 0), count));
    in_file_.select(make_box(first, count));
  }

  // HDF5 leaves memory as it is where it would fill nothing.
  void read() {
    std::fill(bytes_.begin(), bytes_.end(), std::byte{0});
    if (!has_space_) return;
    void* under = dataset_.under;
    hid_t type = dataset_.type();
    hid_t memory = in_memory_.get();
    hid_t file = in_file_.get();
    void* data = bytes_.data();
    hdf5::check(H5VLdataset_read(1, &under, dataset_.connector, &type, &memory, &file,
                                 H5P_DATASET_XFER_DEFAULT, &data, nullptr),
                "H5Dread", path_);
  }

  ElementFiles& files_;
  CanonicalDataset& dataset_;
  const std::string& path_;
  ChunkGrid grid_;
  hdf5::Space in_memory_, in_file_;
  std::vector<std::byte> bytes_;  ///< of the chunk
  bool has_space_;                ///< else HDF5 would read nothing at all
};

}  // namespace

void write_alone(ElementFiles& files, CanonicalDataset& dataset, const std::string& path) {
  if (!dataset.has_pending()) return;
  if (!dataset.in_chunks()) return write_contiguous(files, dataset, path);
  ChunkWriter writer(files, dataset, path);
  // No chunk lies in two rows of chunks.
  const auto rows = std::max<std::uint64_t>(1, dataset.extent().front());
  dataset.for_each_pending(element_count(dataset.extent()) / rows * dataset.chunk.front(),
                           [&](const LogRuns& runs) { writer.write(runs); });
}

}  // namespace slabmark::slablog
