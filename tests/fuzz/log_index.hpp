#pragma once

#include <filesystem>
#include <stdexcept>

#include "accel/hdf5_connector/log/log_share.hpp"
#include "fuzz/target.hpp"

namespace slabmark {

/// Indices of a log as flushes leave them: of two datasets, the first of which has two dimensions
/// and other lengths from one flush to the next. Checksums would hide the reader from all this.
inline FuzzTarget log_index_target() {
  using namespace slablog;
  constexpr std::uint64_t elements = 1800;  // of the segment
  const Extent extent = {50, 100};
  const auto runs_of = [](std::uint64_t runs, std::uint64_t distance, std::uint64_t length) {
    LogRuns made;
    for (std::uint64_t i = 0; i < runs; ++i) made.push_back({distance * i, length, 0, in_segment});
    return made;
  };
  FuzzTarget target;
  for (const Extent& before : {extent, Extent{60, 100}, Extent{50, 90}, Extent{20, 400}}) {
    std::vector<std::byte> index;
    append_entry(index, 0, before, 0, runs_of(300, 7, 3));
    append_entry(index, 1, {1 << 20}, 0, runs_of(9, 100'000, 70'000));
    append_entry(index, 0, extent, 0, {});  // it was cut
    append_entry(index, 0, extent, 900, runs_of(9, 500, 100));
    target.seeds.emplace_back(reinterpret_cast<const char*>(index.data()), index.size());
  }
  target.read = [=](const std::string& path) {
    ElementFiles files{posix::File::open(path, posix::File::Access::read), {}};
    const StoredIndex stored{{0, files.hdf5.size()}, std::nullopt};
    LogDataset dataset(0, hdf5::own(H5Tcopy(H5T_NATIVE_INT), H5Tclose, "H5Tcopy", path), extent,
                       std::vector<std::byte>(4));
    dataset.segments[in_segment] = {0, elements};
    LogDataset* const only = &dataset;
    LogShare(Ranks(), files, nullptr, {&stored, 1}, {&only, 1});
    const auto index = read_index(files.hdf5, stored, 0);
    for (const auto& entry : index.entries) {
      if (entry.dataset == 0) dataset.load(entry, 0, path);
    }
    dataset.finish_load();
    for (const auto& run : dataset.flushed()) {
      if (run.end() > element_count(extent) || run.position / 4 + run.length > elements) {
        throw std::logic_error("a run leaves the dataset or its segment");
      }
    }
  };
  return target;
}

}  // namespace slabmark
