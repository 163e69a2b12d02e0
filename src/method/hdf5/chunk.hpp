#pragma once

#include <optional>
#include <string>

#include "method/method.hpp"
#include "pattern/dataset.hpp"

namespace slabmark {

/// The option hdf5.chunk, which all HDF5 methods have.
OptionInfo hdf5_chunk_option();

/// Which chunks datasets get under the option hdf5.chunk. One value serves datasets of any shape:
///   pattern  what the pattern says of each dataset
///   none     contiguous, whatever the pattern says
///   4x866    lengths of the fastest dimensions; slower ones get 1, and lengths beyond a dataset's
///            dimensions are left out from the front
///   64K      about so many elements: whole dimensions from the fastest on, then a part of the next
/// Time has chunk 1, and without another chunk a time step is one chunk, since HDF5 lets only
/// chunked datasets grow.
class Hdf5Chunks {
 public:
  /// Throws InputError for a value of another form.
  explicit Hdf5Chunks(const Settings& settings);

  /// Chunk with time in front; empty for a contiguous dataset. A dataset that gets all its time
  /// steps at once (`fixed_time`) may be contiguous.
  Extent of(const Dataset& dataset, bool fixed_time = false) const;

  /// Why the chunk is not one for `dataset`; nothing if it is.
  std::optional<std::string> unsuited(const Dataset& dataset) const;

 private:
  std::optional<Extent> wanted(const Dataset& dataset) const;

  bool from_pattern_ = false;
  Extent lengths_;              ///< of the fastest dimensions
  std::uint64_t elements_ = 0;  ///< or so many elements
};

}  // namespace slabmark
