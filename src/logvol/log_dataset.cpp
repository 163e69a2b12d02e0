#include "logvol/log_dataset.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace slabmark::logvol {

namespace {

// Small writes share blocks of memory; a malloc each would cost more than the write.
constexpr std::uint64_t block_bytes = 64 << 10;

std::uint64_t address(const std::byte* data) { return std::bit_cast<std::uintptr_t>(data); }

}  // namespace

LogDataset::LogDataset(std::uint64_t number, hdf5::Handle type, Extent extent,
                       std::vector<std::byte> fill)
    : number_(number),
      type_(std::move(type)),
      element_bytes_(fill.size()),
      extent_(std::move(extent)),
      fill_(std::move(fill)),
      pending_(element_bytes_),
      flushed_(element_bytes_) {}

std::byte* LogDataset::buffer(std::uint64_t elements) {
  const auto bytes = elements * element_bytes_;
  pending_bytes_ += bytes;
  if (bytes >= block_bytes / 2) {
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    return memory_.back().get();
  }
  if (bytes > free_bytes_) {
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(block_bytes));
    free_ = memory_.back().get();
    free_bytes_ = block_bytes;
  }
  free_bytes_ -= bytes;
  return std::exchange(free_, free_ + bytes);
}

void LogDataset::add_pending(std::span<const Run> runs, const std::byte* data) {
  // A call of many runs gets just the room it needs; many calls of few do not move all each time.
  const auto needed = tail_.size() + runs.size();
  if (needed > tail_.capacity()) tail_.reserve(std::max(needed, tail_.size() / 2 * 3));
  for (const auto run : runs) {
    append(tail_, {run.offset, run.length, address(data), in_memory}, element_bytes_);
    data += run.length * element_bytes_;
  }
}

void LogDataset::settle_tail() {
  if (tail_.empty()) return;
  pending_.add(last_wins(std::exchange(tail_, {}), element_bytes_));
}

const LogRuns& LogDataset::pending() {
  settle_tail();
  return pending_.merged();
}

void LogDataset::moved(LogRuns runs) {
  drop_pending();
  pending_.add(std::move(runs));
}

void LogDataset::drop_pending() {
  tail_ = {};
  pending_.clear();
  memory_.clear();
  free_bytes_ = 0;
  pending_bytes_ = 0;
}

void LogDataset::find(std::vector<Wish>& wishes, LogRuns& granted,
                      std::vector<std::byte*>& targets) {
  settle_tail();
  for (const Layers* layers : {&pending_, &flushed_}) {
    const auto lists = layers->lists();
    for (auto list = lists.rbegin(); list != lists.rend() && !wishes.empty(); ++list) {
      look_up(*list, element_bytes_, wishes, granted, targets);
    }
  }
}

void LogDataset::move_flushed(const Extent& extent) {
  if (!flushed_.empty() && flushed_extent_ != extent) {
    auto runs = reshaped(flushed_.merged(), flushed_extent_, extent, element_bytes_);
    flushed_.clear();
    flushed_.add(std::move(runs));
  }
  flushed_extent_ = extent;
}

void LogDataset::load(const IndexEntry& entry, std::uint64_t flush) {
  load(runs_of(entry, flush, element_bytes_), entry.extent);
}

void LogDataset::load(LogRuns runs, const Extent& extent) {
  move_flushed(extent);
  if (runs.empty()) return;
  blocks[runs.front().source].push_back(runs.front().position);
  flushed_.add(std::move(runs));
}

void LogDataset::finish_load() { move_flushed(extent_); }

void LogDataset::reshape(const Extent& extent) {
  move_flushed(extent);
  extent_ = extent;
}

}  // namespace slabmark::logvol
