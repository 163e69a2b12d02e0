#include "storage/mpiio/implementation.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "core/base/error.hpp"
#include "core/base/path.hpp"
#include "core/parallel/program.hpp"
#include "storage/mpiio/file_name.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark::mpiio {

namespace {

bool is_admitted(const std::string& components, const std::string& name) {
  const bool excludes = components.starts_with('^');
  std::istringstream list(excludes ? components.substr(1) : components);
  std::set<std::string> listed;
  for (std::string entry; std::getline(list, entry, ',');) listed.insert(entry);
  return listed.empty() || listed.contains(name) != excludes;
}

std::string spoken_name(const std::string& component) {
  if (component == "ompio") return "OMPIO";
  if (component.starts_with("romio")) return "ROMIO";
  return fmt::format("unknown (Open MPI's component {})", component);
}

}  // namespace

std::string chosen_implementation(const OpenMpiSelection& selection) {
  std::string best;
  int best_priority = -1;
  for (const auto& [name, priority] : selection.priorities) {
    if (!is_admitted(selection.components, name)) continue;
    const int offered = name == "ompio" && selection.on_lustre ? 1 : priority;
    if (offered <= best_priority) continue;
    best = name;
    best_priority = offered;
  }
  return best.empty() ? "unknown (Open MPI has no MPI-IO component)" : spoken_name(best);
}

#ifdef OPEN_MPI

namespace {

/// MPI's tools interface, open for as long as this lives. It counts, so others may have it open
/// too.
class ToolsInterface {
 public:
  ToolsInterface() {
    // The level that MPI has: Open MPI 4.1.4 takes another for its own from here on, and HDF5's
    // subfiling driver then refuses to work.
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    int provided = 0;
    open_ = MPI_T_init_thread(level, &provided) == MPI_SUCCESS;
  }
  ~ToolsInterface() {
    if (open_) MPI_T_finalize();
  }
  ToolsInterface(const ToolsInterface&) = delete;
  ToolsInterface& operator=(const ToolsInterface&) = delete;

  bool open() const { return open_; }

 private:
  bool open_ = false;
};

/// The components of Open MPI 2 to 5.
constexpr std::array components = {"ompio", "romio314", "romio321", "romio341"};

/// The value of a control variable; empty if there is none of this name, or of another type.
template <typename Value>
std::vector<Value> read_variable(const std::string& name, MPI_Datatype expected) {
  int index = 0;
  if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return {};
  int name_length = 0;
  int description_length = 0;
  int verbosity = 0;
  int binding = 0;
  int scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum enumeration = MPI_T_ENUM_NULL;
  MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, &type, &enumeration, nullptr,
                      &description_length, &binding, &scope);
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  if (type != expected || MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) {
    return {};
  }
  std::vector<Value> value(static_cast<std::size_t>(count) + 1);
  MPI_T_cvar_read(handle, value.data());
  MPI_T_cvar_handle_free(&handle);
  return value;
}

OpenMpiSelection read_selection() {
  OpenMpiSelection selection;
  const std::vector<char> list = read_variable<char>("io", MPI_CHAR);
  if (!list.empty()) selection.components = list.data();
  for (const char* component : components) {
    const std::vector<int> priority =
        read_variable<int>(fmt::format("io_{}_priority", component), MPI_INT);
    if (!priority.empty()) selection.priorities[component] = priority.front();
  }
  return selection;
}

}  // namespace

// The hints of an open file would not tell: Open MPI 4.1 hands back those that the user gave, with
// either component.
std::string mpi_io_implementation(const std::string& directory) {
  const ToolsInterface tools;
  if (!tools.open()) return "unknown (MPI's tools interface cannot be opened)";
  OpenMpiSelection selection = read_selection();
  selection.on_lustre = posix::is_on_lustre(directory);
  return chosen_implementation(selection);
}

#elif defined(ROMIO_VERSION) || defined(MPICH_VERSION) || defined(MPICH_NUMVERSION)

// MPICH and what is made of it (Cray, Intel, MVAPICH) have no other.
std::string mpi_io_implementation(const std::string&) { return "ROMIO"; }

#else

// Of the standard ABI, say, so what it runs on counts.
std::string mpi_io_implementation(const std::string&) {
  const std::string mpi = mpi_library_version();
  const bool of_mpich = mpi.find("MPICH") != mpi.npos || mpi.starts_with("Intel");
  return of_mpich ? "ROMIO" : "unknown (neither Open MPI nor of MPICH's family)";
}

#endif

bool fails_on_overlaps(const std::string& implementation, const std::string& mpi) {
  static const std::regex failing("Open MPI v4\\.1\\.[1-4]([^0-9].*)?");
  return implementation == "OMPIO" && std::regex_match(mpi, failing);
}

bool fails_on_overlaps_in(const std::string& directory) {
  static std::map<std::string, bool> known;
  const auto [place, is_new] = known.try_emplace(directory);
  if (is_new)
    place->second = fails_on_overlaps(mpi_io_implementation(directory), mpi_library_version());
  return place->second;
}

// Open MPI 4.1.4 prints path and rank into 256 bytes when it looks for shared file pointers, and
// makes a file of the name with some 20 bytes more in its session folder.
void require_length_for_mpi_io(const std::string& path) {
  constexpr std::size_t longest_for_ompio = 230;
  if (path.size() <= longest_for_ompio) return;
  if (mpi_io_implementation(directory_of(path)) != "OMPIO") return;
  throw InputError(fmt::format(
      "The path '{}' is longer than {} bytes, and Open MPI's OMPIO crashes on such; go "
      "nearer to the file, choose a shorter name, or select ROMIO (OMPI_MCA_io=^ompio).",
      path, longest_for_ompio));
}

void require_path_for_mpi_io(const std::string& path) {
  if (prefix_of(path) > 0) {
    throw InputError(fmt::format(
        "MPI-IO takes the beginning of '{}' for the type of a file system; choose another name.",
        path));
  }
  require_length_for_mpi_io(path);
}

}  // namespace slabmark::mpiio
