#include <fmt/format.h>

#include "program/slabmark-decomp/output.hpp"

namespace slabmark::decomp {

namespace {

std::vector<SyntheticMap> chosen_maps(const SyntheticDecomposition& decomposition,
                                      std::uint64_t only) {
  const std::vector<SyntheticMap>& maps = decomposition.maps;
  if (only == 0) return maps;
  if (only > maps.size()) {
    throw InputError(fmt::format("{} has {} maps, and --map asks for number {}.",
                                 decomposition.name, maps.size(), only));
  }
  return {maps[only - 1]};
}

}  // namespace

void write_generated(const SyntheticDecomposition& decomposition, const OutputOptions& output) {
  const std::vector<SyntheticMap> maps = chosen_maps(decomposition, output.map);
  check_output(output, maps.size(), {});
  if (kind_of(output, maps.size()) == OutputKind::text) {
    std::vector<TextMap> texts;
    for (const SyntheticMap& map : maps) {
      texts.push_back({map.dims, map.ranks, [&map](PioTextWriter& to) { write_text(to, map); }});
    }
    write_texts(file_names(output, maps.size()), texts);
    return;
  }
  std::vector<MapSource> sources;
  for (const SyntheticMap& map : maps) sources.push_back(source_of(map));
  write_netcdf(sources, output);
}

}  // namespace slabmark::decomp
