#include "program/slice_eval/options.hpp"

#include <algorithm>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/error.hpp"
#include "base/number.hpp"
#include "bench/run_arguments.hpp"
#include "method/registry.hpp"

namespace slabmark::slice_eval {

namespace {

/// The grids and strides of the study's tables.
struct Preset {
  std::string_view name;
  std::array<std::uint64_t, 3> points;
  std::uint64_t stride;
};
constexpr std::array<Preset, 4> presets = {{
    {"seed-180", {180, 190, 150}, 2},   // as printed
    {"seed-180b", {180, 170, 150}, 2},  // as it was run
    {"seed-360", {360, 355, 300}, 5},
    {"seed-650", {650, 610, 520}, 5},
}};

const Preset& find_preset(const std::string& name) {
  const auto* found = std::find_if(presets.begin(), presets.end(),
                                   [&](const Preset& preset) { return preset.name == name; });
  if (found != presets.end()) return *found;
  throw InputError(fmt::format(
      "There is no preset '{}'; choose seed-180, seed-180b, seed-360 or seed-650.", name));
}

/// What is text until it is checked.
struct Arguments {
  std::string preset, grid, processes, stride, plane, type = "float64", device = "host";
  std::string halo = "5", fields = "1", outputs = "15", threads = "1", waiting = "4";
  std::string regular = "0", sweep = "96M", every;
  bool compute_between = false, small_pages = false;
  std::vector<std::string> methods = {"append",     "append-one", "append-ranks", "append-async",
                                      "files",      "files-one",  "files-ranks",  "files-async",
                                      "copy-plane", "copy-field", "gatherv"};
};

void add_options(CLI::App& app, Arguments& a, Options& options) {
  app.add_option("--preset", a.preset,
                 "Grid and stride of the study: seed-180, seed-180b, seed-360, seed-650");
  app.add_option("--grid", a.grid, "Points of the field x,y,z; x is the fastest");
  app.add_option("--stride", a.stride, "Keep every so many points along x,y,z");
  app.add_option("--plane", a.plane,
                 "The plane, such as z=75, or only its normal z for the middle one (default z)");
  app.add_option("--processes", a.processes, "Grid of processes x,y,z (default: all along x)");
  app.add_option("--halo", a.halo, "Points around each block (default 5)");
  app.add_option("--fields", a.fields, "Number of fields (default 1)");
  app.add_option("--type", a.type, "Type in the files: float64 (default) or float32");
  app.add_option("-m,--methods", a.methods, "Methods, with commas (default: all of the library)")
      ->delimiter(',');
  app.add_option("--outputs", a.outputs, "Outputs measured, after one warm-up (default 15)");
  app.add_flag("--compute-between", a.compute_between,
               "Compute on the whole fields between outputs");
  app.add_option("--every", a.every, "Compute so many times between outputs");
  app.add_option("--sweep", a.sweep,
                 "Other memory touched before each output, so that caches are cold (default 96M)");
  app.add_option("--regular", a.regular, "Also write the whole field, so many times (default 0)");
  app.add_flag("--with-halos", options.with_halos,
               "Write the whole field with the halos at its outer faces, as the study did");
  app.add_option("--threads", a.threads, "Threads of the copying methods (default 1)");
  app.add_option("--waiting", a.waiting, "Outputs that may wait in -async methods (default 4)");
  app.add_option("--device", a.device, "Whose memory the fields are in: host (default) or cuda");
  app.add_flag("--small-pages", a.small_pages, "Do not ask for huge pages for the fields");
  app.add_option("-o,--output", options.directory, "Directory of the files (default .)");
  app.add_flag_callback(
      "--no-verify", [&options] { options.run.verify = false; }, "Do not read the files back");
  add_count(app, "--seed", options.run.seed, "Of the order in which methods take turns");
  add_output_arguments(app, options);
}

void resolve_grid(const Arguments& a, Options& options) {
  if (a.preset.empty() == a.grid.empty()) {
    throw InputError("Give either --preset or --grid, to say how large the field is.");
  }
  if (!a.preset.empty()) {
    const auto& preset = find_preset(a.preset);
    options.grid.points = preset.points;
    options.stride.fill(preset.stride);
  } else {
    options.grid.points = parse_triple(a.grid, "--grid");
  }
  if (!a.stride.empty()) options.stride = parse_triple(a.stride, "--stride");
  options.grid.halo = parse_count(a.halo, "--halo", 0, 1 << 20);
  options.balanced = a.processes.empty();
  if (!options.balanced) options.grid.processes = parse_triple(a.processes, "--processes");
}

void resolve_plane(const Arguments& a, Options& options) {
  const std::string plane = a.plane.empty() ? "z" : a.plane;
  options.normal = axis_names.find(plane.front());
  const bool middle = plane.size() == 1;
  if (options.normal == std::string_view::npos || (!middle && plane[1] != '=')) {
    throw InputError(fmt::format(
        "--plane '{}' names no axis; write x, y or z, and behind it =POSITION if you like.",
        plane));
  }
  const auto points = options.grid.points[options.normal];
  options.position = middle ? points / 2 : parse_count(plane.substr(2), "--plane", 0, points - 1);
  options.stride[options.normal] = 1;
}

ElementType parse_file_type(const std::string& text) {
  for (const auto type : {ElementType::float32, ElementType::float64}) {
    if (text == name_of(type)) return type;
  }
  throw InputError(fmt::format("--type takes float32 or float64, not '{}'.", text));
}

/// A method for slices, or one that selects them in an HDF5 file.
const MethodInfo& find_slice_method(const std::string& name) {
  const auto found = std::find_if(methods().begin(), methods().end(),
                                  [&](const MethodInfo& method) { return method.name == name; });
  if (found != methods().end() &&
      (found->kind == MethodKind::slices || found->format == FileFormat::hdf5)) {
    return *found;
  }
  throw InputError(fmt::format(
      "There is no method '{}'; choose append or files (also with -one, -ranks or -async behind), "
      "copy-plane, copy-field, gatherv, touch, read, or an HDF5 method of 'slabmark-bench "
      "methods'.",
      name));
}

}  // namespace

CommandLine parse(int argc, const char* const* argv) {
  CLI::App app("Times strided slices of a field beside plain ones, and says where the time goes.",
               "slice_eval");
  Arguments a;
  Options options;
  add_options(app, a, options);
  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};

  resolve_grid(a, options);
  resolve_plane(a, options);
  options.type = parse_file_type(a.type);
  options.fields = parse_count(a.fields, "--fields", 1, 1000);
  options.outputs = parse_count(a.outputs, "--outputs", 1, 1'000'000);
  const auto threads = parse_count(a.threads, "--threads", 1, 1024);
  const auto waiting = parse_count(a.waiting, "--waiting", 1, 1024);
  options.regular = parse_count(a.regular, "--regular", 0, 1000);
  options.sweep = parse_size(a.sweep, "--sweep");
  options.computations = a.compute_between ? 1 : 0;
  if (!a.every.empty()) options.computations = parse_count(a.every, "--every", 1, 1'000'000);
  if (a.device != "host" && a.device != "cuda") {
    throw InputError(fmt::format("--device takes host or cuda, not '{}'.", a.device));
  }
  options.on_gpu = a.device == "cuda";
  options.huge_pages = !a.small_pages;
  for (const auto& method : a.methods) options.methods.push_back(&find_slice_method(method));
  auto chosen = options.methods;
  chosen.push_back(&find_method("hdf5-union"));  // for the whole field
  check_options(options.settings, chosen);
  options.configuration = options_given(app);
  auto& own = options.settings.options;
  own.emplace("copy.threads", fmt::to_string(threads));
  own.emplace("copy.huge_pages", options.huge_pages ? "on" : "off");
  for (const auto* name : {"append.waiting", "files.waiting"}) {
    own.emplace(name, fmt::to_string(waiting));
  }
  return {std::move(options), ""};
}

}  // namespace slabmark::slice_eval
