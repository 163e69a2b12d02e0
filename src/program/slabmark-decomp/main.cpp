// slabmark-decomp info | check | convert | generate: decomposition files, see
// docs/decompositions.md.

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "parallel/agree.hpp"
#include "parallel/program.hpp"
#include "program/slabmark-decomp/command_line.hpp"
#include "program/slabmark-decomp/commands.hpp"

namespace slabmark::decomp {

namespace {

std::string joined(int argc, char** argv) {
  std::string text = "slabmark-decomp";
  for (int i = 1; i < argc; ++i) text += fmt::format(" {}", argv[i]);
  return text;
}

/// Converting and generating are work for one rank; the others wait.
void make_files(const CommandLine& line) {
  const OutputOptions output = line.output_options();
  if (line.convert->parsed()) {
    convert(line.inputs, output);
  } else {
    write_generated(line.generated(), output);
  }
}

ExitStatus run(const Comm& world, int argc, char** argv) {
  CommandLine line;
  if (const auto help = parse_command_line(line.app, argc, argv)) {
    if (world.is_root()) fmt::print("{}", *help);
    return ExitStatus::good;
  }
  line.require_command();
  line.output.command_line = joined(argc, argv);
  if (line.info->parsed()) return info(world, line.info_options());
  if (line.check->parsed()) return check(world, line.inputs.front());
  agreed(world, [&] {
    if (world.is_root()) make_files(line);
  });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::decomp

int main(int argc, char** argv) {
  return slabmark::run_program(argc, argv, "slabmark-decomp", [&](const slabmark::Comm& world) {
    return slabmark::decomp::run(world, argc, argv);
  });
}
