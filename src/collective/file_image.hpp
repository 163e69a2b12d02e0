#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/geometry/run.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark::collective {

/// The bytes of a file that was defined and has no data yet, for the next file that is defined
/// alike: it gets them at once, in place of the calls of a file library. Of one process.
class FileImage {
 public:
  /// Of all bytes that are stored.
  explicit FileImage(const std::string& path);
  /// Of the bytes `where`, ascending; the others count as zero.
  FileImage(const std::string& path, const RunList& where);

  /// Makes the file, which must not exist yet, with the same size and bytes. Nothing is left of it
  /// where that fails.
  void create(const std::string& path, const mpiio::Hints& user) const;

 private:
  struct Part {
    std::uint64_t offset;
    std::vector<std::byte> bytes;
  };
  void add(std::uint64_t offset, const std::vector<std::byte>& bytes);

  std::uint64_t bytes_ = 0;  ///< of the file
  std::vector<Part> parts_;
};

}  // namespace slabmark::collective
