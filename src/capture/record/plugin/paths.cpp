#include "capture/record/plugin/paths.hpp"

#include <array>
#include <climits>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>

#include "capture/record/plugin/inside.hpp"
#include "capture/record/recorder.hpp"

namespace slabmark::capture {

namespace {

/// In which the program was started; empty: recording is off.
std::string& start_folder() {
  static auto& folder = *new std::string;  // outlives whatever still opens files at exit
  return folder;
}

std::string folder_now() {
  std::array<char, PATH_MAX> folder{};
  return getcwd(folder.data(), folder.size()) == nullptr ? "" : folder.data();
}

/// How often what was opened under a name got another one.
struct Renamed {
  std::mutex mutex;
  std::map<std::string, unsigned> times;

  static Renamed& all() {
    static auto& one = *new Renamed;  // programs may write while static objects end
    return one;
  }
};

}  // namespace

void remember_start_folder() { start_folder() = folder_now(); }

std::string path_from_start(const char* path) {
  if (path[0] == '/' || start_folder().empty()) return path;
  const std::string now = folder_now();
  return now.empty() || now == start_folder() ? path : now + "/" + path;
}

unsigned times_renamed(const char* path) {
  if (is_child_of_fork()) return 0;
  const std::lock_guard guard(Renamed::all().mutex);
  return Renamed::all().times.try_emplace(path_from_start(path), 0).first->second;
}

std::string own_path(const char* path) {
  const unsigned times = times_renamed(path);
  std::string name = path_from_start(path);
  return times == 0 ? name : name + " (" + std::to_string(times + 1) + ")";
}

void renamed(const char* path) noexcept {
  if (is_child_of_fork()) return;
  const Inside inside;
  const std::string name = path_from_start(path);
  const std::lock_guard guard(Renamed::all().mutex);
  const auto found = Renamed::all().times.find(name);
  if (found != Renamed::all().times.end()) ++found->second;
}

}  // namespace slabmark::capture
