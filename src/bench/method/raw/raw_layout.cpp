#include "bench/method/raw/raw_layout.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace slabmark {

namespace {

constexpr auto largest_file = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::uint64_t dataset_bytes(const Dataset& dataset) {
  return product_or_most(element_count(dataset.extent()), size_of(dataset.type));
}

// Stops at "too large" instead of wrapping round.
std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  return a > largest_file - std::min(b, largest_file) ? largest_file + 1 : a + b;
}

}  // namespace

std::uint64_t record_count(const Pattern& pattern) {
  const auto has_time = [](const Dataset& dataset) { return dataset.has_time; };
  if (std::none_of(pattern.datasets.begin(), pattern.datasets.end(), has_time)) return 0;
  std::uint64_t records = 0;
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    for (const auto& transfer : pattern.transfers(round)) {
      if (pattern.datasets[transfer.dataset].has_time) {
        records = std::max(records, transfer.time + 1);
      }
    }
  }
  return records;
}

RawLayout::RawLayout(const Pattern& pattern) {
  for (const auto& dataset : pattern.datasets) {
    auto& end = dataset.has_time ? record_bytes_ : record_begin_;
    begin_.push_back(end);
    has_time_.push_back(dataset.has_time);
    end = plus(end, dataset_bytes(dataset));
  }
  bytes_ = plus(record_begin_, product_or_most(record_bytes_, record_count(pattern)));
  if (bytes_ > largest_file) {
    throw InputError(fmt::format(
        "The datasets of pattern '{}' need a file beyond 2^63 bytes; make them smaller.",
        pattern.name));
  }
}

std::uint64_t RawLayout::offset(std::size_t dataset, std::uint64_t time) const {
  return has_time_[dataset] ? record_begin_ + time * record_bytes_ + begin_[dataset]
                            : begin_[dataset];
}

std::optional<std::string> too_large_for_raw(const Pattern& pattern) {
  try {
    const RawLayout fits(pattern);
  } catch (const InputError& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace slabmark
