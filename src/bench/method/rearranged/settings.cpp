#include "bench/method/rearranged/settings.hpp"

namespace slabmark {

namespace {

constexpr std::uint64_t largest_window = std::uint64_t{1} << 30;  // messages are counted in int

}  // namespace

OptionTable<RearrangedOptions> rearranged_options(const std::string& prefix) {
  using Options = RearrangedOptions;
  const SizeOr automatic{"auto", {.min = 1}};
  OptionTable<Options> table;
  table.add(
      prefix + ".aggregators", &Options::aggregators,
      "ranks that write; auto: the hint cb_nodes, or up to 4 per node, a multiple of the stripes",
      automatic);
  table.add(prefix + ".window", &Options::window,
            "most bytes that a rank holds for the exchange; auto: 2M on one node",
            SizeOr{"auto", {64, largest_window}});
  table.add(prefix + ".align", &Options::align,
            "aggregators' ranges begin at multiples of it; auto: the stripe, or 4096", automatic);
  table.add(prefix + ".node_ranks", &Options::node_ranks,
            "ranks that use shared memory; 0: as MPI says, 1: messages only");
  table.add(
      prefix + ".writers", &Options::writers,
      "aggregators of a node that write at once; auto: 1 where the kernel locks the file, else "
      "all",
      automatic);
  table.add(prefix + ".holes", &Options::holes,
            "holes up to this size are written over with zeros, or read along");
  table.add(prefix + ".keep", &Options::keep,
            "the next file of a run uses the plan and the memory of this one");
  if (prefix != "zarr") {
    table.add(prefix + ".overlap", &Options::overlap,
              "a flush returns when its data is in memory, and a thread writes it");
    table.add(prefix + ".overlap_memory", &Options::overlap_memory,
              "with overlap, most bytes of a rank that wait; auto: a share of the free memory",
              automatic);
  }
  if (prefix == "hdf5" || prefix == "pnetcdf") {
    table.add(prefix + ".reuse_definition", &Options::reuse_definition,
              "off: the library defines each file of a run, also one like the last");
  }
  return table;
}

RearrangedOptions read_rearranged_options(const Settings& settings, const std::string& prefix) {
  RearrangedOptions options = rearranged_options(prefix).read(settings);
  options.prefix = prefix + ".";
  return options;
}

}  // namespace slabmark
