#include "method/environment.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#if SLABMARK_WITH_PNETCDF
#include <pnetcdf.h>
#endif

#include "parallel/agree.hpp"
#include "storage/mpiio/implementation.hpp"

namespace slabmark {

namespace {

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

std::string pnetcdf_version() {
#if SLABMARK_WITH_PNETCDF
  // "1.12.3 of 15 Jan 2022": the date says nothing that the number does not.
  const std::string text = ncmpi_inq_libvers();
  return text.substr(0, text.find(' '));
#else
  return "";
#endif
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

LibraryEnvironment library_environment(const Comm& comm, const std::string& directory) {
  LibraryEnvironment environment{"", hdf5_version(), pnetcdf_version()};
  agreed(comm, [&] {
    if (comm.is_root()) environment.mpi_io = mpiio::mpi_io_implementation(directory);
  });
  environment.mpi_io = comm.broadcast(environment.mpi_io);
  return environment;
}

}  // namespace slabmark
