#include "program/slabmark-bench/pattern_command.hpp"

namespace slabmark::bench_program {

std::vector<std::unique_ptr<PatternCommand>> pattern_commands() {
  std::vector<std::unique_ptr<PatternCommand>> commands;
  commands.push_back(make_decomp_command());
  commands.push_back(make_e3sm_command());
  return commands;
}

}  // namespace slabmark::bench_program
