#include "accel/pnetcdf_dropin/plan.hpp"

#include <algorithm>

#include "collective/exchange/union_of_ranks.hpp"

namespace slabmark::dropin {

namespace {

ArrayName name_of(const Posted& posted, const Geometry::Part& part) {
  return {posted.variable, posted.geometry->has_records()
                               ? static_cast<std::int64_t>(posted.first_record + part.record)
                               : ArrayName::no_record};
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

PlannedRequests::PlannedRequests(const Comm& comm, std::span<const Posted> posted) : key_(posted) {
  std::vector<ArrayName> mine;
  for (const Posted& one : posted) {
    geometries_.push_back(one.geometry);
    for (const Geometry::Part& part : one.geometry->parts()) mine.push_back(name_of(one, part));
  }
  arrays_ = union_of_ranks(comm, std::move(mine));
}

std::int64_t PlannedRequests::shift_of(const RequestKey& key) const {
  if (key.entries != key_.entries) return none();
  if (key_.lowest_record == RequestKey::no_records) return any();
  return key.lowest_record - key_.lowest_record;
}

std::vector<ArrayPlace> PlannedRequests::places(std::int64_t shift, const PlaceOf& place_of) const {
  std::vector<ArrayPlace> places;
  for (ArrayName array : arrays_) {
    if (array.record != ArrayName::no_record) array.record += shift;
    places.push_back(place_of(array));
  }
  return places;
}

std::vector<collective::Item> PlannedRequests::items(std::span<const Posted> posted,
                                                     const FileDomain& domain,
                                                     std::span<const ArrayPlace> places) const {
  std::vector<collective::Item> items;
  for (const ArrayPlace& place : places) items.push_back({domain.array_at(place), {}, ""});
  for (std::size_t r = 0; r < posted.size(); ++r) {
    for (const Geometry::Part& part : posted[r].geometry->parts()) {
      const auto array = std::ranges::lower_bound(arrays_, name_of(posted[r], part));
      items[static_cast<std::size_t>(array - arrays_.begin())].sources.push_back(
          {r, {posted[r].geometry, &part.pieces}, part.repeats});
    }
  }
  return items;
}

std::uint64_t PlannedRequests::memory() const {
  return key_.entries.size() * sizeof(RequestKey::Entry) +
         geometries_.size() * sizeof(GeometryPtr) + arrays_.size() * sizeof(ArrayName);
}

}  // namespace slabmark::dropin
