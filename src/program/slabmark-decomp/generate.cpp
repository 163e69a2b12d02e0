#include <filesystem>

#include <fmt/format.h>

#include "map/pio_text_writer.hpp"
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

/// Removes the files of a set that did not become complete.
class FileSet {
 public:
  ~FileSet() {
    std::error_code ignored;
    for (const std::string& path : made_) std::filesystem::remove(path, ignored);
  }
  void add(const std::string& path) { made_.push_back(path); }
  void keep() { made_.clear(); }

 private:
  std::vector<std::string> made_;
};

void write_text(const std::vector<SyntheticMap>& maps, const std::vector<std::string>& names) {
  FileSet made;
  for (std::size_t k = 0; k < maps.size(); ++k) {
    const std::uint64_t bytes = write_pio_text(names[k], maps[k]);
    made.add(names[k]);
    report_written(names[k], bytes);
  }
  made.keep();
}

}  // namespace

void write_generated(const SyntheticDecomposition& decomposition, const OutputOptions& output) {
  const std::vector<SyntheticMap> maps = chosen_maps(decomposition, output.map);
  check_output(output, maps.size());
  if (kind_of(output, maps.size()) == OutputKind::text) {
    write_text(maps, file_names(output, maps.size()));
    return;
  }
  std::vector<MapSource> sources;
  for (const SyntheticMap& map : maps) sources.push_back(source_of(map));
  write_netcdf(sources, output);
}

}  // namespace slabmark::decomp
