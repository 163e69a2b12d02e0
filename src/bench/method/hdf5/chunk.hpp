#pragma once

#include <optional>
#include <string>

#include "core/geometry/dataset.hpp"

namespace slabmark {

/// The chunks of datasets under the option hdf5.chunk. One value serves datasets of any shape:
///   pattern  what the pattern says of each dataset
///   none     contiguous, whatever the pattern says
///   4x866    or 4,866: lengths of the fastest dimensions; slower ones get 1, and lengths beyond a
///   dataset's
///            dimensions are left out from the front
///   64K      about so many elements: whole dimensions from the fastest on, then a part of the next
/// Time has chunk 1, unless a call says otherwise, and without another chunk a time step is one
/// chunk, since HDF5 lets only chunked datasets grow.
class Hdf5Chunks {
 public:
  Hdf5Chunks() = default;
  /// Throws InputError, which calls it `what`, for text of another form.
  explicit Hdf5Chunks(const std::string& text, const std::string& what = "Option hdf5.chunk");

  const std::string& text() const { return text_; }

  /// Chunk with time in front; empty for a contiguous dataset. A dataset that gets all its time
  /// steps at once (`fixed_time`) may be contiguous.
  Extent of(const Dataset& dataset, bool fixed_time = false, std::uint64_t time_chunk = 1) const;

  /// Why the chunk is not one for `dataset`; nothing if it is.
  std::optional<std::string> unsuited(const Dataset& dataset, std::uint64_t time_chunk = 1) const;

 private:
  std::optional<Extent> wanted(const Dataset& dataset) const;

  std::string text_ = "pattern";
  Extent lengths_;              ///< of the fastest dimensions
  std::uint64_t elements_ = 0;  ///< or so many elements
};

/// The kind of value for an OptionTable.
struct ChunkText {
  std::string accepted_values() const {
    return "pattern, none, lengths of at least 1 such as 4x866, or a number of elements such as "
           "64K";
  }
  std::string text(const Hdf5Chunks& chunks) const { return chunks.text(); }
  Hdf5Chunks parse(const std::string& text, const std::string& what) const {
    return Hdf5Chunks(text, what);
  }
};

}  // namespace slabmark
