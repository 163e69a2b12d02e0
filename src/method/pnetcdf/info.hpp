#pragma once

#include <string>

#include "method/method.hpp"

namespace slabmark {

/// What the entries of the PnetCDF methods have in common: format, what CDF-5 cannot hold, and
/// whether this build has PnetCDF at all.
MethodInfo pnetcdf_info(std::string name, std::string summary);

/// Off by default: pnetcdf.blocking of the methods that have a nonblocking form.
OptionInfo pnetcdf_blocking_option(std::string call);

}  // namespace slabmark
