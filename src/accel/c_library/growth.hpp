#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "accel/c_library/api/rearrange_format.h"
#include "accel/c_library/request.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::rearrange {

/// How many records a file has when a flush is written, and an element by which its library can be
/// told: one that the flush writes anyway.
struct Growth {
  std::int64_t records = 0;  ///< 0: the flush writes none
  int variable = 0;
  int rank = 0;                             ///< that has the element
  std::optional<slabmark_element> element;  ///< on that rank
  bool is_new = false;                      ///< not all ranks know of so many records
};

/// Has all ranks choose the rank with the element, by one maximum of their offers.
class GrowthOffer {
 public:
  /// `requests` are the same on all ranks, but for their data, and outlive this.
  GrowthOffer(const Comm& comm, const Requests& requests);

  std::int64_t value() const { return value_; }
  Growth chosen(std::int64_t greatest) const;

 private:
  static constexpr std::int64_t none = INT64_MIN;

  /// All ranks may have an element of a request to offer, and the holes between them are one more.
  std::int64_t candidates_per_item() const { return comm_.size() + 1; }
  std::int64_t best() const;

  const Comm& comm_;
  std::vector<const Request*> growing_;
  std::int64_t value_;
};

}  // namespace slabmark::rearrange
