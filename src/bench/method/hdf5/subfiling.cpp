#include "bench/method/hdf5/method.hpp"
#include "bench/method/raw/raw_layout.hpp"
#include "core/parallel/agree.hpp"
#include "storage/hdf5/subfiles.hpp"
#include "storage/posix/file_size_limit.hpp"

namespace slabmark {

namespace {

// HDF5 counts them in an int32, and no machine has use for more.
constexpr std::uint64_t most_subfiles = 1'000'000;

Hdf5Reason unmet(const Pattern&, const Hdf5Options& options) {
  // Errors anywhere come first, so that they are found before a job goes elsewhere.
  if (options.precreate) return "subfiles cannot be made by rank 0 alone; leave precreate out";
  if (options.replace) return "subfiles cannot go into a file that exists";
  if (auto cause = hdf5::no_subfiling_cause(); !cause.empty()) return cause;
  return std::nullopt;
}

std::unique_ptr<Method> make(const MethodContext& context, Hdf5Options options) {
  if (context.direction == Direction::write) {
    // The driver waits for ever where a subfile meets the file size limit.
    const std::uint64_t bytes = RawLayout(context.pattern).bytes();
    agreed(context.comm, [&] {
      posix::require_file_size_allowed("A subfile", hdf5::largest_subfile(bytes, options.subfiles));
    });
  } else {
    // "Collective I/O is currently unsupported" says the driver of HDF5 2.2.0 to some reads.
    options.collective = false;
  }
  return make_hdf5_slab(context, std::move(options));
}

}  // namespace

MethodInfo hdf5_subfiling_method() {
  auto options = hdf5_options();
  options.add("hdf5.subfiles", &Hdf5Options::subfiles, "number of subfiles; 0: one for each node",
              Size{0, most_subfiles});
  auto info =
      hdf5_info("hdf5-subfiling",
                "hdf5-slab through HDF5's subfiling driver: one file per node, or more", make,
                {.options = options,
                 .force = [](Hdf5Options& forced) { forced.subfiling = true; },
                 .unmet = unmet});
  info.format = FileFormat::hdf5_subfiles;
  return info;
}

}  // namespace slabmark
