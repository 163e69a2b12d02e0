#include "logvol/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "geometry/run.hpp"
#include "logvol/refusal.hpp"
#include "logvol/selection.hpp"

namespace slabmark::logvol {

namespace {

using hdf5::check;

const std::string a_dataset = "a dataset";

/// How elements in memory become elements of the file, and back.
struct Conversion {
  Conversion(hid_t memory_type, const LogDataset& dataset, hid_t transfer_list)
      : memory(memory_type),
        file(dataset.type()),
        memory_bytes(H5Tget_size(memory_type)),
        file_bytes(dataset.element_bytes()),
        list(transfer_list) {
    const auto equal = H5Tequal(memory, file);
    check(equal, "H5Tequal", a_dataset);
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

void check_writable(const LogFile& log) {
  if (!log.writable()) throw Refusal(H5E_ARGS, H5E_BADVALUE, "no write intent on file");
}

std::uint64_t total(const std::vector<Run>& runs) { return total_length(std::span(runs)); }

/// `elements` that `fetch` copies from memory become the runs of the dataset.
template <class Fetch>
void write_runs(LogFile& log, LogDataset& dataset, const std::vector<Run>& runs,
                const Conversion& conversion, const Fetch& fetch) {
  const auto elements = total(runs);
  if (elements == 0) return;
  Bytes converted;
  if (conversion.needed) {
    converted = bytes_of(elements * conversion.larger());
    Bytes background;
    if (conversion.needs_background) {
      background = bytes_of(elements * conversion.larger());
      log.read(dataset, wishes_of(runs, background.get(), conversion.file_bytes));
    }
    fetch(converted.get());
    check(H5Tconvert(conversion.memory, conversion.file, elements, converted.get(),
                     background.get(), conversion.list),
          "H5Tconvert", a_dataset);
  }
  auto* data = dataset.buffer(elements);
  if (conversion.needed) {
    std::memcpy(data, converted.get(), elements * conversion.file_bytes);
  } else {
    fetch(data);
  }
  dataset.add_pending(runs, data);
  log.added(elements * conversion.file_bytes);
}

/// Elements of the runs, in memory's type, one after another at `data`, which has room for as many
/// of the larger type; `background`, if not null, holds what is there.
void read_runs(LogFile& log, LogDataset& dataset, const std::vector<Run>& runs,
               const Conversion& conversion, std::byte* data, std::byte* background) {
  log.read(dataset, wishes_of(runs, data, conversion.file_bytes));
  if (!conversion.needed) return;
  check(H5Tconvert(conversion.file, conversion.memory, total(runs), data, background,
                   conversion.list),
        "H5Tconvert", a_dataset);
}

std::vector<Run> runs_of(const hdf5::Space& space) {
  std::vector<Run> runs;
  for_each_sequence(space, [&](Run run) { runs.push_back(run); });
  return runs;
}

void gather(const hdf5::Space& space, const std::byte* memory, std::size_t bytes,
            std::byte* dense) {
  for_each_sequence(space, [&](Run run) {
    std::memcpy(dense, memory + run.offset * bytes, run.length * bytes);
    dense += run.length * bytes;
  });
}

void scatter(const hdf5::Space& space, const std::byte* dense, std::size_t bytes,
             std::byte* memory) {
  for_each_sequence(space, [&](Run run) {
    std::memcpy(memory + run.offset * bytes, dense, run.length * bytes);
    dense += run.length * bytes;
  });
}

/// Rows of a box, appended.
void add_box(const Extent& extent, const hsize_t* start, const hsize_t* count, std::size_t which,
             std::vector<Run>& runs) {
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

std::vector<Run> runs_of_boxes(const Extent& extent, std::size_t n, const hsize_t* const* starts,
                               const hsize_t* const* counts) {
  std::vector<Run> runs;
  runs.reserve(n);
  for (std::size_t i = 0; i < n; ++i) add_box(extent, starts[i], counts[i], i, runs);
  return runs;
}

}  // namespace

void write_selection(LogFile& log, LogDataset& dataset, hid_t memory_type, hid_t memory, hid_t file,
                     hid_t list, const void* data) {
  check_writable(log);
  check_list(list);
  const auto in_file = file_selection(file, dataset.extent());
  const auto in_memory_space = memory_selection(memory, file, in_file);
  const Conversion conversion(memory_type, dataset, list);
  write_runs(log, dataset, runs_of(in_file), conversion, [&](std::byte* dense) {
    gather(in_memory_space, static_cast<const std::byte*>(data), conversion.memory_bytes, dense);
  });
}

void read_selection(LogFile& log, LogDataset& dataset, hid_t memory_type, hid_t memory, hid_t file,
                    hid_t list, void* data) {
  check_list(list);
  const auto in_file = file_selection(file, dataset.extent());
  const auto in_memory_space = memory_selection(memory, file, in_file);
  const Conversion conversion(memory_type, dataset, list);
  const auto runs = runs_of(in_file);
  const auto elements = total(runs);
  if (elements == 0) return;
  auto* target = static_cast<std::byte*>(data);
  if (!conversion.needed) {
    const auto where = runs_of(in_memory_space);
    if (where.size() == 1) {
      read_runs(log, dataset, runs, conversion, target + where[0].offset * conversion.file_bytes,
                nullptr);
      return;
    }
  }
  const auto dense = bytes_of(elements * conversion.larger());
  Bytes background;
  if (conversion.needs_background) {
    background = bytes_of(elements * conversion.larger());
    gather(in_memory_space, target, conversion.memory_bytes, background.get());
  }
  read_runs(log, dataset, runs, conversion, dense.get(), background.get());
  scatter(in_memory_space, dense.get(), conversion.memory_bytes, target);
}

void write_boxes(LogFile& log, LogDataset& dataset, hid_t memory_type, std::size_t n,
                 const hsize_t* const* starts, const hsize_t* const* counts, hid_t list,
                 const void* data) {
  check_writable(log);
  check_list(list);
  const Conversion conversion(memory_type, dataset, list);
  const auto runs = runs_of_boxes(dataset.extent(), n, starts, counts);
  write_runs(log, dataset, runs, conversion, [&](std::byte* dense) {
    std::memcpy(dense, data, total(runs) * conversion.memory_bytes);
  });
}

void read_boxes(LogFile& log, LogDataset& dataset, hid_t memory_type, std::size_t n,
                const hsize_t* const* starts, const hsize_t* const* counts, hid_t list,
                void* data) {
  check_list(list);
  const Conversion conversion(memory_type, dataset, list);
  const auto runs = runs_of_boxes(dataset.extent(), n, starts, counts);
  const auto elements = total(runs);
  if (elements == 0) return;
  auto* target = static_cast<std::byte*>(data);
  if (!conversion.needed) {
    read_runs(log, dataset, runs, conversion, target, nullptr);
    return;
  }
  const auto dense = bytes_of(elements * conversion.larger());
  Bytes background;
  if (conversion.needs_background) {
    background = bytes_of(elements * conversion.larger());
    std::memcpy(background.get(), target, elements * conversion.memory_bytes);
  }
  read_runs(log, dataset, runs, conversion, dense.get(), background.get());
  std::memcpy(target, dense.get(), elements * conversion.memory_bytes);
}

}  // namespace slabmark::logvol
