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
#include "core/geometry/strided_walk.hpp"

namespace slabmark::slablog {

namespace {

using hdf5::check;

const std::string some_dataset = "a dataset";

/// How elements in memory become elements of the file, and back.
struct TypeConversion {
  explicit TypeConversion(const Transfer& transfer)
      : memory(transfer.memory_type),
        file(transfer.dataset.type()),
        memory_bytes(H5Tget_size(memory)),
        file_bytes(transfer.dataset.element_bytes()),
        list(transfer.list) {
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

Bytes memory_for(std::uint64_t count) { return std::make_unique_for_overwrite<std::byte[]>(count); }

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

/// Appends the rows of a box. `walk` is memory of the caller's.
void add_box(const Extent& extent, const hsize_t* start, const hsize_t* count, std::size_t which,
             StridedWalk& walk, RunList& runs) {
  for (std::size_t d = 0; d < extent.size(); ++d) {
    if (start[d] > extent[d] || count[d] > extent[d] - start[d]) {
      throw Refusal(H5E_DATASPACE, H5E_BADRANGE,
                    fmt::format("file selection+offset not within extent: hyperslab {} ends at {} "
                                "in dimension {} of length {}",
                                which, start[d] + count[d], d, extent[d]));
    }
    if (count[d] == 0) return;
  }
  const std::uint64_t length = extent.empty() ? 1 : count[extent.size() - 1];
  walk.restart_at_rows(start, count, extent);
  walk.for_each([&](std::int64_t offset) {
    runs.push_back({static_cast<std::uint64_t>(offset), length});
  });
}

/// The part of `elements` that is pending.
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
  StridedWalk walk;
  for (std::size_t i = 0; i < n; ++i) {
    add_box(dataset.extent(), starts[i], counts[i], i, walk, runs);
  }
  const auto total = total_length(runs);
  return elements_of(std::move(runs), {{0, total}});
}

void write_elements(const Transfer& transfer, const Elements& elements, const void* data) {
  auto& [file, dataset, memory_type, list] = transfer;
  if (!file.writable()) throw Refusal(H5E_ARGS, H5E_BADVALUE, "no write intent on file");
  check_list(list);
  const TypeConversion conversion(transfer);
  const auto total = elements.count;
  if (total == 0) return;
  check_memory(data);
  const auto* source = static_cast<const std::byte*>(data);
  Bytes converted;
  if (conversion.needed) {
    converted = memory_for(total * conversion.larger());
    Bytes background;
    if (conversion.needs_background) {
      background = memory_for(total * conversion.larger());
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

void read_elements(const Transfer& transfer, const Elements& elements, void* data) {
  read_elements(transfer, elements, data, [&](std::byte* place) {
    transfer.file.read(transfer.dataset,
                       reads_of(*elements.in_dataset, place, transfer.dataset.element_bytes()));
  });
}

void read_elements(const Transfer& transfer, const Elements& elements, void* data,
                   const std::function<void(std::byte* place)>& read) {
  check_list(transfer.list);
  const TypeConversion conversion(transfer);
  const auto total = elements.count;
  if (total == 0) return;
  check_memory(data);
  auto* target = static_cast<std::byte*>(data);
  if (!conversion.needed && elements.in_memory->size() == 1) {
    target += elements.in_memory->front().offset * conversion.file_bytes;
    return read(target);
  }
  const auto dense = memory_for(total * conversion.larger());
  read(dense.get());
  if (conversion.needed) {
    Bytes background;
    if (conversion.needs_background) {
      background = memory_for(total * conversion.larger());
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

std::vector<std::byte> kept_of_pending(const Transfer& transfer, const Elements& elements,
                                       const void* data) {
  std::vector<std::byte> kept;
  if (data == nullptr) return kept;
  const auto pending = pending_of(transfer.dataset, elements);
  const auto bytes = H5Tget_size(transfer.memory_type);
  kept.resize(pending.count * bytes);
  gather(*pending.in_memory, static_cast<const std::byte*>(data), bytes, kept.data());
  return kept;
}

void read_pending(const Transfer& transfer, const Elements& elements, void* data,
                  const std::vector<std::byte>& kept) {
  if (!transfer.dataset.has_pending()) return;
  const auto pending = pending_of(transfer.dataset, elements);
  if (pending.count == 0) return;
  if (!kept.empty()) {
    scatter(*pending.in_memory, kept.data(), H5Tget_size(transfer.memory_type),
            static_cast<std::byte*>(data));
  }
  read_elements(transfer, pending, data);
}

}  // namespace slabmark::slablog
