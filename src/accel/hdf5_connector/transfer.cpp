#include "accel/hdf5_connector/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "accel/hdf5_connector/refusal.hpp"
#include "accel/hdf5_connector/selection.hpp"
#include "core/geometry/run.hpp"

namespace slabmark::slablog {

namespace {

using hdf5::check;

const std::string some_dataset = "a dataset";

/// How elements in memory become elements of the file, and back.
struct TypeConversion {
  TypeConversion(hid_t memory_type, const LogDataset& dataset, hid_t transfer_list)
      : memory(memory_type),
        file(dataset.type()),
        memory_bytes(H5Tget_size(memory_type)),
        file_bytes(dataset.element_bytes()),
        list(transfer_list) {
    const auto equal = H5Tequal(memory, file);
    check(equal, "H5Tequal", some_dataset);
    needed = equal == 0;
    // Where only some members move, the others keep what they are.
    needs_background = needed && H5Tdetect_class(file, H5T_COMPOUND) > 0;
  }

  std::size_t larger() const { return std::max(memory_bytes, file_bytes); }

  hid_t memory;
  hid_t file;
  std::size_t memory_bytes;
  std::size_t file_bytes;
  hid_t list;
  bool needed;
  bool needs_background;
};

using Bytes = std::unique_ptr<std::byte[]>;

Bytes bytes_of(std::uint64_t count) { return std::make_unique_for_overwrite<std::byte[]>(count); }

void check_list(hid_t list) {
  if (list == H5P_DATASET_XFER_DEFAULT || list == H5P_DEFAULT) return;
  ssize_t transform = -1;
  H5E_BEGIN_TRY { transform = H5Pget_data_transform(list, nullptr, 0); }
  H5E_END_TRY
  if (transform > 0) {
    throw Refusal(H5E_DATASET, H5E_UNSUPPORTED, "slablog does no data transforms");
  }
}

/// As HDF5 does.
void check_memory(const void* data) {
  if (data == nullptr)
    throw Refusal(H5E_ARGS, H5E_BADVALUE, "no memory was given for the elements");
}

void gather(const RunList& runs, const std::byte* memory, std::size_t bytes, std::byte* dense) {
  for (const auto run : runs) {
    std::memcpy(dense, memory + run.offset * bytes, run.length * bytes);
    dense += run.length * bytes;
  }
}

void scatter(const RunList& runs, const std::byte* dense, std::size_t bytes, std::byte* memory) {
  for (const auto run : runs) {
    std::memcpy(memory + run.offset * bytes, dense, run.length * bytes);
    dense += run.length * bytes;
  }
}

/// Rows of a box, appended.
void add_box(const Extent& extent, const hsize_t* start, const hsize_t* count, std::size_t which,
             RunList& runs) {
  const auto rank = extent.size();
  std::uint64_t rows = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    if (start[d] > extent[d] || count[d] > extent[d] - start[d]) {
      throw Refusal(H5E_DATASPACE, H5E_BADRANGE,
                    fmt::format("file selection+offset not within extent: hyperslab {} ends at {} "
                                "in dimension {} of length {}",
                                which, start[d] + count[d], d, extent[d]));
    }
    if (count[d] == 0) return;
    if (d + 1 < rank) rows *= count[d];
  }
  const auto length = rank == 0 ? 1 : count[rank - 1];
  for (std::uint64_t row = 0; row < rows; ++row) {
    auto rest = row;
    std::uint64_t offset = 0;
    std::uint64_t scale = rank == 0 ? 1 : extent[rank - 1];
    for (auto d = rank - 1; d-- > 0;) {
      offset += (start[d] + rest % count[d]) * scale;
      rest /= count[d];
      scale *= extent[d];
    }
    runs.push_back({offset + start[rank - 1], length});
  }
}

/// Those of `elements` that are pending.
Elements pending_of(LogDataset& dataset, const Elements& elements) {
  RunList offsets;
  RunList positions;
  for (const auto& pair : paired(*elements.in_dataset, *elements.in_memory)) {
    for (const auto& one : dataset.pending_within({pair.offset, pair.length})) {
      append(offsets, {one.offset, one.length});
      append(positions, {pair.position + (one.offset - pair.offset), one.length});
    }
  }
  return elements_of(std::move(offsets), std::move(positions));
}

}  // namespace

Elements boxes(const LogDataset& dataset, std::size_t n, const hsize_t* const* starts,
               const hsize_t* const* counts) {
  RunList runs;
  runs.reserve(n);
  for (std::size_t i = 0; i < n; ++i) add_box(dataset.extent(), starts[i], counts[i], i, runs);
  const auto total = total_length(runs);
  return elements_of(std::move(runs), {{0, total}});
}

void write_elements(DataFile& file, LogDataset& dataset, hid_t memory_type,
                    const Elements& elements, hid_t list, const void* data) {
  if (!file.writable()) throw Refusal(H5E_ARGS, H5E_BADVALUE, "no write intent on file");
  check_list(list);
  const TypeConversion conversion(memory_type, dataset, list);
  const auto total = elements.count;
  if (total == 0) return;
  check_memory(data);
  const auto* source = static_cast<const std::byte*>(data);
  Bytes converted;
  if (conversion.needed) {
    converted = bytes_of(total * conversion.larger());
    Bytes background;
    if (conversion.needs_background) {
      background = bytes_of(total * conversion.larger());
      file.read(dataset, reads_of(*elements.in_dataset, background.get(), conversion.file_bytes));
    }
    gather(*elements.in_memory, source, conversion.memory_bytes, converted.get());
    check(H5Tconvert(conversion.memory, conversion.file, total, converted.get(), background.get(),
                     conversion.list),
          "H5Tconvert", some_dataset);
  }
  const auto held_before = dataset.held_bytes();
  auto* buffer = dataset.buffer(total);
  if (conversion.needed) {
    std::memcpy(buffer, converted.get(), total * conversion.file_bytes);
  } else {
    gather(*elements.in_memory, source, conversion.memory_bytes, buffer);
  }
  if (elements.ascending) {
    dataset.add_pending(elements.in_dataset, buffer, file.call());
  } else {
    dataset.add_pending(std::span(*elements.in_dataset), buffer, file.call());
  }
  file.written(dataset, held_before);
}

void read_elements(DataFile& file, LogDataset& dataset, hid_t memory_type, const Elements& elements,
                   hid_t list, void* data) {
  check_list(list);
  const TypeConversion conversion(memory_type, dataset, list);
  const auto total = elements.count;
  if (total == 0) return;
  check_memory(data);
  auto* target = static_cast<std::byte*>(data);
  if (!conversion.needed && elements.in_memory->size() == 1) {
    target += elements.in_memory->front().offset * conversion.file_bytes;
    file.read(dataset, reads_of(*elements.in_dataset, target, conversion.file_bytes));
    return;
  }
  const auto dense = bytes_of(total * conversion.larger());
  file.read(dataset, reads_of(*elements.in_dataset, dense.get(), conversion.file_bytes));
  if (conversion.needed) {
    Bytes background;
    if (conversion.needs_background) {
      background = bytes_of(total * conversion.larger());
      gather(*elements.in_memory, target, conversion.memory_bytes, background.get());
    }
    check(H5Tconvert(conversion.file, conversion.memory, total, dense.get(), background.get(),
                     conversion.list),
          "H5Tconvert", some_dataset);
  }
  scatter(*elements.in_memory, dense.get(), conversion.memory_bytes, target);
}

LogRuns paired(const RunList& offsets, const RunList& positions) {
  LogRuns pairs;
  std::size_t other = 0;
  std::uint64_t done = 0;  // of the other's run
  for (auto run : offsets) {
    while (run.length > 0) {
      const auto length = std::min(run.length, positions[other].length - done);
      append(pairs, {run.offset, length, positions[other].offset + done}, 1);
      run = {run.offset + length, run.length - length};
      done += length;
      if (done == positions[other].length) {
        ++other;
        done = 0;
      }
    }
  }
  return pairs;
}

std::vector<std::byte> kept_of_pending(LogDataset& dataset, hid_t memory_type,
                                       const Elements& elements, const void* data) {
  std::vector<std::byte> kept;
  if (data == nullptr) return kept;
  const auto pending = pending_of(dataset, elements);
  const auto bytes = H5Tget_size(memory_type);
  kept.resize(pending.count * bytes);
  gather(*pending.in_memory, static_cast<const std::byte*>(data), bytes, kept.data());
  return kept;
}

void read_pending(DataFile& file, LogDataset& dataset, hid_t memory_type, const Elements& elements,
                  hid_t list, void* data, const std::vector<std::byte>& kept) {
  if (!dataset.has_pending()) return;
  const auto pending = pending_of(dataset, elements);
  if (pending.count == 0) return;
  if (!kept.empty()) {
    scatter(*pending.in_memory, kept.data(), H5Tget_size(memory_type),
            static_cast<std::byte*>(data));
  }
  read_elements(file, dataset, memory_type, pending, list, data);
}

}  // namespace slabmark::slablog
