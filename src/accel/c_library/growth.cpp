#include "accel/c_library/growth.hpp"

#include <algorithm>

namespace slabmark::rearrange {

// The last record first, and of that the last call, whose elements stay.
GrowthOffer::GrowthOffer(const Comm& comm, const Requests& requests) : comm_(comm) {
  for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
    if (request->writes && request->frame >= 0 && request->place.elements > 0) {
      growing_.push_back(&*request);
    }
  }
  std::ranges::stable_sort(growing_, std::ranges::greater(), &Request::frame);
  value_ = best();
}

/// The first request of which this rank has an element, as a number that is greater for an earlier
/// one, and then for a lower rank. The root also has the holes, where they are filled and no rank
/// has an element.
std::int64_t GrowthOffer::best() const {
  const std::int64_t holes = candidates_per_item() - 1;
  for (std::size_t i = 0; i < growing_.size(); ++i) {
    const std::int64_t first = -static_cast<std::int64_t>(i) * candidates_per_item();
    if (!growing_[i]->decomposition->pieces()->empty()) return first - comm_.rank();
    if (growing_[i]->has_fill && comm_.is_root()) return first - holes;
  }
  return none;
}

Growth GrowthOffer::chosen(std::int64_t greatest) const {
  if (greatest == none) return {};
  const Request& request = *growing_[static_cast<std::size_t>(-greatest / candidates_per_item())];
  const auto candidate = static_cast<int>(-greatest % candidates_per_item());
  const bool fills = candidate == candidates_per_item() - 1;
  Growth growth{request.frame + 1, request.variable, fills ? 0 : candidate, std::nullopt};
  if (comm_.rank() != growth.rank) return growth;
  if (fills) {
    growth.element = {0, request.fill.data()};
  } else {
    const Piece& piece = request.decomposition->pieces()->front();
    growth.element = {static_cast<std::int64_t>(piece.file),
                      request.data + piece.buffer * request.place.element_bytes};
  }
  return growth;
}

}  // namespace slabmark::rearrange
