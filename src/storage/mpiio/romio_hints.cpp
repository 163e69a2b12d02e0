#include "storage/mpiio/romio_hints.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <mpi.h>

namespace slabmark::mpiio {

namespace {

/// As ROMIO reads it: a line of other than two words, or one that begins with '#', is none, and the
/// first of a name holds.
std::map<std::string, std::string> hints_of_environment() {
  const char* const named = std::getenv("ROMIO_HINTS");
  std::ifstream file;
  if (named != nullptr) file.open(named);
  if (!file.is_open()) file.open("/etc/romio-hints");
  std::map<std::string, std::string> hints;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, value, more;
    if (line.starts_with('#') || !(words >> name >> value) || words >> more) continue;
    hints.emplace(name, value);
  }
  return hints;
}

}  // namespace

bool romio_hears_hints_of_opening() {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  return false;
#else
  return true;
#endif
}

Hints without_unheard(Hints hints) {
  if (romio_hears_hints_of_opening()) return hints;
  std::erase_if(hints, [](const auto& hint) { return hint.first.starts_with("romio_"); });
  return hints;
}

std::map<std::string, std::string> hints_effective_in_romio(const Hints& given) {
  std::map<std::string, std::string> heard = hints_of_environment();
  for (const auto& [name, value] : given) {
    heard.erase(name);
    if (romio_hears_hints_of_opening()) heard[name] = value;
  }
  return heard;
}

}  // namespace slabmark::mpiio
