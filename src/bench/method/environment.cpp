#include "bench/method/environment.hpp"

#include <cctype>

#include "bench/method/format.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/program.hpp"
#include "storage/mpiio/implementation.hpp"

namespace slabmark {

Json LibraryEnvironment::to_json() const {
  Json versions = Json::object();
  for (const auto& [name, version] : libraries) {
    std::string member = name;
    for (char& c : member) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!version.empty()) versions[member] = version;
  }
  Json faults = Json::array();
  if (fails_on_overlaps) faults.push_back("collective-overlaps");
  return {{"mpi_io", mpi_io}, {"mpi_io_faults", faults}, {"libraries", versions}};
}

std::string LibraryEnvironment::warning() const {
  if (mpi_io != "OMPIO") return "";
  return std::string(
             "The MPI-IO in effect is Open MPI's OMPIO, which is many times slower than ROMIO on "
             "irregular requests") +
         (fails_on_overlaps ? " and, in this version, crashes or moves wrong bytes where ranks "
                              "share elements in a collective call"
                            : "") +
         "; 'mpiexec --mca io romio321' (Open MPI 4) or '--mca io romio341' (Open MPI 5) selects "
         "ROMIO.";
}

void require_libraries(const Comm& comm) {
  agreed(comm, [] {
    for (const FileLibrary* library : file_libraries()) {
      if (library->start != nullptr) library->start();
    }
  });
}

LibraryEnvironment library_environment(const Comm& comm, const std::string& directory) {
  LibraryEnvironment environment;
  for (const FileLibrary* library : file_libraries()) {
    environment.libraries[library->name] = library->version == nullptr ? "" : library->version();
  }
  agreed(comm, [&] {
    if (comm.is_root()) environment.mpi_io = mpiio::mpi_io_implementation(directory);
  });
  environment.mpi_io = comm.broadcast(environment.mpi_io);
  environment.fails_on_overlaps =
      mpiio::fails_on_overlaps(environment.mpi_io, mpi_library_version());
  return environment;
}

}  // namespace slabmark
