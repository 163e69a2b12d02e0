#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/geometry/element_type.hpp"
#include "core/geometry/extent.hpp"

namespace slabmark {

struct Dimension {
  std::string name;
  std::uint64_t length = 0;
};

/// A text that describes a file or an array in it.
struct Attribute {
  std::string name;
  std::string text;  ///< not empty
};

/// A named n-D array in a file. `dimensions` are in C order (slowest first) and do not contain
/// time.
struct Dataset {
  std::string name;
  ElementType type = ElementType::float64;
  std::vector<Dimension> dimensions;
  bool has_time = false;        ///< an unlimited time dimension stands before the others
  std::optional<Extent> chunk;  ///< one entry per dimension, without time (which has chunk 1)
  std::vector<Attribute> attributes = {};  ///< for formats that have them

  Extent extent() const;  ///< lengths of `dimensions`
};

}  // namespace slabmark
