#include "storage/pnetcdf/calls/call.hpp"

#include <cstddef>

namespace slabmark::pnetcdf {

std::string name_of(Verb verb, Access::Kind kind, bool collective) {
  return std::string("ncmpi_") + verb_names[static_cast<std::size_t>(verb)] + "_" +
         kind_names[static_cast<std::size_t>(kind)] + (collective ? "_all" : "");
}

}  // namespace slabmark::pnetcdf
