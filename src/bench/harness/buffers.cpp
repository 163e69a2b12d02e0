#include "bench/harness/buffers.hpp"

#include <algorithm>

namespace slabmark {

namespace {

// Calls place(i, offset) for each transfer and returns the bytes that all need.
template <typename Place>
std::uint64_t for_each_buffer(const Pattern& pattern, std::span<const Transfer> transfers,
                              Place&& place) {
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Dataset& dataset = pattern.datasets[transfers[i].dataset];
    const std::uint64_t size = size_of(dataset.type);
    offset = (offset + size - 1) / size * size;
    place(i, offset);
    offset += buffer_bytes(transfers[i], dataset);
  }
  return offset;
}

}  // namespace

RoundGroup make_group(const Pattern& pattern, std::uint64_t first, std::uint64_t rounds_together) {
  RoundGroup group;
  const std::uint64_t end = first + std::min(rounds_together, pattern.rounds - first);
  for (std::uint64_t round = first; round < end; ++round) {
    const std::vector<Transfer> transfers = pattern.transfers(round);
    group.transfers.insert(group.transfers.end(), transfers.begin(), transfers.end());
    group.begin.push_back(group.transfers.size());
  }
  return group;
}

std::uint64_t buffer_bytes(const Pattern& pattern, std::uint64_t rounds_together) {
  std::uint64_t most = 0;
  for (std::uint64_t first = 0; first < pattern.rounds; first += rounds_together) {
    const RoundGroup group = make_group(pattern, first, rounds_together);
    most = std::max(most,
                    for_each_buffer(pattern, group.transfers, [](std::size_t, std::uint64_t) {}));
  }
  return most;
}

void Buffers::fit(const Pattern& pattern, std::uint64_t rounds_together) {
  const std::uint64_t needed = std::max<std::uint64_t>(buffer_bytes(pattern, rounds_together), 1);
  if (needed <= bytes_) return;
  memory_.reset();  // first, so that old and new are never held together
  // new[] without initialisation: every byte is filled before it is used, and touching it here
  // would only cost time.
  memory_.reset(new std::byte[needed]);
  bytes_ = needed;
}

std::vector<std::byte*> Buffers::lay_out(const Pattern& pattern, const RoundGroup& group,
                                         bool one_buffer) const {
  std::vector<std::byte*> pointers;
  const auto place = [&](std::span<const Transfer> transfers) {
    for_each_buffer(pattern, transfers, [&](std::size_t, std::uint64_t offset) {
      pointers.push_back(memory_.get() + offset);
    });
  };
  if (!one_buffer) {
    place(group.transfers);
    return pointers;
  }
  for (std::uint64_t i = 0; i < group.rounds(); ++i) {
    const std::span<const Transfer> all = group.transfers;
    place(all.subspan(group.begin[i], group.begin[i + 1] - group.begin[i]));
  }
  return pointers;
}

}  // namespace slabmark
