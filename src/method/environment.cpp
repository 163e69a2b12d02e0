#include "method/environment.hpp"

#include <cctype>

#include "method/format.hpp"
#include "parallel/agree.hpp"
#include "storage/mpiio/implementation.hpp"

namespace slabmark {

nlohmann::json LibraryEnvironment::to_json() const {
  nlohmann::json versions = nlohmann::json::object();
  for (const auto& [name, version] : libraries) {
    std::string member = name;
    for (char& c : member) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!version.empty()) versions[member] = version;
  }
  return {{"mpi_io", mpi_io}, {"libraries", versions}};
}

std::string LibraryEnvironment::warning() const {
  if (mpi_io != "OMPIO") return "";
  return "The MPI-IO in effect is Open MPI's OMPIO, which is many times slower than ROMIO on "
         "irregular "
         "requests; 'mpiexec --mca io romio321' (Open MPI 4) or '--mca io romio341' (Open MPI 5) "
         "selects ROMIO.";
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
  return environment;
}

}  // namespace slabmark
