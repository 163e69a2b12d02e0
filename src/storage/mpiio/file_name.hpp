#pragma once

#include <cstddef>
#include <string>

namespace slabmark::mpiio {

/// Letters of a name that ROMIO takes for the type of a file system: "ufs:" in "ufs:f.nc".
std::size_t prefix_of(const std::string& path);

/// None either where a file is called all of that: OMPIO makes such.
std::size_t prefix_in_effect(const std::string& path);

/// The same name wherever the program goes, or went, from `directory` (empty: where it is now).
std::string absolute(const std::string& path, const std::string& directory = {});

}  // namespace slabmark::mpiio
