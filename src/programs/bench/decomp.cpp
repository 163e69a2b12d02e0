#include "bench/map/map_pattern.hpp"
#include "core/command_line/command_line.hpp"
#include "programs/bench/pattern_command.hpp"

namespace slabmark::bench_program {

namespace {

/// Variables that are laid out as a decomposition file says.
class DecompCommand : public PatternCommand {
 public:
  std::string name() const override { return "decomp"; }
  std::string help() const override { return "Variables on a recorded or generated decomposition"; }

  void add_options(Command& command) override {
    command
        .add_text("--map", "FILE", request_.path, "Decomposition file (PIO text, NetCDF or HDF5)")
        .required();
    command.add_count("--map-index", map_index_, "Use only this map of a file with several",
                      {.min = 1, .value = "K"});
    command.add_count("--variables", variables_, "Number of variables", variables_of_pattern)
        .default_text("one for each map");
    add_type(command, "--type", request_.type, "Element type");
    command
        .add_count("--steps", request_.rounds, "Time steps; several give a time dimension",
                   rounds_of_pattern)
        .retired("--rounds");
  }

  void check() override {
    if (map_index_) request_.only_map = *map_index_ - 1;
    request_.variables = variables_.value_or(1);
  }

  std::vector<std::string> inputs() const override { return {request_.path}; }

  bool takes_writers() const override { return true; }
  void set_writers(std::uint64_t writers) override { request_.writers = static_cast<int>(writers); }

  BuiltPattern build(const Comm& comm, bool for_reading) override {
    request_.with_neighbours = for_reading;
    if (!variables_ && !request_.only_map) {
      request_.variables = open_map(comm, request_.path)->maps().size();
    }
    MapPattern pattern = make_map_pattern(comm, request_);
    return {std::move(pattern.mine), std::move(pattern.neighbours), std::move(pattern.setup),
            pattern.is_shared};
  }

 private:
  MapPatternRequest request_;
  std::optional<std::uint64_t> map_index_;
  std::optional<std::uint64_t> variables_;
};

}  // namespace

std::unique_ptr<PatternCommand> make_decomp_command() { return std::make_unique<DecompCommand>(); }

}  // namespace slabmark::bench_program
