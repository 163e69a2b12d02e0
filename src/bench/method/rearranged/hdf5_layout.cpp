#include "bench/method/rearranged/hdf5_layout.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "bench/method/raw/raw_layout.hpp"
#include "core/base/error.hpp"
#include "storage/hdf5/filter_pipeline.hpp"
#include "storage/hdf5/location.hpp"

namespace slabmark {

namespace {

constexpr auto unallocated = std::numeric_limits<std::uint64_t>::max();

const std::string a_list = "a creation list";

std::string encoded(hid_t list) {
  std::size_t bytes = 0;
  hdf5::check(H5Pencode2(list, nullptr, &bytes, H5P_DEFAULT), "H5Pencode2", a_list);
  std::string text(bytes, '\0');
  hdf5::check(H5Pencode2(list, text.data(), &bytes, H5P_DEFAULT), "H5Pencode2", a_list);
  return text;
}

void put(std::vector<std::uint64_t>& numbers, std::span<const std::uint64_t> some) {
  numbers.push_back(some.size());
  numbers.insert(numbers.end(), some.begin(), some.end());
}

std::vector<std::uint64_t> take(std::span<const std::uint64_t>& numbers) {
  const auto some = numbers.subspan(1, numbers.front());
  numbers = numbers.subspan(1 + some.size());
  return {some.begin(), some.end()};
}

void put(std::vector<std::uint64_t>& numbers, const std::string& text) {
  std::vector<std::uint64_t> words(1 + (text.size() + 7) / 8);
  words.front() = text.size();
  std::memcpy(words.data() + 1, text.data(), text.size());
  put(numbers, words);
}

std::string take_text(std::span<const std::uint64_t>& numbers) {
  const auto words = take(numbers);
  return {reinterpret_cast<const char*>(words.data() + 1), words.front()};
}

/// The lengths of a chunk without that of time, which must be 1.
Extent chunk_of(hid_t creation, const hdf5::Dataset& dataset, bool has_time) {
  Extent lengths = hdf5::chunk_of(creation);
  if (has_time && lengths.front() != 1) {
    dataset.refuse_layout("has chunks other than one step of its first dimension");
  }
  if (has_time) lengths.erase(lengths.begin());
  return lengths;
}

}  // namespace

Hdf5Layout::Hdf5Layout(const Pattern& pattern)
    : pattern_(&pattern), records_(record_count(pattern)) {}

std::uint64_t Hdf5Layout::records(std::size_t dataset) const {
  return pattern_->datasets[dataset].has_time ? records_ : 1;
}

std::uint64_t Hdf5Layout::chunk_bytes(std::size_t dataset) const {
  return all_[dataset].grid.chunk_elements() * size_of(pattern_->datasets[dataset].type);
}

void Hdf5Layout::add(const hdf5::Dataset& dataset, const std::string& path,
                     const hdf5::Handle* creation) {
  const Dataset& described = pattern_->datasets[all_.size()];
  One& one = all_.emplace_back();
  one.begin = end_;
  if (element_count(described.extent()) == 0) return;
  hdf5::Handle found;
  if (creation == nullptr) found = dataset.creation();
  const hid_t list = creation != nullptr ? creation->get() : found.get();
  const auto layout = H5Pget_layout(list);
  if (layout == H5D_CONTIGUOUS) {
    const haddr_t address = hdf5::allocated_address(dataset.get());
    if (address == HADDR_UNDEF) dataset.refuse_layout("has no space allocated");
    const std::uint64_t step = element_count(described.extent()) * size_of(described.type);
    for (std::uint64_t t = 0; t < records(all_.size() - 1); ++t) {
      one.addresses.push_back(address + t * step);
    }
    return;
  }
  if (layout != H5D_CHUNKED) dataset.refuse_layout("is neither contiguous nor chunked");
  const Extent chunk = chunk_of(list, dataset, described.has_time);
  // A scalar with time has one chunk of one element.
  one.grid = chunk.empty() ? ChunkGrid({1}, {1}) : ChunkGrid(described.extent(), chunk);
  if (H5Pget_nfilters(list) > 0) {
    one.kind = Kind::filtered;
    const std::string text = encoded(list);
    one.list =
        static_cast<std::size_t>(std::find(lists_.begin(), lists_.end(), text) - lists_.begin());
    if (one.list == lists_.size()) lists_.push_back(text);
  } else if (one.grid.elements() != element_count(described.extent()) || one.grid.chunks() > 1) {
    one.kind = Kind::chunks;
  }
  begin_line();
  note_chunks(dataset, path);
}

void Hdf5Layout::note_chunks(const hdf5::Dataset& dataset, const std::string& path) {
  const std::size_t d = all_.size() - 1;
  One& one = all_.back();
  const bool has_time = pattern_->datasets[d].has_time;
  const bool has_filters = one.kind == Kind::filtered;
  const std::size_t before = filtered_.size();
  if (!has_filters) one.addresses.assign(records(d) * one.grid.chunks(), unallocated);
  for (const hdf5::StoredChunk& chunk : hdf5::stored_chunks(dataset.get(), path)) {
    const std::uint64_t time = has_time ? chunk.first.front() : 0;
    if (time >= records(d)) continue;
    const Extent first(chunk.first.begin() + (has_time ? 1 : 0), chunk.first.end());
    const std::uint64_t number = first.empty() ? 0 : one.grid.chunk_of(first);
    if (has_filters) {
      filtered_.push_back(
          {offset(d, time) + number * chunk_bytes(d), chunk.address, chunk.bytes, chunk.mask});
    } else {
      one.addresses[time * one.grid.chunks() + number] = chunk.address;
    }
  }
  if (std::find(one.addresses.begin(), one.addresses.end(), unallocated) != one.addresses.end()) {
    dataset.refuse_layout("has a step without space");
  }
  std::sort(filtered_.begin() + static_cast<std::ptrdiff_t>(before), filtered_.end(),
            [](const auto& a, const auto& b) { return a.place < b.place; });
}

// One after another, so that they ascend as the datasets do: that of the last one.
void Hdf5Layout::begin_line() {
  One& one = all_.back();
  one.begin = end_;
  const std::size_t d = all_.size() - 1;
  if (one.kind != Kind::one_piece) end_ += records(d) * line_bytes(d);
}

std::vector<std::uint64_t> Hdf5Layout::numbers() const {
  std::vector<std::uint64_t> numbers{lists_.size()};
  for (const std::string& list : lists_) put(numbers, list);
  for (const One& one : all_) {
    numbers.push_back(static_cast<std::uint64_t>(one.kind));
    numbers.push_back(one.list);
    put(numbers, one.grid.chunk());
    put(numbers, one.addresses);
  }
  return numbers;
}

Hdf5Layout::Hdf5Layout(const Pattern& pattern, std::span<const std::uint64_t> numbers)
    : Hdf5Layout(pattern) {
  lists_.resize(numbers.front());
  numbers = numbers.subspan(1);
  for (std::string& list : lists_) list = take_text(numbers);
  for (const Dataset& dataset : pattern.datasets) {
    One& one = all_.emplace_back();
    one.kind = static_cast<Kind>(numbers[0]);
    one.list = numbers[1];
    numbers = numbers.subspan(2);
    const Extent chunk = take(numbers);
    const Extent extent = dataset.dimensions.empty() ? Extent{1} : dataset.extent();
    if (!chunk.empty()) one.grid = ChunkGrid(extent, chunk);
    one.addresses = take(numbers);
    begin_line();
  }
}

std::uint64_t Hdf5Layout::offset(std::size_t dataset, std::uint64_t time) const {
  const One& one = all_[dataset];
  const std::uint64_t record = pattern_->datasets[dataset].has_time ? time : 0;
  if (one.kind == Kind::one_piece) return one.addresses[record];
  return one.begin + record * line_bytes(dataset);
}

RunList Hdf5Layout::data() const {
  RunList all;
  for (std::size_t d = 0; d < all_.size(); ++d) {
    const Dataset& dataset = pattern_->datasets[d];
    const std::uint64_t bytes = all_[d].kind == Kind::one_piece
                                    ? element_count(dataset.extent()) * size_of(dataset.type)
                                    : chunk_bytes(d);
    for (const std::uint64_t address : all_[d].addresses) all.push_back({address, bytes});
  }
  std::sort(all.begin(), all.end());
  return all;
}

const ChunkGrid* Hdf5Layout::grid(std::size_t dataset) const {
  const One& one = all_[dataset];
  return one.kind == Kind::one_piece ? nullptr : &one.grid;
}

bool Hdf5Layout::has_filters() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const One& one) { return one.kind == Kind::filtered; });
}

hdf5::Handle Hdf5Layout::creation(std::size_t dataset) const {
  return hdf5::own(H5Pdecode(lists_[all_[dataset].list].data()), H5Pclose, "H5Pdecode", a_list);
}

// Datasets in one piece begin where the next one does, so the last that begins there counts.
Hdf5Layout::Chunk Hdf5Layout::chunk_at(std::uint64_t offset) const {
  const auto after =
      std::upper_bound(all_.begin(), all_.end(), offset,
                       [](std::uint64_t wanted, const One& one) { return wanted < one.begin; });
  auto dataset = static_cast<std::size_t>(after - all_.begin()) - 1;
  while (all_[dataset].kind == Kind::one_piece) --dataset;
  const std::uint64_t before = offset - all_[dataset].begin;
  const std::uint64_t in_line = before % line_bytes(dataset);
  return {dataset, before / line_bytes(dataset), in_line / chunk_bytes(dataset),
          in_line % chunk_bytes(dataset)};
}

hdf5::StoredChunk Hdf5Layout::stored(const FilteredChunk& chunk) const {
  const Chunk at = chunk_at(chunk.place);
  const Dataset& dataset = pattern_->datasets[at.dataset];
  Extent first;
  if (!dataset.dimensions.empty()) first = all_[at.dataset].grid.first_element(at.number);
  if (dataset.has_time) first.insert(first.begin(), at.time);
  return {first, chunk.bytes, static_cast<std::uint32_t>(chunk.mask), chunk.address};
}

}  // namespace slabmark
