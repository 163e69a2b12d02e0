#include "program/slice_eval/way.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "method/registry.hpp"

namespace slabmark::slice_eval {

namespace {

/// The library's own ways.
struct LibraryChoice {
  std::string_view name;
  slice::FileMode mode;
  bool one_writer;
  bool every_rank;
  bool async;
};
constexpr auto append = slice::FileMode::append;
constexpr auto files = slice::FileMode::file_per_output;
constexpr std::array<LibraryChoice, 8> choices = {{
    {"append", append, false, false, false},
    {"append-one", append, true, false, false},
    {"append-ranks", append, false, true, false},
    {"append-async", append, false, false, true},
    {"files", files, false, false, false},
    {"files-one", files, true, false, false},
    {"files-ranks", files, false, true, false},
    {"files-async", files, false, false, true},
}};

const LibraryChoice* find_choice(const std::string& name) {
  const auto* found = std::find_if(choices.begin(), choices.end(),
                                   [&](const auto& choice) { return choice.name == name; });
  return found == choices.end() ? nullptr : found;
}

class LibraryWay : public Way {
 public:
  LibraryWay(const LibraryChoice& choice, const WayContext& context)
      : output_(context.comm.get(), declare(choice, context)) {}

  void output(std::uint64_t number, double time) override { output_.write(number, time); }
  void finish() override { output_.close(); }
  slice::Tally tally() const override { return output_.tally(); }
  std::vector<std::string> files() const override { return output_.files(); }

 private:
  static slice::Declaration declare(const LibraryChoice& choice, const WayContext& context) {
    const auto& options = context.options;
    slice::Declaration declaration;
    declaration.grid = options.grid;
    for (std::uint64_t f = 0; f < options.fields; ++f) {
      declaration.fields.emplace_back(fmt::format("f{}", f), context.fields.block_to_slice(f));
    }
    declaration.device = context.fields.device();
    declaration.cuts = {{context.slice, {}, 1}};
    declaration.prefix = context.stem;
    declaration.mode = choice.mode;
    declaration.type = options.type;
    if (choice.one_writer) declaration.writers = 1;
    if (choice.every_rank) {
      declaration.writers = static_cast<std::uint64_t>(context.comm.size());
    }
    if (choice.async) declaration.waiting = options.waiting;
    declaration.overwrite = options.run.overwrite;
    return declaration;
  }

  slice::Output output_;
};

const MethodInfo* find_hdf5_method(const std::string& name) {
  const auto found = std::find_if(methods().begin(), methods().end(),
                                  [&](const MethodInfo& method) { return method.name == name; });
  if (found == methods().end() || found->format != FileFormat::hdf5) return nullptr;
  return &*found;
}

/// Blocks of the strided field, which the library cuts equally, must be what the stride leaves of
/// the blocks.
bool blocks_match(const WayContext& context) {
  const auto& grid = context.options.grid;
  const auto ranks = grid.processes[0] * grid.processes[1] * grid.processes[2];
  BlockedField coarse = grid;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto stride = context.slice.ranges[axis].stride;
    coarse.points[axis] = (grid.points[axis] + stride - 1) / stride;
    if (coarse.points[axis] < grid.processes[axis]) return false;
  }
  auto all = whole_field(grid);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    all.ranges[axis].stride = context.slice.ranges[axis].stride;
  }
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const auto fine = parts_of(grid, all, rank);
    const auto equal = parts_of(coarse, whole_field(coarse), rank);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (fine[axis].count != equal[axis].count) return false;
    }
  }
  return true;
}

}  // namespace

bool copies_first(const std::string& name) { return name.starts_with("copy-"); }

void require_way(const std::string& name) {
  constexpr std::array<std::string_view, 5> others = {"copy-plane", "copy-field", "gatherv",
                                                      "touch", "read"};
  if (find_choice(name) || find_hdf5_method(name) ||
      std::find(others.begin(), others.end(), name) != others.end()) {
    return;
  }
  throw InputError(fmt::format(
      "There is no method '{}'; choose append or files (also with -one, -ranks or -async behind), "
      "copy-plane, copy-field, gatherv, touch, read, or an HDF5 method of 'slabmark-bench "
      "methods'.",
      name));
}

std::string reason_against(const std::string& name, const WayContext& context) {
  if (copies_first(name) && !blocks_match(context)) {
    return "the stride does not leave equal blocks, as its second array needs";
  }
  if (context.fields.device() && !find_choice(name) && name != "gatherv") {
    return "it reads the fields in the host's memory";
  }
  if (find_hdf5_method(name) && context.options.type != ElementType::float64) {
    return "it writes the type that is in memory";
  }
  return "";
}

std::unique_ptr<Way> make_way(const std::string& name, const WayContext& context) {
  if (const auto* choice = find_choice(name)) return std::make_unique<LibraryWay>(*choice, context);
  if (copies_first(name)) return make_copying_way(name == "copy-field", context);
  if (name == "gatherv") return make_bare_way(context);
  if (name == "touch" || name == "read") return make_reading_way(name == "read", context);
  return make_method_way(*find_hdf5_method(name), context);
}

}  // namespace slabmark::slice_eval
