#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/geometry/extent.hpp"

namespace slabmark {

enum class ElementType {
  uint8,
  int32,
  int64,
  float32,
  float64,
  character,
  // Of captured programs.
  int8,
  int16,
  uint16,
  uint32,
  uint64
};

std::size_t size_of(ElementType type);       ///< bytes of one element
std::string_view name_of(ElementType type);  ///< "float64"; "char" is a character of a text

/// The type of that name, or nothing.
std::optional<ElementType> find_element_type(std::string_view name);

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
