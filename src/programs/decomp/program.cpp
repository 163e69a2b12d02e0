// slabmark decomp info | check | convert | generate: decomposition files, see
// docs/reference/decompositions.md.

#include "core/parallel/program.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/pattern/synthetic/f_decomposition.hpp"
#include "bench/pattern/synthetic/g_decomposition.hpp"
#include "bench/pattern/synthetic/i_decomposition.hpp"
#include "core/base/number.hpp"
#include "core/command_line/command_line.hpp"
#include "core/parallel/agree.hpp"
#include "programs/decomp/commands.hpp"
#include "programs/programs.hpp"

namespace slabmark::decomp {

namespace {

/// The options of all commands.
class DecompLine {
 public:
  DecompLine() {
    info_.add_argument("MAP", input_, "PIO text, NetCDF, HDF5 or a pattern file").required();
    info_.add_text("--json", "FILE", info_options_.json,
                   "Append one JSON document per line to this file; - prints it");
    info_.add_count("-n,--ranks", info_options_.ranks, "Number of ranks", {.min = 1})
        .default_text("as recorded");
    add_map_index(info_);
    check_.add_argument("MAP", input_, "PIO text, NetCDF, HDF5 or a pattern file").required();
    convert_.add_arguments("MAP", inputs_, "PIO text, NetCDF, HDF5 or a pattern file").required();
    add_output_options(convert_);
    generate_.call_commands("MODEL");
    add_f();
    add_i();
    add_g();
    for (Command* model : {&f_, &i_, &g_}) {
      model->add_count("-n,--ranks", ranks_, "Number of ranks", {.min = 1}).required();
      add_output_options(*model);
    }
  }

  /// Returns the help if it was asked for.
  std::optional<std::string> parse(int argc, const char* const* argv) {
    if (auto help = line_.parse(argc, argv)) return help;
    info_options_.map = output_.map;
    output_.command_line = "slabmark decomp";
    for (int i = 1; i < argc; ++i) output_.command_line += fmt::format(" {}", argv[i]);
    return std::nullopt;
  }

  ExitStatus run(const Comm& world) {
    if (info_.is_given()) return info(world, input_, info_options_);
    if (check_.is_given()) return check(world, input_);
    // Work for one rank; the others wait.
    agreed(world, [&] {
      if (!world.is_root()) return;
      convert_.is_given() ? convert(inputs_, output_) : write_generated(generated(), output_);
    });
    return ExitStatus::good;
  }

 private:
  void add_map_index(Command& command) {
    command
        .add_count("--map-index", output_.map, "Use only this map of a file with several",
                   {.min = 1, .value = "K"})
        .retired("--map");
  }

  void add_output_options(Command& command) {
    command
        .add_text("-o,--output", "FILE", output_.path,
                  "File to write: NAME.nc, NAME.dat, or a prefix for .dat files")
        .required();
    command
        .add_word<std::string>("--map-format", output_.format, "Format of the maps",
                               {{"dat", "dat"}, {"nc", "nc"}})
        .default_text("by the output's name")
        .retired("--format");
    command
        .add_word<std::string>("--map-layout", output_.layout,
                               "Layout of .nc files: single is that of June 2018",
                               {{"single", "single"}, {"many", "many"}, {"auto", "auto"}})
        .retired("--layout");
    add_map_index(command);
    command.add_flag("--overwrite", output_.may_overwrite,
                     "Replace output files that exist already");
  }

  void add_levels(Command& model, std::uint64_t& levels) {
    model.add_count("--levels", levels, "Vertical levels", {.min = 1});
  }

  void add_seed(Command& model, const char* help) { model.add_count("--seed", seed_, help); }

  void add_f() {
    f_.add_count("--ne", ne_, "Elements along an edge of a face (factors 2, 3, 5)", {.min = 1})
        .required();
    add_levels(f_, f_levels_);
    f_.add_word("--tie-break", tie_break_, "Since August 2018, or before",
                {{"encounter", TieBreak::encounter}, {"lowest", TieBreak::lowest}});
  }

  void add_i() {
    i_.add_count("--nlat", nlat_, "Rows of the grid", {.min = 1});
    i_.add_count("--nlon", nlon_, "Columns of the grid", {.min = 1});
    i_.add_parsed("--land-fraction", "NUMBER", {}, "Share of land",
                  [this](const std::string& text, const std::string& what) {
                    land_fraction_ = parse_real(text, what);
                  })
        .default_text("that of E3SM's grids");
    i_.add_count("--clumps", land_.clumps_per_rank, "Clumps per rank, as a rule one per thread",
                 {.min = 1});
    add_seed(i_, "Random seed of the land mask");
  }

  void add_g() {
    g_.add_count("--cells", cells_, "Cells of the mesh", {.min = 1}).required();
    add_levels(g_, ocean_.levels);
    g_.add_word("--locality", ocean_.locality, "Numbers of neighbors; scattered as on many ranks",
                {{"local", Locality::local}, {"scattered", Locality::scattered}});
    add_seed(g_, "Random seed of coastlines and numbering");
  }

  /// The decomposition that `generate` was asked for.
  SyntheticDecomposition generated() {
    if (f_.is_given()) return make_f_decomposition(*ne_, *ranks_, f_levels_, tie_break_);
    ocean_.seed = seed_;
    if (g_.is_given()) return make_g_decomposition(*cells_, *ranks_, ocean_);
    const double fraction = land_fraction_.value_or(usual_land_fraction(nlat_, nlon_));
    return make_i_decomposition(nlat_, nlon_, *ranks_, fraction, seed_, land_);
  }

  CommandLine line_{"slabmark decomp", "Looks at, checks, converts and makes decomposition files"};
  Command& info_ = line_.root().add_command(
      "info", "Print dimensions, coverage, requests and run lengths of a file's maps");
  Command& check_ = line_.root().add_command(
      "check",
      "Look for offsets outside the array and elements owned twice: exit 1 if there are any");
  Command& convert_ = line_.root().add_command("convert", "Write maps in another format or layout");
  Command& generate_ =
      line_.root().add_command("generate", "Make the decomposition of a model run of any size");
  Command& f_ = generate_.add_command("f", "Atmosphere on a cubed sphere: three maps, exact");
  Command& i_ = generate_.add_command("i", "Land on a synthetic mask: five maps");
  Command& g_ = generate_.add_command("g", "Ocean on a hexagonal mesh: six maps, statistical");

  std::string input_;                // of the commands that look at one file
  std::vector<std::string> inputs_;  // of convert
  InfoOptions info_options_;
  OutputOptions output_;
  std::optional<std::uint64_t> ranks_, ne_, cells_;  // those that have no default
  std::uint64_t f_levels_ = 72, nlat_ = 96, nlon_ = 144, seed_ = 1;
  TieBreak tie_break_ = TieBreak::encounter;
  std::optional<double> land_fraction_;
  LandOptions land_;
  OceanOptions ocean_;
};

using Options =
    std::unique_ptr<DecompLine>;  // its options stay where the parser has their addresses

Parsed<Options> parse(int argc, const char* const* argv) {
  auto line = std::make_unique<DecompLine>();
  if (auto help = line->parse(argc, argv)) return {std::nullopt, *help};
  return {std::move(line), ""};
}

ExitStatus run(const Comm& world, const Options& line) { return line->run(world); }

}  // namespace

}  // namespace slabmark::decomp

const slabmark::Program& slabmark::programs::decomp() {
  static const Program program = make_program("slabmark decomp", decomp::parse, decomp::run);
  return program;
}
