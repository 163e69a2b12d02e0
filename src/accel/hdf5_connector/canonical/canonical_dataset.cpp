#include "accel/hdf5_connector/canonical/canonical_dataset.hpp"

#include <algorithm>
#include <functional>

#include "accel/hdf5_connector/log/find_datasets.hpp"
#include "accel/hdf5_connector/log/plain_file.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

namespace {

/// Selects elements as points: as many at `offset` as are asked for, of each of some runs.
template <class Runs>
hdf5::Space points_of(const Extent& extent, const Runs& runs) {
  std::vector<hsize_t> coordinates;
  for (const auto& run : runs) {
    for (auto offset = run.offset; offset < run.end(); ++offset) {
      const auto indices = indices_of(offset, extent);
      coordinates.insert(coordinates.end(), indices.begin(), indices.end());
    }
  }
  hdf5::Space space(extent);
  space.select_points(coordinates);
  return space;
}

bool is_zero(const std::vector<std::byte>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == std::byte{0}; });
}

/// The elements of a chunk that HDF5 would read by another mask than it has.
std::vector<std::byte> elements_of(const CanonicalDataset& dataset, posix::File& file) {
  const LibraryContext context;
  const auto& chunk = *dataset.misread;
  std::vector<std::byte> filtered(chunk.bytes);
  file.read_at(chunk.address, filtered.data(), chunk.bytes);
  std::vector<std::byte> elements(dataset.pipeline->chunk_bytes());
  dataset.pipeline->undo(filtered, chunk.mask, elements.data());
  return elements;
}

}  // namespace

bool CanonicalDataset::accepts(hid_t space, hid_t creation) {
  // HDF5 2.2.0 writes beyond its memory when it selects points in so many dimensions.
  if (H5Sget_simple_extent_ndims(space) == H5S_MAX_RANK) return false;
  if (H5Pget_layout(creation) == H5D_CONTIGUOUS) return H5Sget_simple_extent_npoints(space) > 0;
  // Chunks of one element are no units of the exchange.
  const auto is_one = [](hsize_t length) { return length == 1; };
  if (std::ranges::all_of(hdf5::chunk_of(creation), is_one)) return false;
  return H5Pall_filters_avail(creation) > 0;
}

CanonicalDataset::CanonicalDataset(const OpenedDataset& opened, bool may_be_fresh,
                                   const std::string& path)
    : LogDataset(std::move(*describe(opened.number, opened.type, opened.space, opened.creation))),
      under(opened.under),
      connector(opened.connector),
      fresh(opened.created && may_be_fresh) {
  if (H5Pget_layout(opened.creation) == H5D_CHUNKED) {
    chunk = hdf5::chunk_of(opened.creation);
    set_grid();
    if (H5Pget_nfilters(opened.creation) > 0) {
      creation = hdf5::own(H5Pcopy(opened.creation), H5Pclose, "H5Pcopy", path);
    } else {
      plain.emplace(element_count(chunk) * element_bytes(),
                    hdf5::stored_fill(type(), opened.creation));
      pipeline = &*plain;
    }
  } else {
    address = allocated_address(under, connector);
    fresh = fresh && is_zero(fill());
  }
  H5D_fill_value_t filled = H5D_FILL_VALUE_DEFAULT;
  hdf5::check(H5Pfill_value_defined(opened.creation, &filled), "H5Pfill_value_defined", path);
  never_filled = filled == H5D_FILL_VALUE_UNDEFINED;
  H5D_fill_time_t time = H5D_FILL_TIME_IFSET;
  hdf5::check(H5Pget_fill_time(opened.creation, &time), "H5Pget_fill_time", path);
  leaves_memory = never_filled || time == H5D_FILL_TIME_NEVER;
}

std::uint64_t CanonicalDataset::part_bytes() const {
  const std::uint64_t bytes = element_bytes();
  return std::min<std::uint64_t>(8, bytes & (~bytes + 1));
}

void CanonicalDataset::set_grid() {
  auto of_parts = extent();
  auto chunk_of_parts = chunk;
  of_parts.back() *= parts();
  chunk_of_parts.back() *= parts();
  grid = ChunkGrid(std::move(of_parts), std::move(chunk_of_parts));
}

void CanonicalDataset::follow(const Extent& to) {
  // HDF5 forgets masks where it gives chunks up.
  if (!std::equal(extent().begin(), extent().end(), to.begin(), std::less_equal<>()))
    misread.reset();
  reshape(to);
  if (in_chunks()) set_grid();
  fresh = false;
}

bool CanonicalDataset::is_unreadable() const {
  if (!never_filled) return false;
  return in_chunks() ? !has_chunks(under, connector) : !allocated_address(under, connector);
}

void CanonicalDataset::write_by_hdf5(hid_t memory, hid_t file, const void* data,
                                     const std::string& path) {
  hid_t of_type = type();
  hdf5::check(H5VLdataset_write(1, &under, connector, &of_type, &memory, &file,
                                H5P_DATASET_XFER_DEFAULT, &data, nullptr),
              "H5Dwrite", path);
}

void CanonicalDataset::write_first(std::uint64_t offset, const void* element,
                                   const std::string& path) {
  const auto in_file = points_of(extent(), std::array{Run{offset, 1}});
  const hdf5::Space line({1});
  write_by_hdf5(line.get(), in_file.get(), element, path);
  address = allocated_address(under, connector);
}

void CanonicalDataset::read_by_hdf5(std::span<const ReadRun> reads, bool is_readable,
                                    const std::string& path) const {
  std::uint64_t elements = 0;
  for (const auto& read : reads) elements += read.length;
  std::vector<std::byte> found(elements * element_bytes());
  if (is_readable) {
    const auto in_file = points_of(extent(), reads);
    const hdf5::Space line({elements});
    auto* below = under;
    hid_t of_type = type();
    hid_t memory = line.get();
    hid_t file = in_file.get();
    void* buffer = found.data();
    hdf5::check(H5VLdataset_read(1, &below, connector, &of_type, &memory, &file,
                                 H5P_DATASET_XFER_DEFAULT, &buffer, nullptr),
                "H5Dread", path);
  }
  const auto* from = found.data();
  for (const auto& read : reads) {
    const auto bytes = read.length * element_bytes();
    std::copy(from, from + bytes, read.target);
    from += bytes;
  }
}

void read_below(const CanonicalDataset& dataset, posix::File& file, bool is_alone,
                std::span<const ReadRun> reads, const std::string& path) {
  // Where several have the file open HDF5 gave the dataset space, or a rank that asks about chunks
  // alone might wait for ever.
  const bool is_readable = !is_alone || !dataset.is_unreadable();
  if (!dataset.misread) return dataset.read_by_hdf5(reads, is_readable, path);
  const auto chunk = elements_of(dataset, file);
  const auto size = dataset.element_bytes();
  const ChunkGrid grid(dataset.extent(), dataset.chunk);
  const auto misread = grid.chunk_of(dataset.misread->first);
  std::vector<ReadRun> others;
  for (auto rest : reads) {
    grid.for_each_part({rest.offset, rest.length}, [&](std::uint64_t number, Run in_chunk) {
      if (number == misread) {
        std::copy_n(chunk.data() + in_chunk.offset * size, in_chunk.length * size, rest.target);
      } else {
        others.push_back({rest.offset, in_chunk.length, rest.target});
      }
      rest = after(rest, in_chunk.length, size);
    });
  }
  if (!others.empty()) dataset.read_by_hdf5(others, is_readable, path);
}

}  // namespace slabmark::slablog
