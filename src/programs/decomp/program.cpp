// slabmark-decomp info | check | convert | generate: decomposition files, see
// docs/decompositions.md.

#include "core/parallel/program.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/pattern/synthetic/f_decomposition.hpp"
#include "bench/pattern/synthetic/g_decomposition.hpp"
#include "bench/pattern/synthetic/i_decomposition.hpp"
#include "core/base/command_line.hpp"
#include "core/base/number.hpp"
#include "core/parallel/agree.hpp"
#include "programs/decomp/commands.hpp"
#include "programs/programs.hpp"

namespace slabmark::decomp {

namespace {

CLI::App* add_command(CLI::App& parent, const char* name, const char* description) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->fallthrough(false);
  return command;
}

/// The options of all commands.
class CommandLine {
 public:
  CommandLine()
      : app_("Looks at, checks, converts and makes decomposition files", "slabmark-decomp") {
    // With none required, an unknown command is reported as an unexpected argument, by its name.
    app_.require_subcommand(0, 1);
    info_ = add_command(app_, "info",
                        "Print dimensions, coverage, requests and run lengths of a file's maps");
    info_->add_option("map_file", inputs_, "PIO text or NetCDF")->required()->expected(1);
    info_->add_flag("--json", info_options_.is_json, "Print JSON");
    add_count(*info_, "--ranks", info_options_.ranks,
              "Count requests on this many ranks (default: as recorded)", {.min = 1});
    add_map(*info_);

    check_ = add_command(
        app_, "check",
        "Look for offsets outside the array and elements owned twice: exit 1 if there are any");
    check_->add_option("map_file", inputs_, "PIO text or NetCDF")->required()->expected(1);

    convert_ = add_command(app_, "convert", "Write maps in another format or layout");
    convert_->add_option("map_files", inputs_, "PIO text or NetCDF")->required();
    add_output_options(*convert_);

    generate_ = add_command(app_, "generate", "Make the decomposition of a model run of any size");
    generate_->require_subcommand(0, 1);
    add_models();
  }

  /// Returns the help if it was asked for.
  std::optional<std::string> parse(int argc, const char* const* argv) {
    if (auto help = parse_command_line(app_, argc, argv)) return help;
    require_command();
    info_options_.map = output_.map;
    output_.command_line = "slabmark-decomp";
    for (int i = 1; i < argc; ++i) output_.command_line += fmt::format(" {}", argv[i]);
    return std::nullopt;
  }

  ExitStatus run(const Comm& world) {
    if (info_->parsed()) return info(world, inputs_.front(), info_options_);
    if (check_->parsed()) return check(world, inputs_.front());
    // Work for one rank; the others wait.
    agreed(world, [&] {
      if (!world.is_root()) return;
      convert_->parsed() ? convert(inputs_, output_) : write_generated(generated(), output_);
    });
    return ExitStatus::good;
  }

 private:
  void add_map(CLI::App& command) {
    add_count(command, "--map", output_.map, "Number of one map, from 1 (default: all)",
              {.min = 1});
  }

  void add_output_options(CLI::App& command) {
    command
        .add_option("-o,--output", output_.path,
                    "Output: NAME.nc, NAME.dat, or a prefix for .dat files")
        ->required();
    command.add_option("--format", output_.format, "dat or nc (default: by the output's name)")
        ->check(CLI::IsMember({"dat", "nc"}));
    command.add_option("--layout", output_.layout, "Of .nc: single (June 2018), many, or auto")
        ->check(CLI::IsMember({"single", "many", "auto"}));
    add_map(command);
    command.add_flag("--overwrite", output_.may_overwrite, "Replace files that are there already");
  }

  void add_models() {
    f_ = add_command(*generate_, "f", "Atmosphere on a cubed sphere: three maps, exact");
    add_count(*f_, "--ne", ne_, "Elements along an edge of a face (factors 2, 3, 5)", {.min = 1})
        ->required();
    add_count(*f_, "--levels", f_levels_, "Vertical levels", {.min = 1});
    add_word(*f_, "--tie-break", tie_break_, "Since August 2018, or before",
             {{"encounter", TieBreak::encounter}, {"lowest", TieBreak::lowest}});

    CLI::App* i = add_command(*generate_, "i", "Land on a synthetic mask: five maps");
    add_count(*i, "--nlat", nlat_, "Rows of the grid", {.min = 1});
    add_count(*i, "--nlon", nlon_, "Columns of the grid", {.min = 1});
    add_parsed(*i, "--land-fraction", "NUMBER from 0", "",
               "Share of land (default: that of E3SM's grids)",
               [this](const std::string& text, const std::string& what) {
                 land_fraction_ = parse_real(text, what);
               });
    add_count(*i, "--clumps", land_.clumps_per_rank, "Clumps a rank, as a rule one a thread",
              {.min = 1});
    add_count(*i, "--seed", seed_, "Of the mask");

    g_ = add_command(*generate_, "g", "Ocean on a hexagonal mesh: six maps, statistical");
    add_count(*g_, "--cells", cells_, "Cells of the mesh", {.min = 1})->required();
    add_count(*g_, "--levels", ocean_.levels, "Vertical levels", {.min = 1});
    add_word(*g_, "--locality", ocean_.locality,
             "Numbers of neighbours; scattered as on many ranks",
             {{"local", Locality::local}, {"scattered", Locality::scattered}});
    add_count(*g_, "--seed", seed_, "Of coasts and numbering");

    for (CLI::App* model : {f_, i, g_}) {
      add_count(*model, "--ranks", ranks_, "Ranks of the model", {.min = 1})->required();
      add_output_options(*model);
    }
  }

  void require_command() const {
    if (app_.get_subcommands().empty()) {
      throw InputError(
          "A command is missing: info, check, convert or generate; 'slabmark-decomp --help' "
          "describes them.");
    }
    if (generate_->parsed() && generate_->get_subcommands().empty()) {
      throw InputError(
          "generate needs a model: f (atmosphere), i (land) or g (ocean); 'slabmark-decomp "
          "generate --help' describes them.");
    }
  }

  /// The decomposition that `generate` was asked for.
  SyntheticDecomposition generated() {
    if (f_->parsed()) return make_f_decomposition(*ne_, *ranks_, f_levels_, tie_break_);
    ocean_.seed = seed_;
    if (g_->parsed()) return make_g_decomposition(*cells_, *ranks_, ocean_);
    const double fraction = land_fraction_.value_or(usual_land_fraction(nlat_, nlon_));
    return make_i_decomposition(nlat_, nlon_, *ranks_, fraction, seed_, land_);
  }

  CLI::App app_;
  CLI::App *info_, *check_, *convert_, *generate_, *f_, *g_;
  std::vector<std::string> inputs_;
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
    std::unique_ptr<CommandLine>;  // its options stay where the parser has their addresses

Parsed<Options> parse(int argc, const char* const* argv) {
  auto line = std::make_unique<CommandLine>();
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
