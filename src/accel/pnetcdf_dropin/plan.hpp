#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "accel/pnetcdf_dropin/geometry.hpp"
#include "collective/exchange/file_domain.hpp"
#include "collective/exchange/flush_plan.hpp"

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

/// How what all ranks posted goes to the file, or comes from there. It serves again where all ranks
/// post the same once more, in other records or in another file in which the variables lie alike.
class RequestPlan {
 public:
  /// Where an array lies in the file.
  using PlaceOf = std::function<ArrayPlace(ArrayName)>;

  struct Aggregation {
    std::span<const int> ranks;
    std::uint64_t alignment;  ///< of their ranges, in bytes
    std::uint64_t padding;    ///< most bytes between arrays that are nobody's
  };

  /// Collective. Of an element that a rank puts twice, the later request's stays; of one that
  /// several ranks put, the highest rank's.
  RequestPlan(const Comm& comm, std::span<const Posted> posted, bool puts, const PlaceOf& place_of,
              const Aggregation& aggregation);

  /// Records by which requests lie further on than those that the plan was made for; any() where
  /// this rank asks for no record, none() where the plan is not for these requests.
  std::int64_t shift_of(const RequestKey& key) const;
  static constexpr std::int64_t none() { return std::numeric_limits<std::int64_t>::min(); }
  static constexpr std::int64_t any() { return std::numeric_limits<std::int64_t>::max(); }

  /// The arrays of the plan, `shift` records further on.
  std::vector<ArrayName> arrays(std::int64_t shift) const;

  /// Where they lie. False if that is not alike, and the plan of no use.
  bool place(std::span<const ArrayName> arrays, const PlaceOf& place_of, std::uint64_t padding,
             FileDomain& domain) const;

  const FlushPlan& flush() const { return flush_; }

  /// Whether on some rank several requests share an item.
  bool some_rank_stages() const { return some_rank_stages_; }

  /// One buffer an item of flush(). Those that several requests share are in `staging`, which holds
  /// the elements already if they are put.
  std::vector<std::byte*> buffers(std::span<const Posted> posted, const FileDomain& domain,
                                  std::vector<std::byte>& staging) const;
  /// Hands on to the requests what was read into `staging`.
  void distribute(std::span<const Posted> posted, const FileDomain& domain,
                  std::vector<std::byte>& staging) const;

  /// Bytes of the elements that this rank asks for, each of which counts once.
  std::uint64_t distinct_bytes() const { return distinct_bytes_; }

  std::uint64_t memory() const;

 private:
  /// A part of a request.
  struct Source {
    std::size_t request, part;
  };
  struct Copy {
    std::uint64_t from, to, length;  ///< elements of the item's staging
  };
  struct Item {
    std::size_t array = 0;  ///< in the domain
    std::vector<Source> sources;
    std::shared_ptr<const std::vector<Piece>> own_pieces;  ///< null: those of the only source
    bool staged = false;
    std::uint64_t staged_elements = 0;
    std::vector<Copy> copies;  ///< of elements that are asked for more than once
  };
  std::span<const Piece> pieces(const Item& item) const;
  void stage(Item& item, bool puts);
  void leave_to_highest_rank(const Comm& comm, const FileDomain& domain);
  FlushPlan plan(const Comm& comm, const FileDomain& domain, const Aggregation& aggregation,
                 bool refuse_overlaps) const;
  template <class Move>
  void for_each_staged(std::span<const Posted> posted, const FileDomain& domain,
                       std::vector<std::byte>& staging, const Move& move) const;

  RequestKey key_;                       ///< of this rank
  std::vector<GeometryPtr> geometries_;  ///< by request
  std::vector<ArrayName> arrays_;        ///< of all ranks
  std::vector<Item> items_;              ///< one for each of them
  std::vector<FileDomain::Array> lies_;  ///< as the arrays lay when the plan was made
  bool some_rank_stages_ = false;
  std::uint64_t distinct_bytes_ = 0;
  FlushPlan flush_;
};

}  // namespace slabmark::dropin
