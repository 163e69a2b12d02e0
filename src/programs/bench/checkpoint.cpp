#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bench/harness/block_reader.hpp"
#include "bench/pattern/checkpoint_pattern.hpp"
#include "core/base/error.hpp"
#include "core/command_line/command_line.hpp"
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

  void add_options(Command& command) override {
    command.add_triple("--grid-of-ranks", grid_.processor, "Ranks along each axis", false)
        .required()
        .retired("--processor");
    command.add_triple("--domain", grid_.domain, "Elements that each rank owns", false).required();
    command.add_triple("--chunk", grid_.chunk, "Chunk of the dataset, for HDF5", false)
        .default_text("one time step per chunk");
    command.add_count("--steps", grid_.steps, "Time steps", rounds_of_pattern).retired("--time");
  }

  bool takes_writers() const override { return true; }
  void set_writers(std::uint64_t writers) override { writers_ = writers; }

  Pattern part(std::uint64_t rank, std::uint64_t ranks) override {
    const std::uint64_t writers = writers_.value_or(ranks);
    if (grid_.blocks() != writers) {
      throw InputError(fmt::format("--grid-of-ranks {} needs {} ranks, but {} {}; make both equal.",
                                   fmt::join(grid_.processor, ","), grid_.blocks(),
                                   writers_ ? "--written-by names" : "the ranks started are",
                                   writers));
    }
    const std::uint64_t active = std::min(writers, ranks);
    if (rank >= active) return without_elements(make_checkpoint_pattern(grid_, 0, active));
    return make_checkpoint_pattern(grid_, rank, active);
  }

 private:
  CheckpointGrid grid_;
  std::optional<std::uint64_t> writers_;
};

}  // namespace

std::unique_ptr<PatternCommand> make_checkpoint_command() {
  return std::make_unique<CheckpointCommand>();
}

}  // namespace slabmark::bench_program
