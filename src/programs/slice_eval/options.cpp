#include "programs/slice_eval/options.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "bench/harness/run_arguments.hpp"
#include "bench/method/registry.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/command_line/command_line.hpp"

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

/// Options to check together.
struct Arguments {
  const Preset* preset = nullptr;
  bool has_grid = false, has_stride = false, has_processes = false;
  std::string plane = "z";
  std::uint64_t threads = 1, waiting = 4;
  bool compute_between = false, small_pages = false;
  std::vector<std::string> methods = {"append",     "append-one", "append-ranks", "append-async",
                                      "files",      "files-one",  "files-ranks",  "files-async",
                                      "copy-plane", "copy-field", "gatherv"};
};

void add_options(Command& root, Arguments& a, Options& options) {
  std::vector<Word<const Preset*>> words;
  for (const Preset& preset : presets) words.emplace_back(preset.name, &preset);
  root.add_word("--preset", a.preset, "Grid and stride of the study", std::move(words));
  root.add_triple("--grid", options.grid.points, "Points of the field; x is the fastest", false);
  root.add_triple("--stride", options.stride, "Keep every so many points", false);
  root.add_text("--plane", "PLANE", a.plane,
                "The plane, such as z=75, or only its normal z for the middle one");
  root.add_triple("--processes", options.grid.processes, "Grid of processes", false)
      .default_text("all along x");
  root.add_count("--halo", options.grid.halo, "Points around each block", {.max = 1 << 20});
  root.add_count("--fields", options.fields, "Number of fields", {.min = 1, .max = 1000});
  root.add_word("--type", options.type, "Type in the files",
                {{"float32", ElementType::float32}, {"float64", ElementType::float64}});
  root.add_list("-m,--methods", a.methods, "Methods, with commas")
      .default_text("all of the library");
  root.add_count("--outputs", options.outputs, "Outputs measured, after one warm-up",
                 {.min = 1, .max = 1'000'000});
  root.add_flag("--compute-between", a.compute_between,
                "Compute on the whole fields between outputs");
  root.add_count("--every", options.computations, "Compute so many times between outputs",
                 {.min = 1, .max = 1'000'000});
  root.add_size("--sweep", options.sweep,
                "Other memory touched before each output, so that caches are cold");
  root.add_count("--regular", options.regular, "Also write the whole field, so many times",
                 {.max = 1000});
  root.add_flag("--with-halos", options.with_halos,
                "Write the whole field with the halos at its outer faces, as the study did");
  root.add_count("--threads", a.threads, "Threads of the copying methods", {.min = 1, .max = 1024});
  root.add_count("--waiting", a.waiting, "Outputs that may wait in -async methods",
                 {.min = 1, .max = 1024});
  root.add_word("--device", options.on_gpu, "Memory that holds the fields",
                {{"host", false}, {"cuda", true}});
  root.add_flag("--small-pages", a.small_pages, "Do not ask for huge pages for the fields");
  root.add_text("-o,--output", "DIR", options.directory, "Directory of the files");
  root.add_flag(
      "--no-verify", [&options] { options.run.verify = false; }, "Do not read the files back");
  root.add_count("--seed", options.run.seed,
                 "Random seed for the order in which methods take turns");
  add_output_arguments(root, options);
}

void resolve_grid(const Arguments& a, Options& options) {
  if ((a.preset == nullptr) == !a.has_grid) {
    throw InputError("Give either --preset or --grid, to say how large the field is.");
  }
  if (a.preset != nullptr) options.grid.points = a.preset->points;
  if (a.preset != nullptr && !a.has_stride) options.stride.fill(a.preset->stride);
  options.balanced = !a.has_processes;
}

void resolve_plane(const Arguments& a, Options& options) {
  const std::string& plane = a.plane;
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
      "copy-plane, copy-field, gatherv, touch, read, or an HDF5 method of 'slabmark bench "
      "methods'.",
      name));
}

}  // namespace

Parsed<Options> parse(int argc, const char* const* argv) {
  CommandLine line(
      "slice_eval",
      "Times strided slices of a field beside plain ones, and says where the time goes.");
  const Command& root = line.root();
  Arguments a;
  Options options;
  options.grid.halo = 5;
  add_options(line.root(), a, options);
  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};
  a.has_grid = root.option("--grid").is_given();
  a.has_stride = root.option("--stride").is_given();
  a.has_processes = root.option("--processes").is_given();

  resolve_grid(a, options);
  resolve_plane(a, options);
  if (a.compute_between && options.computations == 0) options.computations = 1;
  options.huge_pages = !a.small_pages;
  for (const auto& method : a.methods) options.methods.push_back(&find_slice_method(method));
  auto chosen = options.methods;
  chosen.push_back(&find_method("hdf5-union"));  // for the whole field
  resolve_common(options, chosen);
  options.configuration = root.options_given();
  auto& own = options.settings.options;
  own.emplace("copy.threads", fmt::to_string(a.threads));
  own.emplace("copy.huge_pages", options.huge_pages ? "on" : "off");
  for (const auto* name : {"append.waiting", "files.waiting"}) {
    own.emplace(name, fmt::to_string(a.waiting));
  }
  return {std::move(options), ""};
}

}  // namespace slabmark::slice_eval
