#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/method/method.hpp"
#include "collective/file.hpp"
#include "core/geometry/run.hpp"

namespace slabmark {

/// All that a definition depends on, as one text: datasets, attributes, records, and settings.
std::string definition_key(const Pattern& pattern, const Settings& settings);

/// A file as its library defined it, without the data of arrays. The next file with the same key
/// gets these bytes in place of the same calls to the library.
class Definition {
 public:
  /// Reads `metadata` (ascending bytes) of the file at `path`, which is closed and of `bytes`
  /// bytes.
  Definition(std::string key, const std::string& path, std::uint64_t bytes,
             const RunList& metadata);

  const std::string& key() const { return key_; }
  std::uint64_t bytes() const { return bytes_; }  ///< of the file

  /// Writes them to a file that has bytes() bytes, all of them zero.
  void write(collective::File& file) const;

 private:
  struct Part {
    std::uint64_t offset;
    std::vector<std::byte> bytes;
  };

  std::string key_;
  std::uint64_t bytes_;
  std::vector<Part> parts_;
};

}  // namespace slabmark
