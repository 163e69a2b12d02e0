#include "method/hdf5/slab.hpp"

namespace slabmark {

namespace {

/// HDF5 lets only chunked datasets grow, so these have all their time steps from the start.
Settings without_chunks(Settings settings) {
  settings.options.insert_or_assign("hdf5.chunk", "none");
  settings.options.insert_or_assign("hdf5.time", "fixed");
  settings.options.insert_or_assign("hdf5.deflate", "0");
  settings.options.insert_or_assign("hdf5.zfp", "off");
  return settings;
}

}  // namespace

MethodInfo hdf5_contiguous_method() {
  auto info = hdf5_info("hdf5-contiguous",
                        "hdf5-slab into datasets without chunks, of all time steps from the start");
  std::erase_if(info.options, [forced = without_chunks({}).options](const OptionInfo& option) {
    return forced.count(option.name) > 0;
  });
  info.supports = [common = info.supports](const Pattern& pattern, const Settings& settings) {
    return common(pattern, without_chunks(settings));
  };
  info.make = [](const MethodContext& context) {
    return make_hdf5_slab(context, Hdf5Setup(without_chunks(context.settings)));
  };
  return info;
}

}  // namespace slabmark
