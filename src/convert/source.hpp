#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "convert/contents.hpp"
#include "core/geometry/hyperslab.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::convert {

/// A file that is converted, whatever its format.
class Source {
 public:
  virtual ~Source() = default;

  const FileContents& contents() const { return contents_; }

  /// Each rank for itself: the elements of a box, row by row, as this machine holds them.
  virtual void read(std::size_t variable, const Hyperslab& box, std::byte* memory) = 0;

  /// Whether a thread may read while others call MPI and HDF5.
  virtual bool reads_in_threads() const;
  /// From now on the operating system need not keep what was read in memory.
  virtual void drop_behind();

 protected:
  /// The sources that this one is made of.
  virtual std::vector<Source*> parts() const { return {}; }

  FileContents contents_;
};

/// Collective. Throws an agreed InputError for a file of no known format, and for one that ends
/// before its elements do.
std::unique_ptr<Source> open_source(const Comm& comm, const std::string& path);

/// Collective: the same for a file that targets have made, in the order of `like`. A library reads
/// it that had no part in writing elements: HDF5, or PnetCDF.
std::unique_ptr<Source> open_to_verify(const Comm& comm, const std::string& path,
                                       const FileContents& like);

}  // namespace slabmark::convert
