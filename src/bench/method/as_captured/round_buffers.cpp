#include "bench/method/as_captured/round_buffers.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "bench/pattern/content.hpp"
#include "core/base/error.hpp"

namespace slabmark {

RoundBuffers::RoundBuffers(const CapturedRun& run, const Pattern& pattern)
    : run_(run), pattern_(pattern) {
  for (std::size_t r = 0; r < run_.rounds.size(); ++r) numbers_[run_.rounds[r]] = r;
}

void RoundBuffers::post(std::uint64_t round, const std::vector<Transfer>& transfers,
                        std::span<std::byte* const> buffers) {
  Round& now = rounds_[round];
  now.buffers.assign(buffers.begin(), buffers.end());
  now.done.assign(buffers.size(), 0);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    now.places[{transfers[i].dataset, transfers[i].time}] = i;
  }
}

std::byte* RoundBuffers::memory_of(const CapturedCall::Part& part, const RankReader& rank) {
  if (!part.event.moves() || part.elements == 0) return nullptr;
  const std::size_t bytes = element_bytes(part.event, rank);
  std::byte* const dense = dense_memory(part, bytes);
  if (!part.event.memory) return dense;
  const BoxArray boxes = rank.lists.get(*part.event.memory);
  if (boxes.elements() != part.elements) {
    throw InputError(fmt::format("{} are damaged: a call moves {} elements, and its memory has {}.",
                                 rank.lists.place(), part.elements, boxes.elements()));
  }
  CallMemory& memory = laid_out_.emplace_back(boxes, bytes);
  if (part.event.has(capture::writes)) {
    memory.fill(dense);
  } else {
    to_take_back_.push_back([&memory, dense] { memory.empty(dense); });
  }
  return memory.address();
}

// A call's elements come from its memory into a part of their own, and from there into the buffers.
void RoundBuffers::take_back() {
  for (auto take = to_take_back_.rbegin(); take != to_take_back_.rend(); ++take) (*take)();
  to_take_back_.clear();
  memory_.clear();
  laid_out_.clear();
  rounds_.clear();
}

std::size_t RoundBuffers::element_bytes(const CapturedEvent& event, const RankReader& rank) const {
  const std::uint64_t definition = run_.numbers[rank.definition_number(event.dataset)];
  const auto known = std::find(run_.datasets.begin(), run_.datasets.end(), definition);
  if (known != run_.datasets.end()) {
    const Dataset& dataset =
        pattern_.datasets[static_cast<std::size_t>(known - run_.datasets.begin())];
    const bool in_bytes =
        dataset.dimensions.size() > run_.shapes.of_definition.at(definition).extent.size();
    return size_of(dataset.type) * (in_bytes ? dataset.dimensions.back().length : 1);
  }
  // A dataset that is moved the other way than the pattern alone.
  constexpr std::size_t largest = 16;
  const Json type = rank.definition(event.dataset).value("type", Json());
  if (type.is_string()) {
    if (const auto found = find_element_type(type.get<std::string>())) return size_of(*found);
  }
  return type.is_object() ? type.value("bytes", largest) : 1;
}

std::byte* RoundBuffers::allocate(std::size_t bytes) { return memory_.emplace_back(bytes).data(); }

std::byte* RoundBuffers::dense_memory(const CapturedCall::Part& part, std::size_t bytes) {
  if (part.fragments.size() == 1) return take(part, part.fragments.front(), bytes);
  // Elements that are moved the other way than the pattern, or of several records, whose buffers
  // lie apart.
  std::byte* const dense = allocate(part.elements * bytes);
  std::byte* at = dense;
  for (const CapturedWalk::Fragment& fragment : part.fragments) {
    const std::size_t length = fragment.elements * bytes;
    exchange(take(part, fragment, bytes), at, length, part.event.has(capture::writes));
    at += length;
  }
  return dense;
}

void RoundBuffers::exchange(std::byte* buffer, std::byte* of_call, std::size_t bytes,
                            bool is_written) {
  if (is_written) {
    std::memcpy(of_call, buffer, bytes);
  } else {
    to_take_back_.push_back([=] { std::memcpy(buffer, of_call, bytes); });
  }
}

std::size_t RoundBuffers::dataset_of(const PlacedBoxes& placed) const {
  std::size_t dataset = 0;
  while (run_.datasets[dataset] != placed.definition ||
         (!run_.dataset_paths.empty() && run_.dataset_paths[dataset] != placed.path)) {
    ++dataset;
  }
  return dataset;
}

/// The place of the next elements in the round's buffer, or a copy where the call has others than
/// the buffer.
std::byte* RoundBuffers::take(const CapturedCall::Part& part,
                              const CapturedWalk::Fragment& fragment, std::size_t bytes) {
  const PlacedBoxes& placed = part.placed[fragment.placed];
  const std::uint64_t number = numbers_.at(placed.round);
  Round& round = rounds_.at(number);
  const std::size_t dataset = dataset_of(placed);
  const std::size_t i = round.places.at({dataset, placed.time});
  const std::uint64_t unit = size_of(pattern_.datasets[dataset].type);
  const Share share{{number, i},
                    {round.done[i] * bytes / unit, fragment.elements * bytes / unit},
                    unit,
                    round.buffers[i],
                    part.event.has(capture::writes)};
  round.done[i] += fragment.elements;
  const auto repeats = run_.repeats.find(share.transfer);
  std::byte* const own = repeats == run_.repeats.end() ? share.buffer + share.elements.offset * unit
                                                       : repeated(share, repeats->second);
  const auto superseded = run_.superseded.find(share.transfer);
  if (!share.is_written || superseded == run_.superseded.end()) return own;
  return outdated(share, superseded->second, own);
}

/// The elements, outdated where a later call writes them again.
std::byte* RoundBuffers::outdated(const Share& share, const RunList& superseded, std::byte* own) {
  const Run taken = share.elements;
  auto run = std::upper_bound(superseded.begin(), superseded.end(), taken.offset,
                              [](std::uint64_t at, const Run& of) { return at < of.end(); });
  if (run == superseded.end() || run->offset >= taken.end()) return own;
  std::byte* const elements = allocate(taken.length * share.unit);
  std::memcpy(elements, own, taken.length * share.unit);
  for (; run != superseded.end() && run->offset < taken.end(); ++run) {
    const Run part = common_part(*run, taken);
    make_outdated({elements + (part.offset - taken.offset) * share.unit, part.length * share.unit});
  }
  return elements;
}

/// Elements of a buffer that has each once, as the program's call has them.
std::byte* RoundBuffers::repeated(const Share& share, const std::vector<Piece>& places) {
  const Run taken = share.elements;
  std::byte* const dense = allocate(taken.length * share.unit);
  auto piece = std::upper_bound(places.begin(), places.end(), taken.offset,
                                [](std::uint64_t at, const Piece& of) { return at < of.file; }) -
               1;
  for (std::uint64_t at = taken.offset; at < taken.end(); ++piece) {
    const std::uint64_t skipped = at - piece->file;
    const std::uint64_t length = std::min(piece->length - skipped, taken.end() - at);
    exchange(share.buffer + (piece->buffer + skipped) * share.unit,
             dense + (at - taken.offset) * share.unit, length * share.unit, share.is_written);
    at += length;
  }
  return dense;
}

}  // namespace slabmark
