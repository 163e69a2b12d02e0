#include "capture/replay/pnetcdf/places.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace slabmark {

const NetcdfPlace& NetcdfPlaces::of(const CapturedEvent& event) {
  if (event.selection == CapturedEvent::Selection::list) return of_list(event);
  box_ = {};
  box_.start.assign(event.rank, 0);
  box_.count.assign(event.rank, 0);
  if (event.selection == CapturedEvent::Selection::box) {
    box_.start.assign(event.origin.begin(), event.origin.end());
    box_.count.assign(event.counts.begin(), event.counts.end());
  } else if (event.selection == CapturedEvent::Selection::all) {
    const Json extent = recorded_.definition(event.dataset).value("extent", Json::array());
    for (std::size_t d = 0; d < event.rank; ++d) box_.count[d] = extent.at(d).get<MPI_Offset>();
  }
  for (const MPI_Offset count : box_.count) box_.elements *= count;
  return box_;
}

MPI_Offset NetcdfPlaces::elements_of(const CapturedEvent& event) {
  return event.selection == CapturedEvent::Selection::nothing ? 0 : of(event).elements;
}

NetcdfPlaces::KnownList NetcdfPlaces::taken_apart(std::uint64_t list) const {
  const BoxArray boxes = recorded_.lists.get(list);
  const std::size_t rank = boxes.rank;
  KnownList made;
  made.origin.assign(rank, 0);
  made.place.elements = static_cast<MPI_Offset>(boxes.elements());
  made.numbers.resize(2 * rank * boxes.count);
  for (std::size_t i = 0; i < boxes.count; ++i) {
    MPI_Offset* const at = made.numbers.data() + 2 * rank * i;
    std::copy_n(boxes.starts.data() + i * rank, rank, at);
    std::copy_n(boxes.counts.data() + i * rank, rank, at + rank);
    made.place.starts.push_back(at);
    made.place.counts.push_back(at + rank);
  }
  if (!boxes.strides.empty()) {
    made.place.count.assign(boxes.counts.begin(), boxes.counts.end());
    made.place.stride.assign(boxes.strides.begin(), boxes.strides.end());
  }
  return made;
}

const NetcdfPlace& NetcdfPlaces::of_list(const CapturedEvent& event) {
  auto known = lists_.find(event.list);
  if (known == lists_.end()) {
    known = lists_.emplace(event.list, taken_apart(event.list)).first;
  }
  auto& [place, numbers, origin] = known->second;
  if (origin.size() != event.origin.size()) {
    throw InputError(recorded_.lists.place() +
                     " are damaged: one has other dimensions than its dataset.");
  }
  if (origin != event.origin) {
    for (MPI_Offset* const start : place.starts) {
      for (std::size_t d = 0; d < origin.size(); ++d) start[d] += event.origin[d] - origin[d];
    }
    origin = event.origin;
  }
  if (!place.stride.empty()) place.start.assign(event.origin.begin(), event.origin.end());
  return place;
}

}  // namespace slabmark
