#include "pattern/dataset.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark {
namespace {

[[noreturn]] void reject(ElementType type) {
  throw InputError(fmt::format("There is no element type {}.", static_cast<int>(type)));
}

}  // namespace

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::uint8:
      return 1;
    case ElementType::int32:
      return 4;
    case ElementType::int64:
      return 8;
    case ElementType::float32:
      return 4;
    case ElementType::float64:
      return 8;
  }
  reject(type);
}

std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::uint8:
      return "uint8";
    case ElementType::int32:
      return "int32";
    case ElementType::int64:
      return "int64";
    case ElementType::float32:
      return "float32";
    case ElementType::float64:
      return "float64";
  }
  reject(type);
}

Extent Dataset::extent() const {
  Extent lengths;
  lengths.reserve(dimensions.size());
  for (const Dimension& dimension : dimensions) lengths.push_back(dimension.length);
  return lengths;
}

}  // namespace slabmark
