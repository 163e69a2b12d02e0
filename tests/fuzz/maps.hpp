#pragma once

#include <filesystem>
#include <string>

#include "bench/map/hdf5_files.hpp"
#include "bench/map/map_files.hpp"
#include "bench/map/map_source.hpp"
#include "bench/map/netcdf_writer.hpp"
#include "bench/map/pio_text_writer.hpp"
#include "bench/pattern/synthetic/f_decomposition.hpp"
#include "fuzz/target.hpp"

namespace slabmark {

/// Decomposition files of all formats and layouts. `folder` is for the making of the seeds.
inline FuzzTarget map_target(const std::string& folder) {
  FuzzTarget target;
  const std::string path = folder + "/seed";
  const auto take = [&] {
    target.seeds.push_back(content_of(path));
    std::filesystem::remove(path);
  };
  const SyntheticDecomposition f = make_f_decomposition(1, 3, 2);
  for (const SyntheticMap& map : f.maps) {
    PioTextWriter writer(path, map.dims, map.ranks);
    write_text(writer, map);
    writer.commit();
    take();
  }
  for (const Hdf5Flavor& flavor : {Hdf5Flavor{.is_netcdf = true}, Hdf5Flavor{.chunk = 2}}) {
    make_hdf5_map(path, {}, flavor);
    take();
  }
#if SLABMARK_WITH_PNETCDF
  write_single_map(path, source_of(f.maps[0]));
  take();
  std::vector<MapSource> sources;
  for (const SyntheticMap& map : f.maps) sources.push_back(source_of(map));
  write_many_maps(path, sources, "made by a test");
  take();
#endif
  target.read = [](const std::string& file) {
    const Comm alone(MPI_COMM_SELF);
    const auto map = open_map(alone, file);
    for (std::size_t k = 0; k < map->maps().size(); ++k) map->read(k, 0, 1);
  };
  return target;
}

}  // namespace slabmark
