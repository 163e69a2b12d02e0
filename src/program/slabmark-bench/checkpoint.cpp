#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "pattern/checkpoint_pattern.hpp"
#include "program/slabmark-bench/pattern_command.hpp"

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
    app.add_option("--processor", processor_, "Grid of processes x,y,z; as many as ranks")
        ->required();
    app.add_option("--domain", domain_, "Elements x,y,z that each process owns")->required();
    app.add_option("--chunk", chunk_,
                   "Chunk x,y,z of the dataset, for HDF5 (default: one time step a chunk)");
    app.add_option("--time", time_, "Time steps (default 1)");
  }

  void check() override {
    grid_.processor = parse_triple(processor_, "--processor");
    grid_.domain = parse_triple(domain_, "--domain");
    if (!chunk_.empty()) grid_.chunk = parse_triple(chunk_, "--chunk");
    grid_.steps = parse_count(time_, "--time", 1);
  }

  BuiltPattern build(const Comm& comm, bool for_reading) override {
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    const auto size = static_cast<std::uint64_t>(comm.size());
    if (grid_.blocks() != size) {
      throw InputError(fmt::format(
          "--processor {} makes {} processes, but there are {} ranks; start as many ranks.",
          processor_, grid_.blocks(), size));
    }
    BuiltPattern built;
    built.written = make_checkpoint_pattern(grid_, rank, size);
    if (for_reading) built.read = make_checkpoint_pattern(grid_, (rank + 1) % size, size);
    return built;
  }

 private:
  CheckpointGrid grid_;
  std::string processor_;
  std::string domain_;
  std::string chunk_;
  std::string time_ = "1";
};

}  // namespace

std::unique_ptr<PatternCommand> make_checkpoint_command() {
  return std::make_unique<CheckpointCommand>();
}

}  // namespace slabmark::bench_program
