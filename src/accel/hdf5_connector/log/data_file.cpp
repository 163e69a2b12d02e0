#include "accel/hdf5_connector/log/data_file.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/base/checksum.hpp"
#include "core/base/error.hpp"
#include "core/parallel/node_clock.hpp"

namespace slabmark::slablog {

namespace {

constexpr std::uint64_t spill_window_bytes = 1 << 20;

std::uint64_t hash_of(const std::vector<std::string>& words) {
  Checksum all;
  for (const auto& word : words) all.add(word.size()).add(std::as_bytes(std::span(word)));
  return all.value();
}

}  // namespace

DataFile::DataFile(std::string path, Ranks ranks, const Config& config, bool writable)
    : path_(std::move(path)),
      ranks_(std::move(ranks)),
      config_(config),
      files_{posix::File::open(path_,
                               writable ? posix::File::Access::write : posix::File::Access::read),
             {}},
      most_held_(config.buffer_bytes) {}

void DataFile::begin_write(bool collective) {
  if (!has_other_ranks()) return;
  if (collective) ++collective_writes_;
  // A write of one rank comes after the collective call that the rank made before.
  order_ = collective ? WriteOrder{2 * collective_writes_, 0}
                      : WriteOrder{2 * collective_writes_ + 1, node_time()};
  order_is_kept_ = false;
}

std::uint32_t DataFile::call() {
  if (!has_other_ranks()) return 0;
  if (!order_is_kept_) {
    if (calls_.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw IoError(
          fmt::format("'{}' has 2^32 writes that are not flushed; flush it (H5Fflush).", path_));
    }
    calls_.push_back(order_);
    order_is_kept_ = true;
  }
  return static_cast<std::uint32_t>(calls_.size() - 1);
}

void DataFile::note_creation(std::string path) {
  if (has_other_ranks()) created_.push_back(std::move(path));
}

void DataFile::check_creations() {
  if (!has_other_ranks()) return;
  const auto& comm = *ranks_.comm();
  const auto are_alike = [&](std::uint64_t value) {
    std::array<std::uint64_t, 2> range = {value, ~value};
    comm.max(std::span(range));
    return range[0] == ~range[1];
  };
  if (are_alike(hash_of(created_))) {
    created_.clear();
    return;
  }
  std::size_t first = 0;
  const auto path = [&] { return first < created_.size() ? created_[first] : "none"; };
  while (are_alike(hash_of({path()}))) ++first;
  const auto paths = comm.gather(path());
  std::string message;
  if (comm.is_root()) {
    const auto other = std::find_if(paths.begin(), paths.end(),
                                    [&](const auto& one) { return one != paths.front(); });
    message = fmt::format(
        "Ranks created different datasets in '{}', or in different orders: number {} since the "
        "last flush is {} on rank 0 and {} on rank {}. HDF5 mixes up their elements. Create the "
        "same datasets in the same order on all ranks.",
        path_, first + 1, paths.front(), *other, other - paths.begin());
  }
  throw IoError(comm.broadcast(message));
}

void DataFile::written(const LogDataset& dataset, std::uint64_t held_before) {
  held_bytes_ = held_bytes_ - held_before + dataset.held_bytes();
  if (!is_full()) return;
  make_room();
  // Elements that cannot be spilled must not make each call spill the little that it has.
  most_held_ = std::max(config_.buffer_bytes, held_bytes_ + config_.buffer_bytes / 8);
}

void DataFile::spill() {
  if (!files_.spill.is_open()) files_.spill = posix::File::create_unnamed(path_ + ".spill");
  std::vector<std::byte> window;  // of pieces that are too small for a call each
  auto at = spilled_bytes_;       // where it begins
  const auto write_window = [&] {
    files_.spill.write_at(at, window.data(), window.size());
    at += window.size();
    window.clear();
  };
  const auto write = [&](const std::byte* data, std::uint64_t bytes) {
    if (window.size() + bytes > spill_window_bytes) write_window();
    if (bytes > spill_window_bytes) {
      files_.spill.write_at(at, data, bytes);
      at += bytes;
    } else {
      window.insert(window.end(), data, data + bytes);
    }
  };
  std::uint64_t held = 0;
  for (auto* dataset : datasets()) {
    if (dataset->has_pending()) {
      // As memory is aligned: see Postings.
      spilled_bytes_ = (spilled_bytes_ + 15) / 16 * 16;
      at = spilled_bytes_;
      dataset->for_each_in_memory(write);
      write_window();
      spilled_bytes_ = dataset->moved_to_spill(spilled_bytes_);
    }
    held += dataset->held_bytes();
  }
  held_bytes_ = held;
}

bool DataFile::has_pending() const {
  const auto all = datasets();
  return std::any_of(all.begin(), all.end(), [](const auto* one) { return one->has_pending(); });
}

void DataFile::drop_pending() {
  for (auto* dataset : datasets()) dataset->drop_pending();
  held_bytes_ = 0;
  most_held_ = config_.buffer_bytes;
  files_.spill = {};
  spilled_bytes_ = 0;
  calls_ = {};
  order_is_kept_ = false;
}

void DataFile::drop_pending(LogDataset& dataset) {
  held_bytes_ -= std::min(held_bytes_, dataset.held_bytes());
  dataset.drop_pending();
}

void DataFile::check_all(bool well, const char* call, const std::function<void()>& check) const {
  ranks_.agreed([&] {
    if (check) check();
    if (well) return;
    throw IoError(fmt::format("{} failed on '{}', as HDF5 says; what was flushed before is safe.",
                              call, path_));
  });
}

}  // namespace slabmark::slablog
