#pragma once

#include <string_view>

namespace slabmark {

std::string_view version();  ///< "1.0.0"
std::string_view
git_revision();  ///< "1a2b3c4d5e6f", with "-dirty" if files differ; "unknown" outside git
std::string_view compiler();    ///< "GNU 12.2.0"
std::string_view build_type();  ///< "Release"
std::string_view libraries();   ///< "HDF5 2.2.0, PnetCDF 1.12.3": those of the build

}  // namespace slabmark
