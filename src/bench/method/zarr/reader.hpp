#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/method/format.hpp"
#include "storage/zarr/array_reader.hpp"

namespace slabmark {

/// Reads a store, each rank for itself.
class ZarrReader : public PlainReader {
 public:
  ZarrReader(const Comm&, const Pattern& pattern, const std::string& path);

  void read(std::size_t dataset, std::uint64_t time, Run run, std::byte* out) override;

 private:
  const Pattern& pattern_;
  std::vector<zarr::ArrayReader> arrays_;
  std::size_t latest_ = 0;  ///< the only one that keeps shards
};

}  // namespace slabmark
