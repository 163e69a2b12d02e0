#include "parallel/abort.hpp"

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include <fmt/format.h>
#include <mpi.h>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "parallel/comm.hpp"

namespace slabmark {

namespace {

// Fixed storage, because a signal handler may neither allocate nor lock. Room for a thousand
// subfiles; pages that nothing is written to take no memory.
struct GuardedPath {
  std::atomic<bool> used{false};
  std::array<char, PATH_MAX> path{};
};
std::array<GuardedPath, 1024> guarded;

void remove_guarded_files() {
  // Backwards, because a directory is guarded before the files in it.
  for (auto entry = guarded.rbegin(); entry != guarded.rend(); ++entry) {
    if (!entry->used) continue;
    if (unlink(entry->path.data()) != 0) rmdir(entry->path.data());
  }
}

extern "C" void remove_and_stop(int signal_number) {
  remove_guarded_files();
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

}  // namespace

RemoveOnAbort::RemoveOnAbort(const std::string& path) {
  if (path.size() >= PATH_MAX) throw InputError(fmt::format("The path '{}' is too long.", path));
  for (std::size_t i = 0; i < guarded.size(); ++i) {
    if (guarded[i].used) continue;
    std::strcpy(guarded[i].path.data(), path.c_str());
    guarded[i].used = true;
    slot_ = static_cast<int>(i);
    return;
  }
  // All slots taken: the file is still removed on every ordinary way out, so this is no failure.
}

RemoveOnAbort::~RemoveOnAbort() {
  if (slot_ >= 0) guarded[static_cast<std::size_t>(slot_)].used = false;
}

void remove_guarded_files_on_signals() {
  std::signal(SIGINT, remove_and_stop);
  std::signal(SIGTERM, remove_and_stop);
}

void abort_job(const std::string& message) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fmt::print(stderr, "rank {} on host {}: {}\n", rank, host_name(), printable(message));
  std::fflush(nullptr);
  remove_guarded_files();
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(ExitStatus::failed));
  std::_Exit(static_cast<int>(ExitStatus::failed));
}

}  // namespace slabmark
