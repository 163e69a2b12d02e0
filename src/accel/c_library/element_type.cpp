#include "accel/c_library/element_type.hpp"

#include <array>
#include <cstddef>

namespace slabmark::rearrange {

namespace {

struct Entry {
  const char* name;
  std::uint64_t bytes;
};

/// By the number of the type.
constexpr std::array<Entry, 11> types = {{{"no type", 0},
                                          {"int8", 1},
                                          {"uint8", 1},
                                          {"int16", 2},
                                          {"uint16", 2},
                                          {"int32", 4},
                                          {"uint32", 4},
                                          {"int64", 8},
                                          {"uint64", 8},
                                          {"float32", 4},
                                          {"float64", 8}}};

const Entry& entry_of(slabmark_type type) {
  const auto number = static_cast<std::size_t>(type);
  return types[number < types.size() ? number : 0];
}

}  // namespace

std::uint64_t size_of(slabmark_type type) { return entry_of(type).bytes; }

bool are_alike(slabmark_type a, slabmark_type b) {
  return a == b || (size_of(a) == 1 && size_of(b) == 1);
}

const char* name_of(slabmark_type type) { return entry_of(type).name; }

}  // namespace slabmark::rearrange
