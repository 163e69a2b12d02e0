#include "programs/bench/pattern_command.hpp"

#include <utility>

#include "core/command_line/command_line.hpp"

namespace slabmark::bench_program {

BuiltPattern PatternCommand::build(const Comm& comm, bool for_reading) {
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  BuiltPattern built{part(rank, ranks), std::nullopt, {}};
  if (for_reading) built.read = part((rank + 1) % ranks, ranks);
  return built;
}

OptionHandle add_type(Command& command, const std::string& names, ElementType& value,
                      const std::string& help, std::initializer_list<ElementType> types) {
  std::vector<Word<ElementType>> words;
  for (const ElementType type : types) words.emplace_back(name_of(type), type);
  return command.add_word(names, value, help, std::move(words));
}

std::vector<std::unique_ptr<PatternCommand>> pattern_commands() {
  std::vector<std::unique_ptr<PatternCommand>> commands;
  commands.push_back(make_decomp_command());
  commands.push_back(make_slice_command());
  commands.push_back(make_transfer_command());
  commands.push_back(make_checkpoint_command());
  commands.push_back(make_e3sm_command());
  commands.push_back(make_captured_command());
  for (auto& command : make_workload_commands()) commands.push_back(std::move(command));
  return commands;
}

}  // namespace slabmark::bench_program
