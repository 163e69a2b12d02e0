#include "programs/dwrite_eval/options.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "bench/method/registry.hpp"
#include "core/base/error.hpp"

namespace slabmark::dwrite_eval {

namespace {

// A million variables is a typing error.
constexpr std::uint64_t most_variables = 1'000'000;

/// The original's three ways, in its order, with its words for them.
struct OriginalWay {
  std::string_view method;
  std::string_view progress;
  std::string_view label;
  std::string_view file;
};
constexpr std::array<OriginalWay, 3> original_ways = {{
    {"hdf5-slab", "N H5Dwrite", "H5Dwrite per hyper-slab", "ndwrite"},
    {"hdf5-union-naive", "single H5Dwrite", "H5S_SELECT_OR and single H5Dwrite", "dwrite"},
    {"hdf5-log", "H5Dwrite_n", "log-based VOL H5Dwrite_n", "dwriten"},
}};

constexpr std::string_view no_connector = "this build has no log-layout connector";

bool has_connector() {
  return std::any_of(methods().begin(), methods().end(), [&](const MethodInfo& method) {
    return method.name == "hdf5-log" && method.missing.empty();
  });
}

Way way_through(const std::string& name) {
  Way way{name, name, name, &find_method(name), ""};
  for (const OriginalWay& original : original_ways) {
    if (original.method != name) continue;
    way.progress = original.progress;
    way.label = original.label;
    way.file = original.file;
  }
  way.file += way.method->file().ending;
  return way;
}

// A way that this build lacks keeps its place in the report as long as nobody asked for it by name.
std::vector<Way> ways_of_the_original() {
  std::vector<Way> ways;
  for (const OriginalWay& original : original_ways) {
    const std::string name(original.method);
    if (name == "hdf5-log" && !has_connector()) {
      ways.push_back({std::string(original.progress), std::string(original.label), "", nullptr,
                      std::string(no_connector)});
    } else {
      ways.push_back(way_through(name));
    }
  }
  return ways;
}

std::vector<Way> ways_called(const std::vector<std::string>& names) {
  std::vector<Way> ways;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      throw InputError(fmt::format(
          "--methods names {} twice; both would write one file, so name it once.", name));
    }
    if (name == "hdf5-log" && !has_connector()) {
      throw InputError(fmt::format(
          "Method hdf5-log cannot run, because {}; leave it out of --methods.", no_connector));
    }
    ways.push_back(way_through(name));
  }
  return ways;
}

void set_collective(Settings& settings, bool collective) {
  const bool is_new =
      settings.options.try_emplace("hdf5.collective", collective ? "on" : "off").second;
  if (is_new) return;
  throw InputError(fmt::format("--{} and --set hdf5.collective say the same thing; use one.",
                               collective ? "collective" : "independent"));
}

Json configuration_of(const Options& options, const std::vector<const MethodInfo*>& chosen,
                      bool slablog, const std::vector<std::string>& hints) {
  Json ways = Json::array();
  for (const MethodInfo* method : chosen) ways.push_back(method->name);
  return {{"map", options.map},
          {"variables", options.variables},
          {"output", options.output},
          {"methods", std::move(ways)},
          {"connector", slablog ? "slablog" : "native"},
          {"verify", options.run.verify},
          {"sync", options.run.sync},
          {"hints", hints},
          {"options", options.settings.options}};
}

}  // namespace

Parsed<Options> parse(int argc, const char* const* argv) {
  CommandLine line(
      "dwrite_eval",
      "Writes the hyperslabs of a decomposition into HDF5 datasets in several ways, and times "
      "each.");
  Command& root = line.root();
  Options options;
  options.run = one_trial();                // as often as the original ran each way
  options.run.first_round_in_order = true;  // so that the lines of progress are in the known order
  bool slablog = false;
  std::vector<std::string> names;
  bool collective = false;
  bool independent = false;

  root.add_flag("-v,--verbose", options.verbose,
                "Verbose mode: also phases, and what HDF5 says of each way");
  root.add_count("-n,--variables", options.variables, "Number of datasets to simulate",
                 {.min = 1, .max = most_variables});
  root.add_text("-c,--decomposition", "FILE", options.map,
                "File describing data decompositions (NetCDF or PIO text)")
      .required();
  root.add_text("-o,--output", "DIR", options.output, "Output directory name, made if missing");
  root.add_list("--methods", names, "Methods, separated by commas")
      .default_text("hdf5-slab,hdf5-union-naive and, where there is one, hdf5-log");
  const OptionHandle together =
      root.add_flag("--collective", collective, "Collective H5Dwrite (default)");
  root.add_flag("--independent", independent, "Independent H5Dwrite").excludes(together);
  root.add_word("--connector", slablog, "HDF5 connector", {{"native", false}, {"slablog", true}});
  add_verify_arguments(root, options, "Skip read-back verification");
  add_common_arguments(root, options);

  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};

  if (slablog && !has_connector()) {
    throw InputError(fmt::format(
        "--connector slablog cannot be used, because {}; use --connector native.", no_connector));
  }
  if (options.output.empty()) {
    throw InputError("-o needs the name of a directory; leave it out for the current one.");
  }
  options.ways = names.empty() ? ways_of_the_original() : ways_called(names);

  std::vector<const MethodInfo*> chosen;
  for (const Way& way : options.ways) {
    if (way.method != nullptr) chosen.push_back(way.method);
  }
  resolve_common(options, chosen);
  options.run.inputs = {options.map};
  if (collective || independent) set_collective(options.settings, collective);
  if (slablog) options.settings.options["hdf5.connector"] = "slablog";

  options.configuration = configuration_of(options, chosen, slablog, root.option("--hint").given());
  return {std::move(options), ""};
}

}  // namespace slabmark::dwrite_eval
