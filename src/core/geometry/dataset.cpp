#include "core/geometry/dataset.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

struct TypeEntry {
  ElementType type;
  std::string_view name;
  std::size_t size;
};

constexpr TypeEntry types[] = {
    {ElementType::uint8, "uint8", 1},     {ElementType::int32, "int32", 4},
    {ElementType::int64, "int64", 8},     {ElementType::float32, "float32", 4},
    {ElementType::float64, "float64", 8}, {ElementType::character, "char", 1},
    {ElementType::int8, "int8", 1},       {ElementType::int16, "int16", 2},
    {ElementType::uint16, "uint16", 2},   {ElementType::uint32, "uint32", 4},
    {ElementType::uint64, "uint64", 8},
};

const TypeEntry& entry_of(ElementType type) {
  for (const TypeEntry& entry : types) {
    if (entry.type == type) return entry;
  }
  throw InputError(fmt::format("There is no element type {}.", static_cast<int>(type)));
}

}  // namespace

std::size_t size_of(ElementType type) { return entry_of(type).size; }

std::string_view name_of(ElementType type) { return entry_of(type).name; }

std::optional<ElementType> find_element_type(std::string_view name) {
  for (const TypeEntry& entry : types) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

Extent Dataset::extent() const {
  Extent lengths;
  lengths.reserve(dimensions.size());
  for (const Dimension& dimension : dimensions) lengths.push_back(dimension.length);
  return lengths;
}

}  // namespace slabmark
