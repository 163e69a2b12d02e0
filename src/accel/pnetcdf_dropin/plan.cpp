#include "accel/pnetcdf_dropin/plan.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "collective/exchange/last_writer.hpp"
#include "collective/exchange/union_of_ranks.hpp"
#include "core/base/error.hpp"
#include "core/geometry/run.hpp"

namespace slabmark::dropin {

namespace {

ArrayName name_of(const Posted& posted, const Geometry::Part& part, bool has_records) {
  return {posted.variable, has_records
                               ? static_cast<std::int64_t>(posted.first_record + part.record)
                               : ArrayName::no_record};
}

/// A piece of the staging of an item, and when it was asked for.
struct Asked {
  Piece piece;
  std::pair<std::size_t, std::uint64_t> order;
};

/// Leaves each element to the piece that was asked for last; reports to `lost` what the others
/// would have had of it: lost(the piece that has it, the piece that has not, the run).
template <class Lost>
std::vector<Piece> last_wins(std::vector<Asked> asked, const Lost& lost) {
  const auto before = [](const Asked& a, const Asked& b) { return a.piece.file < b.piece.file; };
  std::stable_sort(asked.begin(), asked.end(), before);
  std::vector<Piece> pieces;
  const auto append = [&](const Piece& piece) {
    if (!pieces.empty() && pieces.back().file + pieces.back().length == piece.file &&
        pieces.back().buffer + pieces.back().length == piece.buffer) {
      pieces.back().length += piece.length;
    } else {
      pieces.push_back(piece);
    }
  };
  const auto end_of = [](const Asked& one) { return one.piece.file + one.piece.length; };
  std::vector<const Asked*> begun;
  std::uint64_t at = 0;
  for (std::size_t next = 0; next < asked.size() || !begun.empty();) {
    std::erase_if(begun, [&](const Asked* one) { return end_of(*one) <= at; });
    if (begun.empty()) {
      if (next == asked.size()) break;
      at = asked[next].piece.file;
    }
    while (next < asked.size() && asked[next].piece.file <= at) begun.push_back(&asked[next++]);
    std::uint64_t end =
        next < asked.size() ? asked[next].piece.file : std::numeric_limits<std::uint64_t>::max();
    for (const Asked* one : begun) end = std::min(end, end_of(*one));
    const Asked* const last =
        *std::max_element(begun.begin(), begun.end(),
                          [](const Asked* a, const Asked* b) { return a->order < b->order; });
    append({at, last->piece.buffer + (at - last->piece.file), end - at});
    for (const Asked* one : begun) {
      if (one != last) lost(last->piece, one->piece, Run{at, end - at});
    }
    at = end;
  }
  return pieces;
}

}  // namespace

RequestKey::RequestKey(std::span<const Posted> posted) {
  for (const Posted& one : posted) {
    if (!one.geometry->has_records()) continue;
    lowest_record = std::min(lowest_record, static_cast<std::int64_t>(one.first_record));
  }
  for (const Posted& one : posted) {
    const bool records = one.geometry->has_records();
    entries.push_back({one.variable, one.geometry.get(),
                       records ? static_cast<std::int64_t>(one.first_record) - lowest_record : 0});
  }
}

std::int64_t RequestPlan::shift_of(const RequestKey& key) const {
  if (key.entries != key_.entries) return none();
  if (key_.lowest_record == RequestKey::no_records) return any();
  return key.lowest_record - key_.lowest_record;
}

std::vector<ArrayName> RequestPlan::arrays(std::int64_t shift) const {
  auto moved = arrays_;
  for (ArrayName& array : moved) {
    if (array.record != ArrayName::no_record) array.record += shift;
  }
  return moved;
}

bool RequestPlan::place(std::span<const ArrayName> arrays, const PlaceOf& place_of,
                        std::uint64_t padding, FileDomain& domain) const {
  std::vector<ArrayPlace> places;
  for (const ArrayName& array : arrays) places.push_back(place_of(array));
  domain = FileDomain(places, padding);
  if (domain.arrays().size() != lies_.size()) return false;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (domain.array_at(places[i]) != items_[i].array) return false;
  }
  return std::equal(lies_.begin(), lies_.end(), domain.arrays().begin(),
                    [](const FileDomain::Array& a, const FileDomain::Array& b) {
                      return a.begin == b.begin && a.place.elements == b.place.elements &&
                             a.place.element_bytes == b.place.element_bytes;
                    });
}

RequestPlan::RequestPlan(const Comm& comm, std::span<const Posted> posted, bool puts,
                         const PlaceOf& place_of, const Aggregation& aggregation)
    : key_(posted) {
  std::map<ArrayName, std::vector<Source>> sources;
  for (std::size_t r = 0; r < posted.size(); ++r) {
    geometries_.push_back(posted[r].geometry);
    const auto& parts = posted[r].geometry->parts();
    for (std::size_t p = 0; p < parts.size(); ++p) {
      sources[name_of(posted[r], parts[p], posted[r].geometry->has_records())].push_back({r, p});
    }
  }
  std::vector<ArrayName> mine;
  for (const auto& [name, ignored] : sources) mine.push_back(name);
  arrays_ = union_of_ranks(comm, std::move(mine));

  std::vector<ArrayPlace> places;
  for (const ArrayName& array : arrays_) places.push_back(place_of(array));
  const FileDomain domain(places, aggregation.padding);
  lies_.assign(domain.arrays().begin(), domain.arrays().end());
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    Item item;
    item.array = domain.array_at(places[i]);
    if (const auto found = sources.find(arrays_[i]); found != sources.end()) {
      item.sources = std::move(found->second);
    }
    stage(item, puts);
    for (const Piece& piece : pieces(item)) {
      distinct_bytes_ += piece.length * lies_[item.array].place.element_bytes;
    }
    items_.push_back(std::move(item));
  }
  some_rank_stages_ = comm.any(
      std::any_of(items_.begin(), items_.end(), [](const Item& item) { return item.staged; }));
  if (!puts || comm.size() == 1) {
    flush_ = plan(comm, domain, aggregation, false);
    return;
  }
  try {
    flush_ = plan(comm, domain, aggregation, true);
  } catch (const InputError&) {  // thrown on all ranks
    leave_to_highest_rank(comm, domain);
    flush_ = plan(comm, domain, aggregation, false);
  }
}

std::span<const Piece> RequestPlan::pieces(const Item& item) const {
  if (item.own_pieces) return *item.own_pieces;
  if (item.sources.empty()) return {};
  const Source& source = item.sources.front();
  return geometries_[source.request]->parts()[source.part].pieces;
}

// Several requests for one array become one.
void RequestPlan::stage(Item& item, bool puts) {
  const auto part_of = [&](const Source& source) -> const Geometry::Part& {
    return geometries_[source.request]->parts()[source.part];
  };
  if (item.sources.empty()) return;
  if (item.sources.size() == 1 && !part_of(item.sources.front()).repeats) return;
  item.staged = true;
  std::vector<Asked> asked;
  for (const Source& source : item.sources) {
    for (const Piece& piece : part_of(source).pieces) {
      asked.push_back(
          {{piece.file, item.staged_elements, piece.length}, {source.request, piece.buffer}});
      item.staged_elements += piece.length;
    }
  }
  item.own_pieces = std::make_shared<const std::vector<Piece>>(
      last_wins(std::move(asked), [&](const Piece& has, const Piece& has_not, Run run) {
        if (puts) return;
        item.copies.push_back({has.buffer + (run.offset - has.file),
                               has_not.buffer + (run.offset - has_not.file), run.length});
      }));
}

FlushPlan RequestPlan::plan(const Comm& comm, const FileDomain& domain,
                            const Aggregation& aggregation, bool refuse_overlaps) const {
  std::map<std::pair<const Piece*, std::uint64_t>, std::size_t> first_with;
  std::vector<std::size_t> first_alike;
  for (const Item& item : items_) {
    const std::uint64_t elements = domain.arrays()[item.array].place.elements;
    first_alike.push_back(
        first_with.try_emplace({pieces(item).data(), elements}, first_alike.size()).first->second);
  }
  const std::vector<std::size_t> map_of = agreed_maps(comm, first_alike);
  std::vector<PlanMap> maps;
  std::vector<PlanItem> items;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    items.push_back({items_[i].array, map_of[i]});
    if (map_of[i] < maps.size()) continue;
    maps.push_back({pieces(items_[i]), domain.arrays()[items_[i].array].place.elements, ""});
  }
  return FlushPlan(comm, domain, std::move(maps), std::move(items),
                   domain.cut(aggregation.ranks.size(), aggregation.alignment), aggregation.ranks,
                   refuse_overlaps);
}

void RequestPlan::leave_to_highest_rank(const Comm& comm, const FileDomain& domain) {
  std::vector<HeldArray> held;
  for (const Item& item : items_) {
    held.push_back({pieces(item), domain.arrays()[item.array].place.elements});
  }
  auto counting = resolve_overlaps(comm, held);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    std::uint64_t before = 0, after = 0;
    for (const Piece& piece : pieces(items_[i])) before += piece.length;
    for (const Piece& piece : counting[i]) after += piece.length;
    if (before == after) continue;
    items_[i].own_pieces = std::make_shared<const std::vector<Piece>>(std::move(counting[i]));
  }
}

/// Calls move(in the requests' memory, in the staging, bytes).
template <class Move>
void RequestPlan::for_each_staged(std::span<const Posted> posted, const FileDomain& domain,
                                  std::vector<std::byte>& staging, const Move& move) const {
  std::byte* at = staging.data();
  for (const Item& item : items_) {
    if (!item.staged) continue;
    const std::uint64_t size = domain.arrays()[item.array].place.element_bytes;
    for (const Source& source : item.sources) {
      for (const Piece& piece : geometries_[source.request]->parts()[source.part].pieces) {
        move(posted[source.request].data + piece.buffer * size, at, piece.length * size);
        at += piece.length * size;
      }
    }
  }
}

std::vector<std::byte*> RequestPlan::buffers(std::span<const Posted> posted,
                                             const FileDomain& domain,
                                             std::vector<std::byte>& staging) const {
  std::uint64_t bytes = 0;
  for (const Item& item : items_) {
    bytes += item.staged_elements * domain.arrays()[item.array].place.element_bytes;
  }
  staging.resize(bytes);
  for_each_staged(posted, domain, staging,
                  [](const std::byte* request, std::byte* staged, std::uint64_t count) {
                    std::memcpy(staged, request, count);
                  });
  std::vector<std::byte*> buffers;
  std::byte* at = staging.data();
  for (const Item& item : items_) {
    if (item.staged) {
      buffers.push_back(at);
      at += item.staged_elements * domain.arrays()[item.array].place.element_bytes;
    } else {
      buffers.push_back(item.sources.empty() ? nullptr : posted[item.sources.front().request].data);
    }
  }
  return buffers;
}

void RequestPlan::distribute(std::span<const Posted> posted, const FileDomain& domain,
                             std::vector<std::byte>& staging) const {
  std::byte* at = staging.data();
  for (const Item& item : items_) {
    if (!item.staged) continue;
    const std::uint64_t size = domain.arrays()[item.array].place.element_bytes;
    for (const Copy& copy : item.copies) {
      std::memcpy(at + copy.to * size, at + copy.from * size, copy.length * size);
    }
    at += item.staged_elements * size;
  }
  for_each_staged(posted, domain, staging,
                  [](std::byte* request, const std::byte* staged, std::uint64_t count) {
                    std::memcpy(request, staged, count);
                  });
}

std::uint64_t RequestPlan::memory() const {
  std::uint64_t bytes = flush_.memory() + key_.entries.size() * sizeof(RequestKey::Entry);
  for (const Item& item : items_) {
    bytes += sizeof item + item.sources.size() * sizeof(Source) + item.copies.size() * sizeof(Copy);
    if (item.own_pieces) bytes += item.own_pieces->size() * sizeof(Piece);
  }
  return bytes;
}

}  // namespace slabmark::dropin
