#include "programs/decomp/output.hpp"

namespace slabmark::decomp {

void write_generated(const SyntheticDecomposition& decomposition, const OutputOptions& output) {
  std::vector<SyntheticMap> maps = decomposition.maps;
  keep_only(maps, output.map, decomposition.name);
  check_output(output, maps.size(), {});
  const OutputKind kind = kind_of(output, maps.size());
  RowProgress progress;
  if (kind == OutputKind::text) {
    progress.follow(maps, 1);
    std::vector<TextMap> texts;
    for (const SyntheticMap& map : maps) {
      texts.push_back({map.dims, map.ranks, [&map](PioTextWriter& to) { write_text(to, map); }});
    }
    write_texts(file_names(output, maps.size()), texts);
    return;
  }
  std::vector<MapSource> sources;
  for (const SyntheticMap& map : maps) sources.push_back(source_of(map));
  progress.follow(sources, passes_of(kind));
  write_netcdf(sources, output);
}

}  // namespace slabmark::decomp
