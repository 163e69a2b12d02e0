#include "collective/conformance/netcdf.hpp"

#include <stdexcept>

#include "storage/pnetcdf/types/element_type.hpp"

namespace slabmark::conformance {

void check_netcdf(int error, const std::string& call) {
  if (error != NC_NOERR) throw std::runtime_error(call + ": " + ncmpi_strerror(error));
}

std::vector<int> define_netcdf(int ncid, const Program& program) {
  std::vector<int> variables;
  int records = -1;
  for (const Array& array : program.arrays) {
    std::vector<int> dimensions;
    if (array.has_records) {
      if (records < 0) {
        check_netcdf(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &records), "ncmpi_def_dim");
      }
      dimensions.push_back(records);
    }
    for (const std::uint64_t length : array.extent) {
      const std::string name = array.name + std::to_string(dimensions.size());
      check_netcdf(ncmpi_def_dim(ncid, name.c_str(), static_cast<MPI_Offset>(length),
                                 &dimensions.emplace_back()),
                   "ncmpi_def_dim");
    }
    check_netcdf(ncmpi_def_var(ncid, array.name.c_str(), pnetcdf::nc_type_of(array.type),
                               static_cast<int>(dimensions.size()), dimensions.data(),
                               &variables.emplace_back()),
                 "ncmpi_def_var");
  }
  return variables;
}

std::vector<int> find_netcdf(int ncid, const Program& program) {
  std::vector<int> variables;
  for (const Array& array : program.arrays) {
    check_netcdf(ncmpi_inq_varid(ncid, array.name.c_str(), &variables.emplace_back()),
                 "ncmpi_inq_varid");
  }
  return variables;
}

}  // namespace slabmark::conformance
