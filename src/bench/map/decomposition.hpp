#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/geometry/extent.hpp"
#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// One decomposition map of a file, as far as every rank knows it.
struct MapHeader {
  Extent dims;  ///< as rows are cut: the last one is the row length. C order, but a map in the
                ///< seed's layout (num_procs/max_nreqs/offsets) keeps its dimensions as stored
  std::uint64_t recorded_ranks = 0;  ///< ranks of the application that the map was recorded from
  /// True in the seed's layout, whose `dims` stand fastest first as in the .dat file that it was
  /// made from, although offsets count the first one fastest: the array in C order has them
  /// reversed.
  bool dims_are_fortran_order = false;

  /// The dimensions in C order, whatever the layout.
  Extent array_dims() const {
    return dims_are_fortran_order ? Extent(dims.rbegin(), dims.rend()) : dims;
  }
};

/// The elements of a map that one rank owns.
struct MapPart {
  RunList runs;                    ///< sorted, coalesced, cut at rows; without overlaps
  bool is_shared = false;          ///< several of its recorded ranks own an element
  std::uint64_t raw_requests = 0;  ///< entries read, before coalescing
  double read_seconds = 0.0;       ///< this rank's time in reading and parsing
  double sort_seconds = 0.0;       ///< sorting, coalescing, cutting at rows
};

/// Recorded ranks that rank `rank` of `size` stands for: contiguous blocks, the first (recorded %
/// size) ranks one more; none for the ranks beyond the recorded ones.
inline Run recorded_block(std::uint64_t recorded_ranks, int rank, int size) {
  return equal_range(recorded_ranks, static_cast<std::uint64_t>(rank),
                     static_cast<std::uint64_t>(size));
}

/// A decomposition file open for reading by all ranks of a communicator: PIO text (.dat, version
/// 2001), NetCDF, NetCDF-4 or HDF5 in any layout of maps, or a pattern file. Told apart by content.
class MapFile {
 public:
  virtual ~MapFile() = default;

  const std::string& path() const { return path_; }
  const std::string& layout() const { return layout_; }  ///< "PIO text", "single-map NetCDF", ...
  const std::vector<MapHeader>& maps() const { return maps_; }

  /// Collective. Reads the part of map `k` that belongs to rank `as_rank` of `size` (any rank may
  /// read any part; verification reads its neighbour's). Sorted, coalesced and checked: an offset
  /// out of range, an element that one recorded rank lists twice or a truncated file is an
  /// InputError that names file, map, recorded rank and value, agreed by all ranks.
  virtual MapPart read(std::size_t k, int as_rank, int size) = 0;

 protected:
  std::string path_;
  std::string layout_;
  std::vector<MapHeader> maps_;
};

/// Collective. Throws an agreed InputError if the file is missing, empty, of an unknown format, or
/// inconsistent.
std::unique_ptr<MapFile> open_map(const Comm& comm, const std::string& path);

/// Elements of the whole map that several ranks own or none does. Collective: runs meet at the
/// owner of equal ranges of the map (see exchange), memory follows what a rank owns.
struct Coverage {
  std::uint64_t elements = 0;  ///< of the global array
  std::uint64_t covered = 0;   ///< owned by at least one rank
  std::uint64_t overlaps = 0;  ///< owned by more than one
  std::uint64_t first_overlap = 0;
};
Coverage coverage(const Comm& comm, const MapHeader& header, const RunList& runs);

/// Collective. Calls `visit` with each of `ranks` ranks that falls to this process, and its part.
void for_each_part(const Comm& comm, MapFile& file, std::size_t k, std::uint64_t ranks,
                   const std::function<void(std::uint64_t rank, const MapPart&)>& visit);

/// Collective. The coverage of map `k`, each recorded rank by itself.
Coverage find_coverage(const Comm& comm, MapFile& file, std::size_t k);

/// Collective. The two lowest recorded ranks that own an element of map `k`.
std::array<std::uint64_t, 2> owners_of(const Comm& comm, MapFile& file, std::size_t k,
                                       std::uint64_t element);

/// Collective. "5 of its 8 elements are owned by more than one rank; the first is ..."
std::string describe_overlaps(const Comm& comm, MapFile& file, std::size_t k,
                              const Coverage& found);

}  // namespace slabmark
