#pragma once

#include "convert/classic_places.hpp"
#include "storage/pnetcdf/file.hpp"

namespace slabmark::convert {

/// Of a file that PnetCDF has open, in data mode.
inline ClassicPlaces places_in(const pnetcdf::File& file, const FileContents& contents) {
  std::vector<std::uint64_t> begins;
  for (std::size_t v = 0; v < contents.variables.size(); ++v) {
    begins.push_back(file.inq_varoffset(static_cast<int>(v)));
  }
  return {contents, std::move(begins), file.inq_recsize()};
}

}  // namespace slabmark::convert
