#include "program/slabmark-bench/pattern_command.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark::bench_program {

ElementType parse_type(const std::string& text) {
  for (const ElementType type : {ElementType::uint8, ElementType::int32, ElementType::int64,
                                 ElementType::float32, ElementType::float64}) {
    if (text == name_of(type)) return type;
  }
  throw InputError(fmt::format(
      "--type '{}' is no element type; use uint8, int32, int64, float32 or float64.", text));
}

std::vector<std::unique_ptr<PatternCommand>> pattern_commands() {
  std::vector<std::unique_ptr<PatternCommand>> commands;
  commands.push_back(make_decomp_command());
  commands.push_back(make_e3sm_command());
  commands.push_back(make_slice_command());
  return commands;
}

}  // namespace slabmark::bench_program
