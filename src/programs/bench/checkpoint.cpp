#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bench/pattern/checkpoint_pattern.hpp"
#include "core/base/command_line.hpp"
#include "core/base/error.hpp"
#include "programs/bench/pattern_command.hpp"

namespace slabmark::bench_program {

namespace {

/// A block a rank, once a time step.
class CheckpointCommand : public PatternCommand {
 public:
  std::string name() const override { return "checkpoint"; }
  std::string help() const override {
    return "Checkpoints of a simulation on a 3-D grid of processes, as seism-core-slice writes";
  }

  void add_options(CLI::App& app) override {
    add_triple(app, "--processor", grid_.processor, "Grid of processes; as many as ranks", false)
        ->required();
    add_triple(app, "--domain", grid_.domain, "Elements that each process owns", false)->required();
    add_triple(app, "--chunk", grid_.chunk,
               "Chunk of the dataset, for HDF5 (default: one time step a chunk)", false);
    add_count(app, "--time", grid_.steps, "Time steps", rounds_of_pattern);
  }

  Pattern part(std::uint64_t rank, std::uint64_t ranks) override {
    if (grid_.blocks() != ranks) {
      throw InputError(fmt::format(
          "--processor {} makes {} processes, but there are {} ranks; start as many ranks.",
          fmt::join(grid_.processor, ","), grid_.blocks(), ranks));
    }
    return make_checkpoint_pattern(grid_, rank, ranks);
  }

 private:
  CheckpointGrid grid_;
};

}  // namespace

std::unique_ptr<PatternCommand> make_checkpoint_command() {
  return std::make_unique<CheckpointCommand>();
}

}  // namespace slabmark::bench_program
