#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "capture/read/captured_walk.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark {

/// The selections of the program's calls of HDF5, as dataspaces.
class Hdf5Selections {
 public:
  explicit Hdf5Selections(const RankReader& rank) : rank_(rank) {}

  /// In a dataset that has this extent now. Good until the next call.
  const hdf5::Space& in_file(const CapturedEvent& event, const Extent& extent);
  hdf5::Space in_memory(const CapturedEvent& event, const hdf5::Space& in_file) const;

 private:
  /// The further dimension that a file which was made for reading has for elements of none of our
  /// types; empty: it has none.
  Extent bytes_of_elements(const CapturedEvent& event, const hdf5::Space& in_file) const;

  const RankReader& rank_;
  std::map<std::vector<std::uint64_t>, hdf5::Space> spaces_;  ///< of late
};

}  // namespace slabmark
