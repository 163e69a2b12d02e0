#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "accel/pnetcdf_dropin/geometry.hpp"
#include "collective/exchange/file_domain.hpp"
#include "collective/plan_cache.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::dropin {

/// A request of this rank, with its elements one after another as the variable has them.
struct Posted {
  int variable = 0;
  GeometryPtr geometry;
  std::uint64_t first_record = 0;
  std::byte* data = nullptr;
};

/// Requests apart from the memory that they are for, and from where among the records they begin.
struct RequestKey {
  struct Entry {
    int variable;
    const Geometry* geometry;
    std::int64_t record;  ///< from the lowest on
    bool operator==(const Entry&) const = default;
  };
  static constexpr std::int64_t no_records = std::numeric_limits<std::int64_t>::max();

  explicit RequestKey(std::span<const Posted> posted);

  std::int64_t lowest_record = no_records;
  std::vector<Entry> entries;
};

/// An array of the file: a variable, or a record of one.
struct ArrayName {
  static constexpr std::int64_t no_record = -1;

  std::int64_t variable = 0;
  std::int64_t record = no_record;
  auto operator<=>(const ArrayName&) const = default;
};

/// Where an array lies in the file.
using PlaceOf = std::function<ArrayPlace(ArrayName)>;

/// The requests that a plan was made for. It serves again where all ranks post the same once more,
/// in other records or in another file in which the variables lie alike.
class PlannedRequests {
 public:
  /// Collective, since ranks ask for different arrays.
  PlannedRequests(const Comm& comm, std::span<const Posted> posted);

  /// Records by which requests lie further on than those that the plan was made for; any() where
  /// this rank asks for no record, none() where the plan is not for these requests.
  std::int64_t shift_of(const RequestKey& key) const;
  static constexpr std::int64_t none() { return std::numeric_limits<std::int64_t>::min(); }
  static constexpr std::int64_t any() { return std::numeric_limits<std::int64_t>::max(); }

  /// Where the arrays of all ranks lie, `shift` records further on.
  std::vector<ArrayPlace> places(std::int64_t shift, const PlaceOf& place_of) const;

  /// The shares of this rank in these arrays, for a plan.
  std::vector<collective::Item> items(std::span<const Posted> posted, const FileDomain& domain,
                                      std::span<const ArrayPlace> places) const;

  std::uint64_t memory() const;

 private:
  RequestKey key_;                       ///< of this rank
  std::vector<GeometryPtr> geometries_;  ///< that the key names
  std::vector<ArrayName> arrays_;        ///< of all ranks, ascending
};

using PlanCache = collective::PlanCache<PlannedRequests>;

}  // namespace slabmark::dropin
