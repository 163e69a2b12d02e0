#include "programs/seism-core-slice/options.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "bench/checkpoint/attributes.hpp"
#include "bench/method/registry.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark::seism_core_slice {

namespace {

/// Hints that the original gave with collective_write.
std::vector<std::pair<std::string, std::string>> hints_of(const CheckpointSettings& checkpoint) {
  if (!checkpoint.collective_write) return {};
  const auto& domain = checkpoint.grid.domain;
  const std::uint64_t bytes = element_count(Extent{domain[0], domain[1], domain[2], sizeof(float)});
  return {{"romio_cb_write", "enable"},
          {"romio_ds_write", "disable"},
          {"cb_buffer_size",
           fmt::to_string(std::clamp(bytes, mpiio::least_buffer_bytes, mpiio::largest_number))}};
}

const char* on_off(bool value) { return value ? "on" : "off"; }

}  // namespace

Parsed<Options> parse(int argc, const char* const* argv) {
  CommandLine line(
      "seism-core-slice",
      "Writes checkpoints of a simulation into a chunked 4-D dataset. Standard input says "
      "what to write, with one keyword per line, up to DONE. docs/reference/seism-core.md lists "
      "the "
      "keywords.");
  Command& root = line.root();
  Options options;
  options.run = one_trial();  // as often as the original wrote
  root.add_text("--input", "FILE", options.input, "Read the keywords from this file instead");
  add_verify_arguments(root, options, "Leave that to seism-core-check");
  add_common_arguments(root, options);
  // The file always stays and replaces an earlier one, as the original's did.
  root.remove({"--keep", "--overwrite"});

  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};

  // Which of them the input says, which is read later.
  const MethodInfo* possible[] = {&find_method(checkpoint_methods[0]),
                                  &find_method(checkpoint_methods[1])};
  resolve_common(options, possible);
  options.run.keep = true;
  options.run.overwrite = true;
  return {std::move(options), ""};
}

bool allocates_early(const CheckpointSettings& checkpoint) {
  const bool filtered = checkpoint.deflate > 0 || checkpoint.zfp > 0;
  return checkpoint.early_allocation || !filtered;
}

Settings method_settings(const CheckpointSettings& checkpoint, const Settings& user) {
  Settings settings;
  settings.hints = hints_of(checkpoint);
  settings.options = {{"hdf5.time", "fixed"},
                      {"hdf5.libver", "v110"},  // the newest format that installed tools read
                      {"hdf5.collective", on_off(checkpoint.collective_write)},
                      {"hdf5.collective_metadata", on_off(checkpoint.set_collective_metadata)},
                      {"hdf5.fill", checkpoint.never_fill ? "never" : "ifset"},
                      {"hdf5.alloc", allocates_early(checkpoint) ? "early" : "incr"},
                      {"hdf5.precreate", on_off(checkpoint.precreate)},
                      {"hdf5.deflate", fmt::to_string(checkpoint.deflate)},
                      {"hdf5.zfp", on_off(checkpoint.zfp > 0)}};
  if (checkpoint.subfile > 0) {
    settings.options["hdf5.subfiles"] = fmt::to_string(checkpoint.subfile);
  }
  for (const auto& [name, value] : user.options) settings.options.insert_or_assign(name, value);
  settings.hints.insert(settings.hints.end(), user.hints.begin(), user.hints.end());
  return settings;
}

}  // namespace slabmark::seism_core_slice
