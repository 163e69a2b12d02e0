#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/map/map_source.hpp"
#include "core/base/error.hpp"
#include "core/geometry/bitmap.hpp"

namespace slabmark {

namespace {

/// The elements that were listed so far: as runs while those take less memory than one bit for each
/// element of the array, as bits from then on.
class Listed {
 public:
  explicit Listed(std::uint64_t elements) : elements_(elements) {}

  /// Returns an element that was listed before, if it is already known that there is one.
  std::optional<std::uint64_t> add(const RunList& runs) {
    if (bits_) return mark(runs);
    runs_.insert(runs_.end(), runs.begin(), runs.end());
    if (runs_.size() * sizeof(Run) <= elements_ / 8) return std::nullopt;
    bits_.emplace(elements_);
    return mark(std::exchange(runs_, {}));
  }

  std::optional<std::uint64_t> find_repeated() {
    sort_runs(runs_);
    return find_overlap(runs_);
  }

 private:
  std::optional<std::uint64_t> mark(const RunList& runs) {
    for (const Run& run : runs) {
      for (std::uint64_t element = run.offset; element < run.end(); ++element) {
        if (!bits_->set(element)) return element;
      }
    }
    return std::nullopt;
  }

  std::uint64_t elements_;
  RunList runs_;
  std::optional<Bitmap> bits_;
};

/// The ranks that list `element`, one entry for each time.
std::vector<std::uint64_t> owners_of(const MapSource& source, std::uint64_t element) {
  std::vector<std::uint64_t> owners;
  for (std::uint64_t rank = 0; rank < source.ranks; ++rank) {
    for (const Run& run : source.row(rank)) {
      if (run.offset <= element && element < run.end()) owners.push_back(rank);
    }
  }
  return owners;
}

[[noreturn]] void fail_repeated(const MapSource& source, std::uint64_t element) {
  const std::vector<std::uint64_t> owners = owners_of(source, element);
  const std::string by = owners.at(0) == owners.at(1)
                             ? fmt::format("twice by rank {}", owners[0])
                             : fmt::format("by rank {} and by rank {}", owners[0], owners[1]);
  throw InputError(
      fmt::format("Element {} of {} (counted from 0) is listed {}, so what is written there would "
                  "be a matter of "
                  "chance; the map must be made again.",
                  element, source.name, by));
}

}  // namespace

MapSurvey survey(const MapSource& source) {
  MapSurvey result;
  result.elements = element_count(source.dims);
  result.fewest = std::numeric_limits<std::uint64_t>::max();
  Listed listed(result.elements);
  for (std::uint64_t rank = 0; rank < source.ranks; ++rank) {
    const RunList runs = source.row(rank);
    const std::uint64_t owned = total_length(runs);
    result.listed += owned;
    result.most = std::max(result.most, owned);
    result.fewest = std::min(result.fewest, owned);
    if (const auto repeated = listed.add(runs)) fail_repeated(source, *repeated);
  }
  if (const auto repeated = listed.find_repeated()) fail_repeated(source, *repeated);
  return result;
}

}  // namespace slabmark
