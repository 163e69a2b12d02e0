#include <fmt/format.h>

#include "base/error.hpp"
#include "method/hdf5/slab.hpp"
#include "method/raw/raw_layout.hpp"
#include "parallel/agree.hpp"
#include "storage/hdf5/subfiles.hpp"
#include "storage/posix/file_size_limit.hpp"

namespace slabmark {

namespace {

// HDF5 counts them in an int32, and no machine has use for more.
constexpr std::uint64_t most_subfiles = 1'000'000;

Hdf5Setup subfiling_setup(const Settings& settings) {
  Hdf5Setup setup(settings);
  setup.access.subfiling = true;
  setup.access.subfiles = settings.count("hdf5.subfiles", 0);
  return setup;
}

std::optional<std::string> unsuited(const Settings& settings) {
  if (auto cause = hdf5::no_subfiling_cause(); !cause.empty()) return cause;
  const Hdf5Setup setup = subfiling_setup(settings);
  if (setup.precreate) {
    return "subfiles cannot be made by rank 0 alone; leave precreate out";
  }
  if (setup.access.replace) return "subfiles cannot go into a file that exists";
  if (setup.access.subfiles > most_subfiles) {
    return fmt::format("{} subfiles are more than {}", setup.access.subfiles, most_subfiles);
  }
  return std::nullopt;
}

/// The driver waits for ever where a subfile meets the file size limit.
void require_room(const MethodContext& context, const Hdf5Setup& setup) {
  const std::uint64_t bytes = RawLayout(context.pattern).bytes();
  agreed(context.comm, [&] {
    posix::require_file_size_allowed("A subfile",
                                     hdf5::largest_subfile(bytes, setup.access.subfiles));
  });
}

}  // namespace

MethodInfo hdf5_subfiling_method() {
  auto info = hdf5_info("hdf5-subfiling",
                        "hdf5-slab through HDF5's subfiling driver: one file a node, or more");
  info.format = FileFormat::hdf5_subfiles;
  info.options.push_back({"hdf5.subfiles", "0", "number of subfiles; 0: one for each node"});
  info.supports = [common = info.supports](const Pattern& pattern, const Settings& settings) {
    auto reason = unsuited(settings);
    return reason ? reason : common(pattern, settings);
  };
  info.make = [](const MethodContext& context) {
    Hdf5Setup setup = subfiling_setup(context.settings);
    if (context.direction == Direction::write) require_room(context, setup);
    // "Collective I/O is currently unsupported" says the driver of HDF5 2.2.0 to some reads.
    if (context.direction == Direction::read) setup.collective = false;
    return make_hdf5_slab(context, std::move(setup));
  };
  info.companions = hdf5::subfiles_of;
  return info;
}

}  // namespace slabmark
