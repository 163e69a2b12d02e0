#include "accel/hdf5_connector/canonical/cut_chunks.hpp"

#include <algorithm>
#include <cstdint>

namespace slabmark::slablog {

std::optional<CutChunks> CutChunks::of(CanonicalFile& file, CanonicalDataset& dataset,
                                       const Extent& extent) {
  if (!file.is_parallel() || !dataset.has_filters()) return std::nullopt;
  CutChunks cut;
  cut.between_ = extent;
  for (std::size_t d = 0; d < extent.size(); ++d) {
    if (extent[d] < dataset.extent()[d]) cut.between_[d] -= extent[d] % dataset.chunk[d];
  }
  if (cut.between_ == extent) return std::nullopt;
  file.ranks().agreed([&] { cut.read(file, dataset, extent); });
  return cut;
}

void CutChunks::read(CanonicalFile& file, CanonicalDataset& dataset, const Extent& extent) {
  const auto ranks = static_cast<std::uint64_t>(file.ranks().size());
  const auto rank = static_cast<std::uint64_t>(file.ranks().rank());
  const auto& old = dataset.extent();
  const ChunkGrid chunks(old, dataset.chunk);
  std::uint64_t turn = 0;
  for (std::uint64_t number = 0; number < chunks.chunks(); ++number) {
    const auto first = chunks.first_element(number);
    bool is_cut = false;
    bool stays = true;
    Extent count(first.size());
    for (std::size_t d = 0; d < first.size(); ++d) {
      stays = stays && first[d] < extent[d];
      is_cut = is_cut || first[d] >= between_[d];
      count[d] = std::min({first[d] + dataset.chunk[d], old[d], extent[d]}) - first[d];
    }
    if (!stays || !is_cut) continue;
    // All ranks ask, since metadata may be read collectively.
    const auto stored = stored_chunk(dataset.under, dataset.connector, first);
    if (!stored || turn++ % ranks != rank) continue;
    starts_.push_back(first);
    counts_.push_back(count);
  }
  const auto kept = elements_of(dataset);
  elements_.resize(kept.count * dataset.element_bytes());
  file.read(dataset, reads_of(*kept.in_dataset, elements_.data(), dataset.element_bytes()));
}

void CutChunks::restore(CanonicalFile& file, const Location& location, LogDataset& dataset) const {
  file.begin_write(true);
  file.ranks().agreed([&] {
    write_elements({file, dataset, dataset.type(), H5P_DEFAULT}, elements_of(dataset),
                   elements_.data());
  });
  file.flush(location);
}

Elements CutChunks::elements_of(const LogDataset& dataset) const {
  // As HDF5 takes lists of coordinates.
  const auto pointers = [](const std::vector<Extent>& all) {
    std::vector<const hsize_t*> found;
    for (const auto& one : all) found.push_back(one.data());
    return found;
  };
  return boxes(dataset, starts_.size(), pointers(starts_).data(), pointers(counts_).data());
}

}  // namespace slabmark::slablog
