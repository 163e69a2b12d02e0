#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slabmark::posix {

/// Bytes [begin, end) of a file.
struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

/// The ranges of a file that are stored, ascending: what lies between them reads as zero. All of
/// the file where its file system does not tell. Throws IoError.
std::vector<Range> stored_ranges(const std::string& path);

}  // namespace slabmark::posix
