#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "accel/hdf5_connector/canonical/canonical_file.hpp"
#include "accel/hdf5_connector/transfer.hpp"

namespace slabmark::slablog {

/// The elements that stay of chunks with filters which a smaller extent cuts, in a file that
/// several ranks have open. HDF5 itself would read, fill and write such chunks, each rank for
/// itself, so that one reads what another has just moved, and by the mask that it remembers. So the
/// dataset takes the extent between first, which gives such chunks up, and then the new one;
/// restore() writes them again.
class CutChunks {
 public:
  /// Collective, when nothing is pending. Each rank reads some of the elements. Returns nothing if
  /// HDF5 sets the new extent correctly by itself.
  static std::optional<CutChunks> of(CanonicalFile& file, CanonicalDataset& dataset,
                                     const Extent& extent);

  /// As large as the dataset may be without any chunk that is cut.
  const Extent& between() const { return between_; }
  /// Collective, when the dataset has its new extent.
  void restore(CanonicalFile& file, const Location& location, LogDataset& dataset) const;

 private:
  void read(CanonicalFile& file, CanonicalDataset& dataset, const Extent& extent);
  Elements elements_of(const LogDataset& dataset) const;

  Extent between_;
  std::vector<Extent> starts_, counts_;  ///< boxes, which this rank has read
  std::vector<std::byte> elements_;
};

}  // namespace slabmark::slablog
