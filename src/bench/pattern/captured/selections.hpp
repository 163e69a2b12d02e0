#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "bench/pattern/pattern.hpp"
#include "capture/read/captured_walk.hpp"
#include "core/geometry/piece.hpp"
#include "core/json/json.hpp"

namespace slabmark {

/// How the elements of a dataset are moved.
struct ElementShape {
  ElementType type = ElementType::uint8;
  std::uint64_t bytes = 0;  ///< of one more dimension; 0: there is none
};

/// Of a dataset of the pattern file at `path`. Throws InputError where the type has no size.
ElementShape element_of(const Json& definition, const std::string& path);

/// The elements of a selection, each once: in the order of calls, or ascending if some are selected
/// more often.
struct EachOnce {
  SelectionPtr selection;
  /// The other case: of all elements in the order of calls (`file`) where they are in `selection`.
  std::vector<Piece> places;
};

/// Makes selections, the same object for the same one.
class Selections {
 public:
  Selections(const DatasetShapes& shapes, const std::map<std::uint64_t, ElementShape>& elements)
      : shapes_(shapes), elements_(elements) {}

  SelectionPtr all(std::uint64_t definition) {
    SelectionPtr& known = all_[extent_of(definition)];
    if (!known) known = select_all(extent_of(definition));
    return known;
  }
  SelectionPtr none(std::uint64_t definition) {
    SelectionPtr& known = none_[extent_of(definition)];
    if (!known) known = select_none(extent_of(definition));
    return known;
  }

  /// Boxes as PlacedBoxes::numbers has them.
  SelectionPtr of(std::uint64_t definition, std::size_t rank, std::vector<std::int64_t> numbers);

  /// Several selections of one shape, one after another.
  const EachOnce& together(const std::vector<SelectionPtr>& parts);

  Extent extent_of(std::uint64_t definition) const;

 private:
  const DatasetShapes& shapes_;
  const std::map<std::uint64_t, ElementShape>& elements_;
  std::map<Extent, SelectionPtr> all_, none_;
  std::map<std::tuple<Extent, std::uint64_t, std::uint64_t>, SelectionPtr> known_;
  std::map<std::vector<SelectionPtr>, EachOnce> together_;
};

}  // namespace slabmark
