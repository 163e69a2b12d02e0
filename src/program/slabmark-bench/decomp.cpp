#include "base/number.hpp"
#include "map/map_pattern.hpp"
#include "program/slabmark-bench/pattern_command.hpp"

namespace slabmark::bench_program {

namespace {

/// Variables that are laid out as a decomposition file says.
class DecompCommand : public PatternCommand {
 public:
  std::string name() const override { return "decomp"; }
  std::string help() const override { return "Variables on a recorded or generated decomposition"; }

  void add_options(CLI::App& app) override {
    app.add_option("--map", request_.path, "Decomposition file (NetCDF or PIO text)")->required();
    app.add_option("--map-index", map_index_,
                   "Use only this map of a file with several (1, 2, ...)");
    app.add_option("--variables", variables_, "Number of variables (default: one for each map)");
    app.add_option("--type", type_, "Element type (default float64)");
    app.add_option("--rounds", rounds_,
                   "Time records to write (default 1; more give a time dimension)");
  }

  void check() override {
    if (!map_index_.empty()) request_.only_map = parse_count(map_index_, "--map-index", 1) - 1;
    if (!variables_.empty())
      request_.variables = parse_count(variables_, "--variables", 1, 1'000'000);
    request_.rounds = parse_count(rounds_, "--rounds", 1);
    request_.type = parse_type(type_);
  }

  std::vector<std::string> inputs() const override { return {request_.path}; }

  BuiltPattern build(const Comm& comm, bool for_reading) override {
    request_.with_neighbours = for_reading;
    if (variables_.empty() && !request_.only_map) {
      request_.variables = open_map(comm, request_.path)->maps().size();
    }
    MapPattern pattern = make_map_pattern(comm, request_);
    return {std::move(pattern.mine), std::move(pattern.neighbours), std::move(pattern.setup)};
  }

 private:
  MapPatternRequest request_;
  std::string map_index_;
  std::string variables_;
  std::string type_ = "float64";
  std::string rounds_ = "1";
};

}  // namespace

std::unique_ptr<PatternCommand> make_decomp_command() { return std::make_unique<DecompCommand>(); }

}  // namespace slabmark::bench_program
