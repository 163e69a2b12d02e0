#include "programs/h5perf/environment.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark::h5perf {

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::pair<std::string, std::string> parse_hint(const std::string& entry, const std::string& all) {
  const std::string hint = trimmed(entry);
  if (hint.empty()) {
    throw InputError(fmt::format(
        "HDF5_MPI_INFO is '{}', which has a blank entry; separate key=value pairs by one "
        "semicolon.",
        all));
  }
  const auto at = hint.find('=');
  const std::string key = trimmed(hint.substr(0, at));
  if (at == std::string::npos || key.empty()) {
    throw InputError(
        fmt::format("HDF5_MPI_INFO has the entry '{}', which is not of the form key=value.", hint));
  }
  return {key, trimmed(hint.substr(at + 1))};
}

void choose_directory(Environment& environment) {
  environment.prefix = variable("HDF5_PARAPREFIX");
  if (environment.prefix.empty()) {
    environment.directory = ".";
    return;
  }
  std::error_code error;
  if (!fs::is_directory(environment.prefix, error)) {
    throw InputError(fmt::format(
        "HDF5_PARAPREFIX names '{}', which is no directory; create it or choose another.",
        environment.prefix));
  }
  environment.directory = environment.prefix;
  const std::string user = variable("USER").empty() ? variable("LOGIN") : variable("USER");
  if (user.empty()) return;
  const fs::path folder = fs::path(environment.prefix) / user;
  environment.make_directory = !fs::exists(folder, error);
  if (environment.make_directory || fs::is_directory(folder, error)) {
    environment.directory = folder.string();
  }
}

/// "key=value;key=value" as hints, blanks around both taken off. A semicolon may end the list.
std::vector<std::pair<std::string, std::string>> parse_mpi_info(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> hints;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    hints.push_back(parse_hint(text.substr(begin, end - begin), text));
    begin = end + 1;
  }
  return hints;
}

}  // namespace

Environment read_environment() {
  Environment environment;
  choose_directory(environment);
  environment.keep = std::getenv("HDF5_NOCLEANUP") != nullptr;
  environment.hints = parse_mpi_info(variable("HDF5_MPI_INFO"));
  return environment;
}

}  // namespace slabmark::h5perf
