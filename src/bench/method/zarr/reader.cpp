#include "bench/method/zarr/reader.hpp"

#include "bench/method/zarr/layout.hpp"
#include "core/geometry/hyperslab.hpp"

namespace slabmark {

ZarrReader::ZarrReader(const Comm&, const Pattern& pattern, const std::string& path)
    : pattern_(pattern) {
  for (std::size_t d = 0; d < pattern.datasets.size(); ++d) {
    const std::string folder = path + '/' + pattern.datasets[d].name;
    arrays_.emplace_back(folder);
    require_dataset(arrays_.back().array(), pattern, d, folder);
  }
}

void ZarrReader::read(std::size_t dataset, std::uint64_t time, Run run, std::byte* out) {
  if (dataset != latest_) arrays_[latest_].forget();
  latest_ = dataset;
  const Dataset& described = pattern_.datasets[dataset];
  for (const Hyperslab& box : boxes_of_range(run, described.extent())) {
    Extent start = box.start;
    Extent size = box.block;
    for (std::size_t d = 0; d < size.size(); ++d) size[d] *= box.count[d];
    const std::uint64_t bytes = element_count(size) * size_of(described.type);
    if (described.has_time) {
      start.insert(start.begin(), time);
      size.insert(size.begin(), 1);
    }
    arrays_[dataset].read(start, size, out);
    out += bytes;
  }
}

}  // namespace slabmark
