#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace slabmark {

// X(enumerator, name, C++ type): the one list of element types. The names stand in pattern files,
// records and options, the numbers in files of the private layout: new types go to the end. A
// "char" is a character of a text.
#define SLABMARK_FOR_EACH_ELEMENT_TYPE(X) \
  X(uint8, "uint8", std::uint8_t)         \
  X(int32, "int32", std::int32_t)         \
  X(int64, "int64", std::int64_t)         \
  X(float32, "float32", float)            \
  X(float64, "float64", double)           \
  X(character, "char", char)              \
  X(int8, "int8", std::int8_t)            \
  X(int16, "int16", std::int16_t)         \
  X(uint16, "uint16", std::uint16_t)      \
  X(uint32, "uint32", std::uint32_t)      \
  X(uint64, "uint64", std::uint64_t)

#define SLABMARK_ENUMERATOR(type, name, Value) type,
enum class ElementType { SLABMARK_FOR_EACH_ELEMENT_TYPE(SLABMARK_ENUMERATOR) };
#undef SLABMARK_ENUMERATOR

struct ElementTypeInfo {
  ElementType type;
  std::string_view name;
  std::size_t size;  ///< bytes of one element
};

#define SLABMARK_ROW(type, name, Value) ElementTypeInfo{ElementType::type, name, sizeof(Value)},
/// In the order of their numbers.
inline constexpr std::array element_types = {SLABMARK_FOR_EACH_ELEMENT_TYPE(SLABMARK_ROW)};
#undef SLABMARK_ROW

constexpr std::size_t size_of(ElementType type) {
  return element_types.at(static_cast<std::size_t>(type)).size;
}
constexpr std::string_view name_of(ElementType type) {
  return element_types.at(static_cast<std::size_t>(type)).name;
}

/// The type of that name, or nothing.
constexpr std::optional<ElementType> find_element_type(std::string_view name) {
  for (const ElementTypeInfo& info : element_types) {
    if (info.name == name) return info.type;
  }
  return std::nullopt;
}

/// Calls `work` with a value of the C++ type that `type` stands for.
template <class Work>
constexpr auto with_type(ElementType type, const Work& work) {
#define SLABMARK_CASE(type, name, Value) \
  case ElementType::type:                \
    return work(Value{});
  switch (type) { SLABMARK_FOR_EACH_ELEMENT_TYPE(SLABMARK_CASE) }
#undef SLABMARK_CASE
  return work(double{});  // never reached: the compiler counts numbers that are no type
}

/// The names that a library has for the element types.
template <class Name>
struct LibraryTypes {
  struct Row {
    ElementType type;
    Name name;
  };
  std::array<Row, element_types.size()> rows;

  constexpr Name at(ElementType type) const {
    return std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.type == type; })
        ->name;
  }
  /// The type of that name, or nothing.
  constexpr std::optional<ElementType> find(Name name) const {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
    return found == rows.end() ? std::nullopt : std::optional(found->type);
  }
};

}  // namespace slabmark
