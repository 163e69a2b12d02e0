#include "program/slabmark-bench/pattern_command.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark::bench_program {

ElementType parse_type(const std::string& text) {
  if (const auto type = find_element_type(text)) return *type;
  throw InputError(fmt::format(
      "--type '{}' is no element type; use uint8, int32, int64, float32, float64 or char.", text));
}

std::vector<std::unique_ptr<PatternCommand>> pattern_commands() {
  std::vector<std::unique_ptr<PatternCommand>> commands;
  commands.push_back(make_decomp_command());
  commands.push_back(make_slice_command());
  commands.push_back(make_transfer_command());
  commands.push_back(make_checkpoint_command());
  commands.push_back(make_e3sm_command());
  return commands;
}

}  // namespace slabmark::bench_program
