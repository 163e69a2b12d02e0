#pragma once

#include <memory>
#include <string>

#include "convert/source.hpp"

namespace slabmark::convert {

/// Collective: a classic file (CDF-1, CDF-2 or CDF-5). PnetCDF reads its header; its elements are
/// read from their places, whatever MPI-IO would make of many small requests.
std::unique_ptr<Source> open_classic(const Comm& comm, const std::string& path);

/// The same where PnetCDF reads the elements as well.
std::unique_ptr<Source> open_classic_in_pnetcdf(const Comm& comm, const std::string& path);

/// Gives a classic file the length that its elements need, if it is shorter: PnetCDF writes nothing
/// where the program wrote nothing. What is added reads as zero.
void extend_to_elements(const std::string& path);

}  // namespace slabmark::convert
