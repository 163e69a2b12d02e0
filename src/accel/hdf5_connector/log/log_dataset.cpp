#include "accel/hdf5_connector/log/log_dataset.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark::slablog {

namespace {

// Fewer runs are kept one by one.
constexpr std::size_t least_strided_runs = 64;
// More are not put into one list: it would take 2 MiB, and three times that while it is made.
constexpr std::uint64_t most_merged_runs = 1 << 16;

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
  return memory_.take(elements * element_bytes_);
}

void LogDataset::add_pending(RunsPtr runs, const std::byte* data, std::uint32_t call) {
  if (has_pending()) return add_pending(std::span(*runs), data, call);
  only_ = {std::move(runs), data, call};
}

void LogDataset::expand_only() {
  if (!only_.runs) return;
  const auto [runs, data, call] = std::exchange(only_, {});
  add_pending(std::span(*runs), data, call);
}

void LogDataset::add_pending(std::span<const Run> runs, const std::byte* data, std::uint32_t call) {
  expand_only();
  if (runs.size() >= least_strided_runs) {
    if (auto strided = StridedRuns::of(runs)) {
      settle_tail();
      return pending_.add({std::move(*strided), {0, 0, address(data), in_memory, call}});
    }
  }
  // A call of many runs gets just the room it needs; many calls of few do not move all each time.
  const auto needed = tail_.size() + runs.size();
  if (needed > tail_.capacity()) tail_.reserve(std::max(needed, tail_.size() / 2 * 3));
  for (const auto run : runs) {
    append(tail_, {run.offset, run.length, address(data), in_memory, call}, element_bytes_);
    data += run.length * element_bytes_;
  }
}

void LogDataset::settle_tail() {
  expand_only();
  if (tail_.empty()) return;
  pending_.add(last_wins(std::exchange(tail_, {}), element_bytes_));
}

const LogRuns& LogDataset::pending() {
  settle_tail();
  return pending_.merged();
}

LogRuns LogDataset::pending_within(Run elements) {
  settle_tail();
  return pending_.within(elements);
}

bool LogDataset::is_all_pending() {
  settle_tail();
  if (pending_.runs() != 1) return false;
  const auto& run = pending_.merged().front();
  return run.offset == 0 && run.length == element_count(extent_);
}

LogRun LogDataset::first_pending() {
  settle_tail();
  return pending_.within({pending_.next(0).value(), 1}).front();
}

void LogDataset::for_each_pending(std::uint64_t unit,
                                  const std::function<void(const LogRuns&)>& visit) {
  settle_tail();
  if (pending_.runs() <= most_merged_runs) return visit(pending_.merged());
  const auto most = (most_merged_runs + unit - 1) / unit * unit;
  for (auto next = pending_.next(0); next; next = pending_.next(*next)) {
    const auto begin = *next / unit * unit;
    visit(pending_.within({begin, most}));
    next = begin + most;
  }
}

std::uint64_t LogDataset::held_bytes() const {
  return memory_.taken() + tail_.capacity() * sizeof(LogRun) + pending_.bytes();
}

void LogDataset::for_each_in_memory(
    const std::function<void(const std::byte*, std::uint64_t)>& visit) {
  settle_tail();
  pending_.for_each_place([&](LogRun& place, std::uint64_t elements) {
    if (place.source != in_memory) return;
    visit(reinterpret_cast<const std::byte*>(place.position), elements * element_bytes_);
  });
}

std::uint64_t LogDataset::moved_to_spill(std::uint64_t position) {
  pending_.for_each_place([&](LogRun& place, std::uint64_t elements) {
    if (place.source != in_memory) return;
    place.source = in_spill;
    place.position = position;
    position += elements * element_bytes_;
  });
  memory_.clear();
  return position;
}

void LogDataset::keep_pending(LogRuns runs) {
  only_ = {};
  tail_ = {};
  pending_.clear();
  pending_.add(std::move(runs));
}

void LogDataset::drop_pending() {
  only_ = {};
  tail_ = {};
  pending_.clear();
  memory_.clear();
}

std::vector<const CodedRuns*> LogDataset::only_entries(Run wanted) const {
  std::vector<const CodedRuns*> entries;
  if (has_pending() || !flushed_.empty()) return entries;
  for (const auto& one : coded_) {
    if (one.segment_part(wanted).length > 0) entries.push_back(&one);
  }
  return entries;
}

std::uint64_t LogDataset::Writes::hyperslabs() const {
  std::uint64_t count = 0;
  for (const auto& entry : entries) count += entry.count();
  return count;
}

std::optional<LogDataset::Writes> LogDataset::writes() const {
  if (!flushed_.empty()) return std::nullopt;
  Writes found{extent_, coded_, {}};
  for (const auto& [source, segment] : segments) found.segments.push_back(segment.elements);
  return found;
}

const LogRuns& LogDataset::flushed() {
  decode();
  return flushed_.merged();
}

void LogDataset::decode() {
  for (const auto& one : std::exchange(coded_, {})) flushed_.add(one.decoded());
}

void LogDataset::move_flushed(const Extent& extent) {
  if (flushed_extent_ == extent) return;
  if (same_rows(flushed_extent_, extent)) {
    for (auto& one : coded_) one.limit(element_count(extent));
  } else {
    decode();
  }
  if (!flushed_.empty()) {
    auto runs = reshaped(flushed_.merged(), flushed_extent_, extent, element_bytes_);
    flushed_.clear();
    flushed_.add(std::move(runs));
  }
  flushed_extent_ = extent;
}

void LogDataset::load(const IndexEntry& entry, std::uint64_t flush, const std::string& place) {
  if (entry.extent.size() != extent_.size()) {
    throw IoError(fmt::format(
        "The index {} is damaged: it has another number of dimensions than there are; restore the "
        "file from a copy.",
        place));
  }
  move_flushed(entry.extent);
  if (entry.runs == 0) return;
  CodedRuns runs(entry, flush, element_bytes_, place);
  const auto source = in_segment + static_cast<std::uint32_t>(flush);
  auto& loaded = loaded_[source];
  if (entry.first != loaded || runs.segment_end() > segments.at(source).elements) {
    throw IoError(fmt::format(
        "The index {} is damaged: it has other elements than there are; restore the file from a "
        "copy.",
        place));
  }
  loaded = runs.segment_end();
  coded_.push_back(std::move(runs));
  blocks[source].push_back(entry.first * element_bytes_);
}

void LogDataset::load(LogRuns runs, const Extent& extent) {
  move_flushed(extent);
  if (runs.empty()) return;
  decode();  // which is below
  blocks[runs.front().source].push_back(runs.front().position);
  flushed_.add(std::move(runs));
}

void LogDataset::finish_load() {
  for (const auto& [source, elements] : loaded_) {
    if (elements == segments.at(source).elements) continue;
    throw IoError(fmt::format(
        "The log has {} elements of {}, which has {}; restore the file from a copy.", elements,
        segment_name(number_, source - in_segment), segments.at(source).elements));
  }
  move_flushed(extent_);
}

void LogDataset::reshape(const Extent& extent) {
  move_flushed(extent);
  extent_ = extent;
}

}  // namespace slabmark::slablog
