#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "geometry/run.hpp"
#include "method/method.hpp"

namespace slabmark {

/// Reads a finished file in the simplest way its format knows, independently of the method that
/// wrote it: verification must not share the mistakes of what it verifies.
class PlainReader {
 public:
  virtual ~PlainReader() = default;

  /// Reads the row-major elements `run` of one dataset (at `time`, if it has a time dimension).
  /// Not collective: ranks may read different amounts.
  virtual void read(std::size_t dataset, std::uint64_t time, Run run, std::byte* out) = 0;
};

/// Opens `path` on all ranks (collective).
std::unique_ptr<PlainReader> open_plain(FileFormat format, const Comm& comm, const Pattern& pattern,
                                        const std::string& path);

}  // namespace slabmark
