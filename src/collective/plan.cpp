#include "collective/plan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "core/geometry/run.hpp"

namespace slabmark::collective {

namespace {

/// A piece of the staging of an item, and when it was asked for.
struct Asked {
  Piece piece;
  std::pair<std::size_t, std::uint64_t> order;
};

std::uint64_t end_of(const Piece& piece) { return piece.file + piece.length; }

/// Leaves each element to the piece that was asked for last. Calls lost(the piece that has it, the
/// piece that has not, the run) for what the others would have had.
template <class Lost>
std::vector<Piece> leave_to_last(std::vector<Asked> asked, const Lost& lost) {
  std::ranges::stable_sort(asked, {}, [](const Asked& one) { return one.piece.file; });
  std::vector<Piece> pieces;
  std::vector<const Asked*> begun;
  std::uint64_t at = 0;
  for (std::size_t next = 0; next < asked.size() || !begun.empty();) {
    std::erase_if(begun, [&](const Asked* one) { return end_of(one->piece) <= at; });
    if (begun.empty()) {
      if (next == asked.size()) break;
      at = asked[next].piece.file;
    }
    while (next < asked.size() && asked[next].piece.file <= at) begun.push_back(&asked[next++]);
    std::uint64_t end =
        next < asked.size() ? asked[next].piece.file : std::numeric_limits<std::uint64_t>::max();
    for (const Asked* one : begun) end = std::min(end, end_of(one->piece));
    const Asked* const last =
        *std::ranges::max_element(begun, {}, [](const Asked* one) { return one->order; });
    append(pieces, {at, last->piece.buffer + (at - last->piece.file), end - at});
    for (const Asked* one : begun) {
      if (one != last) lost(last->piece, one->piece, Run{at, end - at});
    }
    at = end;
  }
  return pieces;
}

std::uint64_t elements_of(std::span<const Piece> pieces) {
  std::uint64_t elements = 0;
  for (const Piece& piece : pieces) elements += piece.length;
  return elements;
}

const PiecesPtr& no_pieces() {
  static const PiecesPtr none = std::make_shared<const std::vector<Piece>>();
  return none;
}

}  // namespace

Plan::Plan(const Comm& comm, const FileDomain& domain, std::vector<Item> items,
           const Aggregation& aggregation, const Request& request)
    : lies_(domain.arrays().begin(), domain.arrays().end()) {
  for (FileDomain::Array& array : lies_) array.place.offset = 0;
  for (Item& item : items) {
    items_.push_back({.item = std::move(item), .pieces = no_pieces()});
    stage(items_.back(), request.writes);
    distinct_bytes_ += elements_of(*items_.back().pieces) * element_bytes(items_.back());
  }
  const bool stages = std::ranges::any_of(items_, &Planned::is_staged);
  some_rank_stages_ = comm.any(stages);
  const bool may_overlap = request.overlaps == Overlaps::allowed || comm.size() == 1;
  try {
    flush_ = make(comm, domain, aggregation, !may_overlap);
  } catch (const SharedElements&) {  // on all ranks
    if (request.overlaps == Overlaps::refused) throw;
    resolve(comm, request.orders);
    flush_ = make(comm, domain, aggregation, false);
  }
}

void Plan::stage(Planned& planned, bool writes) const {
  const std::vector<Source>& sources = planned.item.sources;
  if (sources.empty()) return;
  if (sources.size() == 1 && !sources.front().repeats) {
    planned.pieces = sources.front().pieces;
    return;
  }
  planned.is_staged = true;
  std::vector<Asked> asked;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for (const Piece& piece : *sources[s].pieces) {
      asked.push_back({{piece.file, planned.staged_elements, piece.length}, {s, piece.buffer}});
      planned.staged_elements += piece.length;
    }
  }
  const auto note = [&](const Piece& has, const Piece& has_not, Run run) {
    if (writes) return;
    planned.copies.push_back({has.buffer + (run.offset - has.file),
                              has_not.buffer + (run.offset - has_not.file), run.length});
  };
  planned.pieces =
      std::make_shared<const std::vector<Piece>>(leave_to_last(std::move(asked), note));
}

FlushPlan Plan::make(const Comm& comm, const FileDomain& domain, const Aggregation& aggregation,
                     bool refuse_overlaps) const {
  std::map<std::pair<const std::vector<Piece>*, std::uint64_t>, std::size_t> first_with;
  std::vector<std::size_t> first_alike;
  for (const Planned& one : items_) {
    first_alike.push_back(
        first_with.try_emplace({one.pieces.get(), elements(one)}, first_alike.size())
            .first->second);
  }
  const std::vector<std::size_t> map_of = agreed_maps(comm, first_alike);
  std::vector<PlanMap> maps;
  std::vector<PlanItem> items;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    items.push_back({items_[i].item.array, map_of[i]});
    if (map_of[i] < maps.size()) continue;
    maps.push_back({*items_[i].pieces, elements(items_[i]), items_[i].item.name});
  }
  try {
    return FlushPlan(comm, domain, std::move(maps), std::move(items), aggregation, refuse_overlaps);
  } catch (const InputError& error) {
    if (!refuse_overlaps) throw;
    throw SharedElements(error.what());
  }
}

void Plan::resolve(const Comm& comm, const WriteOrders& orders) {
  std::vector<HeldArray> held;
  for (const Planned& one : items_) held.push_back({*one.pieces, elements(one)});
  auto last = resolve_overlaps(comm, held, orders);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (elements_of(*items_[i].pieces) == elements_of(last[i])) continue;
    items_[i].pieces = std::make_shared<const std::vector<Piece>>(std::move(last[i]));
  }
}

bool Plan::lies_alike(const FileDomain& domain) const {
  return std::ranges::equal(lies_, domain.arrays(), [](const auto& known, const auto& now) {
    return known.begin == now.begin && known.place.elements == now.place.elements &&
           known.place.element_bytes == now.place.element_bytes &&
           known.place.unit == now.place.unit;
  });
}

bool Plan::lies_alike(const FileDomain& domain, std::span<const ArrayPlace> places) const {
  return lies_alike(domain) &&
         std::ranges::equal(items_, places, [&](const Planned& one, const ArrayPlace& place) {
           return one.item.array == domain.array_at(place);
         });
}

/// Calls move(in the memory of a request, in the staging, bytes).
template <class Move>
void Plan::for_each_staged(std::span<std::byte* const> memory, std::vector<std::byte>& staging,
                           const Move& move) const {
  std::byte* at = staging.data();
  for (const Planned& one : items_) {
    if (!one.is_staged) continue;
    const std::uint64_t size = element_bytes(one);
    for (const Source& source : one.item.sources) {
      for (const Piece& piece : *source.pieces) {
        move(memory[source.request] + piece.buffer * size, at, piece.length * size);
        at += piece.length * size;
      }
    }
  }
}

std::vector<std::byte*> Plan::buffers(std::span<std::byte* const> memory,
                                      std::vector<std::byte>& staging) const {
  std::uint64_t bytes = 0;
  for (const Planned& one : items_) bytes += one.staged_elements * element_bytes(one);
  staging.resize(bytes);
  for_each_staged(memory, staging,
                  [](const std::byte* request, std::byte* staged, std::uint64_t count) {
                    std::memcpy(staged, request, count);
                  });
  std::vector<std::byte*> buffers;
  buffers.reserve(items_.size());
  std::byte* at = staging.data();
  for (const Planned& one : items_) {
    const auto& sources = one.item.sources;
    if (one.is_staged) {
      buffers.push_back(at);
      at += one.staged_elements * element_bytes(one);
    } else {
      buffers.push_back(sources.empty() ? nullptr : memory[sources.front().request]);
    }
  }
  return buffers;
}

void Plan::distribute(std::span<std::byte* const> memory, std::vector<std::byte>& staging) const {
  std::byte* at = staging.data();
  for (const Planned& one : items_) {
    const std::uint64_t size = element_bytes(one);
    for (const Copy& copy : one.copies) {
      std::memcpy(at + copy.to * size, at + copy.from * size, copy.length * size);
    }
    at += one.staged_elements * size;
  }
  for_each_staged(memory, staging,
                  [](std::byte* request, const std::byte* staged, std::uint64_t count) {
                    std::memcpy(request, staged, count);
                  });
}

std::uint64_t Plan::memory() const {
  std::uint64_t bytes = flush_.memory();
  for (const Planned& one : items_) {
    bytes +=
        sizeof one + one.item.sources.size() * sizeof(Source) + one.copies.size() * sizeof(Copy);
    const bool is_own =
        one.is_staged || (!one.item.sources.empty() && one.pieces != one.item.sources[0].pieces);
    if (is_own) bytes += one.pieces->size() * sizeof(Piece);
  }
  return bytes;
}

}  // namespace slabmark::collective
