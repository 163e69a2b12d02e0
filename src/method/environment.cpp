#include "method/environment.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <hdf5.h>

#include "base/error.hpp"
#include "parallel/agree.hpp"
#include "storage/hdf5/file.hpp"
#include "storage/mpiio/implementation.hpp"

#if SLABMARK_WITH_PNETCDF
#include "storage/pnetcdf/file.hpp"
#endif

namespace slabmark {

namespace {

std::string setting_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "not set" : fmt::format("'{}'", value);
}

}  // namespace

nlohmann::json LibraryEnvironment::to_json() const {
  nlohmann::json libraries = {{"hdf5", hdf5}};
  if (!pnetcdf.empty()) libraries["pnetcdf"] = pnetcdf;
  return {{"mpi_io", mpi_io}, {"libraries", libraries}};
}

std::string LibraryEnvironment::warning() const {
  if (mpi_io != "OMPIO") return "";
  return "The MPI-IO in effect is Open MPI's OMPIO, which is many times slower than ROMIO on "
         "irregular "
         "requests; 'mpiexec --mca io romio321' (Open MPI 4) or '--mca io romio341' (Open MPI 5) "
         "selects ROMIO.";
}

void require_hdf5(const Comm& comm) {
  agreed(comm, [] {
    if (H5open() >= 0) return;
    throw InputError(
        fmt::format("HDF5 does not start: HDF5_VOL_CONNECTOR is {}, HDF5_DRIVER is {}; correct or "
                    "unset them.",
                    setting_of("HDF5_VOL_CONNECTOR"), setting_of("HDF5_DRIVER")));
  });
}

LibraryEnvironment library_environment(const Comm& comm, const std::string& directory) {
  LibraryEnvironment environment{"", hdf5::library_version(), ""};
#if SLABMARK_WITH_PNETCDF
  environment.pnetcdf = pnetcdf::library_version();
#endif
  agreed(comm, [&] {
    if (comm.is_root()) environment.mpi_io = mpiio::mpi_io_implementation(directory);
  });
  environment.mpi_io = comm.broadcast(environment.mpi_io);
  return environment;
}

}  // namespace slabmark
