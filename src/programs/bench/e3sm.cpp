#include <fmt/format.h>

#include "bench/map/map_pattern.hpp"
#include "bench/pattern/output_table.hpp"
#include "core/command_line/command_line.hpp"
#include "programs/bench/pattern_command.hpp"

namespace slabmark::bench_program {

namespace {

/// Whole output files of E3SM.
class E3smCommand : public PatternCommand {
 public:
  std::string name() const override { return "e3sm"; }
  std::string help() const override { return "A whole output file of E3SM on its decomposition"; }

  void add_options(Command& command) override {
    command
        .add_text("--case", "NAME", request_.output,
                  fmt::format("Output file: {}", fmt::join(output_table_names(), ", ")))
        .required();
    command
        .add_text("--map", "FILE", request_.path,
                  "Decomposition file (PIO text, NetCDF or HDF5) with the maps of the case")
        .required();
    command.add_count("--steps", request_.records, "Time steps", rounds_of_pattern)
        .retired("--records");
    add_type(command, "--type", request_.real, "Element type of real variables",
             {ElementType::float64, ElementType::float32})
        .retired("--real");
  }

  void check() override { find_output_table(request_.output); }

  bool takes_writers() const override { return true; }
  void set_writers(std::uint64_t writers) override { request_.writers = static_cast<int>(writers); }

  BuiltPattern build(const Comm& comm, bool for_reading) override {
    request_.with_neighbours = for_reading;
    MapPattern pattern = make_output_map_pattern(comm, request_);
    return {std::move(pattern.mine), std::move(pattern.neighbours), std::move(pattern.setup),
            pattern.is_shared};
  }

 private:
  OutputPatternRequest request_;
};

}  // namespace

std::unique_ptr<PatternCommand> make_e3sm_command() { return std::make_unique<E3smCommand>(); }

}  // namespace slabmark::bench_program
