#pragma once

#include <cstdint>
#include <vector>

#include "capture/interpose/datatype/runs.hpp"

namespace slabmark::capture {

/// The view of a process of a file (MPI_File_set_view).
class View {
 public:
  /// All of the file, in bytes.
  View() : View(0, 1, TypeMap()) {}
  View(std::int64_t displacement, std::int64_t etype_bytes, TypeMap filetype);

  /// The bytes of the file behind `bytes` bytes of the view from its byte `from` on.
  ByteRuns bytes_of_file(std::int64_t from, std::int64_t bytes) const;

  std::int64_t displacement() const { return displacement_; }
  std::int64_t etype_bytes() const { return etype_bytes_; }
  const TypeMap& filetype() const { return filetype_; }

 private:
  std::int64_t displacement_;
  std::int64_t etype_bytes_;
  TypeMap filetype_;
  std::vector<std::int64_t> before_;  ///< bytes of the filetype before each run
};

}  // namespace slabmark::capture
