#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "accel/hdf5_connector/log/log_dataset.hpp"
#include "core/geometry/chunk_grid.hpp"
#include "storage/hdf5/chunks.hpp"
#include "storage/hdf5/filter_pipeline.hpp"
#include "storage/hdf5/handle.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slablog {

/// Most elements that HDF5 is asked for as points, which take memory for each coordinate.
constexpr std::uint64_t most_points = 1 << 16;

/// A dataset that was just opened below the connector.
struct OpenedDataset {
  void* under;
  hid_t connector;
  std::uint64_t number;  ///< the same for all who open it, as long as it is there
  hid_t type, space, creation;
  bool created;
  bool owned;  ///< `under` may be kept, until the file says otherwise
};

/// A dataset whose elements go past HDF5 into the space that HDF5 gave it.
struct CanonicalDataset : LogDataset {
  /// `may_be_fresh`: no rank writes it through HDF5.
  CanonicalDataset(const OpenedDataset& opened, bool may_be_fresh, const std::string& path);

  /// True if a dataset may go past HDF5, as far as its shape and its creation list say.
  static bool accepts(hid_t space, hid_t creation);

  void* under = nullptr;  ///< the dataset below the connector
  hid_t connector = H5I_INVALID_HID;
  std::optional<std::uint64_t> address;  ///< of its first byte; none before it is written first
  bool fresh = false;                    ///< see Posting
  bool never_filled = false;             ///< its fill value is undefined
  bool leaves_memory = false;            ///< reading leaves out elements without space
  Extent chunk;                          ///< of one in chunks, else none
  ChunkGrid grid;                        ///< the same, of parts of elements
  hdf5::Handle creation;                 ///< of one with filters
  std::optional<hdf5::FilterPipeline> plain;  ///< of one in chunks without filters
  hdf5::FilterPipeline* pipeline = nullptr;   ///< of one in chunks, once it was needed
  /// The one chunk, at most, that HDF5 reads by another mask than it has, but read_below() does
  /// not: see ChunkFile::allocate().
  std::optional<hdf5::StoredChunk> misread;

  int users = 0;                ///< objects of the connector that stand for it
  bool cache_left_out = false;  ///< HDF5 has none for its chunks, as the program's list wants it

  bool in_chunks() const { return !chunk.empty(); }
  bool has_filters() const { return creation.is_open(); }
  /// Its filters leave out the chunks at the edge (H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS).
  bool has_plain_edges() const { return has_filters() && !hdf5::filters_edges(creation.get()); }
  /// The rearranger knows elements of 1, 2, 4 and 8 bytes; others are several of these.
  std::uint64_t part_bytes() const;
  std::uint64_t parts() const { return element_bytes() / part_bytes(); }

  /// The extent is another now, and HDF5 has moved what it holds.
  void follow(const Extent& extent);

  /// HDF5 reads nothing at all of a dataset that it would not fill and that has no space yet. To be
  /// asked where this process alone has the file open.
  bool is_unreadable() const;
  /// HDF5 writes the elements at `data` that a pair of spaces selects.
  void write_by_hdf5(hid_t memory, hid_t file, const void* data, const std::string& path);
  /// HDF5 writes the element at `offset`, and gives a contiguous dataset its space by that.
  void write_first(std::uint64_t offset, const void* element, const std::string& path);
  /// HDF5 reads some elements, few at a time, or zeros where it `is_readable` to nobody.
  void read_by_hdf5(std::span<const ReadRun> reads, bool is_readable,
                    const std::string& path) const;

 private:
  void set_grid();
};

/// A dataset of a file in the canonical layout as what it is.
inline CanonicalDataset& as_canonical(LogDataset& dataset) {
  return static_cast<CanonicalDataset&>(dataset);
}
inline const CanonicalDataset& as_canonical(const LogDataset& dataset) {
  return static_cast<const CanonicalDataset&>(dataset);
}

/// Reads what is not pending: by HDF5, but for a chunk that it would read wrong, which comes from
/// `file` past it. `is_alone`: this process alone has the file open.
void read_below(const CanonicalDataset& dataset, posix::File& file, bool is_alone,
                std::span<const ReadRun> reads, const std::string& path);

}  // namespace slabmark::slablog
