#include "program/slabmark-decomp/command_line.hpp"

#include "base/number.hpp"
#include "pattern/synthetic/i_decomposition.hpp"

namespace slabmark::decomp {

namespace {

CLI::App* add_command(CLI::App& parent, const char* name, const char* description) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->fallthrough(false);
  return command;
}

/// 0 for an option that was not given.
std::uint64_t optional_count(const std::string& text, const char* what) {
  return text.empty() ? 0 : parse_count(text, what, 1);
}

}  // namespace

CommandLine::CommandLine()
    : app("Looks at, checks, converts and makes decomposition files", "slabmark-decomp") {
  // With none required, an unknown command is reported as an unexpected argument, by its name.
  app.require_subcommand(0, 1);

  info = add_command(app, "info",
                     "Print dimensions, coverage, requests and run lengths of a file's maps");
  info->add_option("map_file", inputs, "PIO text or NetCDF")->required()->expected(1);
  info->add_flag("--json", is_json, "Print JSON");
  info->add_option("--ranks", ranks, "Count requests on this many ranks (default: as recorded)");
  info->add_option("--map", map, "Number of one map, from 1 (default: all)");

  check = add_command(
      app, "check",
      "Look for offsets outside the array and elements owned twice: exit 1 if there are any");
  check->add_option("map_file", inputs, "PIO text or NetCDF")->required()->expected(1);

  convert = add_command(app, "convert", "Write maps in another format or layout");
  convert->add_option("map_files", inputs, "PIO text or NetCDF")->required();
  add_output_options(*convert);

  generate = add_command(app, "generate", "Make the decomposition of a model run of any size");
  add_generate(*generate);
}

void CommandLine::add_output_options(CLI::App& command) {
  command
      .add_option("-o,--output", output.path,
                  "Output: NAME.nc, NAME.dat, or a prefix for .dat files")
      ->required();
  command.add_option("--format", output.format, "dat or nc (default: by the output's name)")
      ->check(CLI::IsMember({"dat", "nc"}));
  command.add_option("--layout", output.layout, "Of .nc: single (June 2018), many, or auto")
      ->check(CLI::IsMember({"single", "many", "auto"}));
  command.add_option("--map", map, "Number of one map, from 1 (default: all)");
  command.add_flag("--overwrite", output.may_overwrite, "Replace files that are there already");
}

void CommandLine::add_generate(CLI::App& command) {
  command.require_subcommand(0, 1);
  generate_f = add_command(command, "f", "Atmosphere on a cubed sphere: three maps, exact");
  generate_f->add_option("--ne", ne, "Elements along an edge of a face (factors 2, 3, 5)")
      ->required();
  generate_f->add_option("--levels", levels, "Vertical levels (default 72)");
  generate_f
      ->add_option("--tie-break", tie_break, "encounter (since August 2018) or lowest (before)")
      ->check(CLI::IsMember({"encounter", "lowest"}));

  generate_i = add_command(command, "i", "Land on a synthetic mask: five maps");
  generate_i->add_option("--nlat", nlat, "Rows of the grid (default 96)");
  generate_i->add_option("--nlon", nlon, "Columns of the grid (default 144)");
  generate_i->add_option("--land-fraction", land_fraction,
                         "Share of land (default: that of E3SM's grids)");
  generate_i->add_option("--clumps", clumps, "Clumps a rank, as a rule one a thread (default 1)");
  generate_i->add_option("--seed", seed, "Of the mask (default 1)");

  generate_g = add_command(command, "g", "Ocean on a hexagonal mesh: six maps, statistical");
  generate_g->add_option("--cells", cells, "Cells of the mesh")->required();
  generate_g->add_option("--levels", levels, "Vertical levels (default 80)");
  generate_g->add_option("--locality", locality, "local, or scattered as on many ranks")
      ->check(CLI::IsMember({"local", "scattered"}));
  generate_g->add_option("--seed", seed, "Of coasts and numbering (default 1)");

  for (CLI::App* model : {generate_f, generate_i, generate_g}) {
    model->add_option("--ranks", ranks, "Ranks of the model")->required();
    add_output_options(*model);
  }
}

void CommandLine::require_command() const {
  if (app.get_subcommands().empty()) {
    throw InputError(
        "A command is missing: info, check, convert or generate; 'slabmark-decomp --help' "
        "describes them.");
  }
  if (generate->parsed() && generate->get_subcommands().empty()) {
    throw InputError(
        "generate needs a model: f (atmosphere), i (land) or g (ocean); 'slabmark-decomp generate "
        "--help' describes them.");
  }
}

InfoOptions CommandLine::info_options() const {
  return {inputs.front(), is_json, optional_count(ranks, "--ranks"), optional_count(map, "--map")};
}

OutputOptions CommandLine::output_options() const {
  OutputOptions options = output;
  options.map = optional_count(map, "--map");
  return options;
}

SyntheticDecomposition CommandLine::generated() const {
  const std::uint64_t model_ranks = parse_count(ranks, "--ranks", 1);
  const std::uint64_t given_levels = optional_count(levels, "--levels");
  if (generate_f->parsed()) {
    return make_f_decomposition(parse_count(ne, "--ne", 1), model_ranks,
                                given_levels > 0 ? given_levels : 72,
                                tie_break == "lowest" ? TieBreak::lowest : TieBreak::encounter);
  }
  const std::uint64_t random_seed = parse_count(seed, "--seed");
  if (generate_g->parsed()) {
    OceanOptions ocean;
    if (given_levels > 0) ocean.levels = given_levels;
    ocean.locality = locality == "scattered" ? Locality::scattered : Locality::local;
    ocean.seed = random_seed;
    return make_g_decomposition(parse_count(cells, "--cells", 1), model_ranks, ocean);
  }
  const std::uint64_t rows = parse_count(nlat, "--nlat", 1);
  const std::uint64_t columns = parse_count(nlon, "--nlon", 1);
  LandOptions land;
  land.clumps_per_rank = parse_count(clumps, "--clumps", 1);
  const double fraction = land_fraction.empty() ? usual_land_fraction(rows, columns)
                                                : parse_real(land_fraction, "--land-fraction");
  return make_i_decomposition(rows, columns, model_ranks, fraction, random_seed, land);
}

}  // namespace slabmark::decomp
