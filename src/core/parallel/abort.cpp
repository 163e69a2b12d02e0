#include "core/parallel/abort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <mpi.h>

#include "core/base/host_name.hpp"
#include "core/base/printable.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/watched_writes.hpp"

namespace slabmark {

namespace {

// Fixed storage, because a signal handler may neither allocate nor lock. Room for a thousand
// subfiles; pages that nothing is written to take no memory.
struct GuardedPath {
  std::atomic<bool> used{false};
  bool with_contents = false;
  std::array<char, PATH_MAX> path{};
};
std::array<GuardedPath, 1024> guarded;

// By the system's own calls, since opendir() allocates. Files that are removed while a directory is
// read may hide others from the reader, so it is read until nothing is left to remove.
void remove_contents(int directory) {
  alignas(dirent64) std::array<char, 4096> entries;
  for (bool removed = true; removed;) {
    removed = false;
    lseek(directory, 0, SEEK_SET);
    for (;;) {
      const long bytes = syscall(SYS_getdents64, directory, entries.data(), entries.size());
      if (bytes <= 0) break;
      for (long at = 0; at < bytes;) {
        const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
        at += entry->d_reclen;
        const std::string_view name(entry->d_name);
        if (name == "." || name == "..") continue;
        if (unlinkat(directory, entry->d_name, 0) != 0) {
          const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
          const int inner = openat(directory, entry->d_name, flags);
          if (inner < 0) continue;
          remove_contents(inner);
          close(inner);
          if (unlinkat(directory, entry->d_name, AT_REMOVEDIR) != 0) continue;
        }
        removed = true;
      }
    }
  }
}

void remove_guarded(const GuardedPath& entry) {
  if (unlink(entry.path.data()) == 0) return;
  if (entry.with_contents) {
    const int directory = open(entry.path.data(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0) return;
    remove_contents(directory);
    close(directory);
  }
  rmdir(entry.path.data());
}

void remove_guarded_files() {
  // Backwards, because a directory is guarded before the files in it.
  for (auto entry = guarded.rbegin(); entry != guarded.rend(); ++entry) {
    if (entry->used) remove_guarded(*entry);
  }
}

extern "C" void remove_and_stop(int signal_number) {
  remove_guarded_files();
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

// The handler of a crash may not make its sentence, so it is ready before: up to the signal, and
// what follows.
std::array<char, 1024> crash_begin{};
std::array<char, 256> crash_end{};

constexpr std::array<std::pair<int, std::string_view>, 5> crashes = {{{SIGSEGV, "SIGSEGV"},
                                                                      {SIGBUS, "SIGBUS"},
                                                                      {SIGABRT, "SIGABRT"},
                                                                      {SIGFPE, "SIGFPE"},
                                                                      {SIGILL, "SIGILL"}}};
std::array<struct sigaction, crashes.size()> before_us{};  // MPI's, or a sanitizer's

extern "C" void tell_and_crash(int signal_number, siginfo_t* info, void*) {
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    const auto& [number, text] = crashes[i];
    if (number != signal_number) continue;
    sigaction(number, &before_us[i], nullptr);
    if (crash_begin.front() == '\0') continue;
    remove_guarded_files();
    for (const std::string_view part :
         {std::string_view(crash_begin.data()), text, std::string_view(crash_end.data())}) {
      if (write(STDERR_FILENO, part.data(), part.size()) < 0) break;
    }
  }
  // A fault comes again with its own address, which a sanitizer tells.
  if (info->si_code <= 0) std::raise(signal_number);
}

void watch_crashes() {
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    struct sigaction ours {};
    ours.sa_sigaction = tell_and_crash;
    ours.sa_flags = SA_SIGINFO;
    sigaction(crashes[i].first, &ours, &before_us[i]);
  }
}

const char* program = nullptr;  // null: this process is not ours to end
std::atomic<bool> is_told{false};

// For failing together without it; closing a large file may take as long.
constexpr std::chrono::seconds grace{8};

int my_rank() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  int rank = 0;
  if (!finalized) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Longer than it takes MPI to end the ranks, so that nodes do not speak one after the other.
std::chrono::milliseconds seconds_after_lower_ranks() {
  const int rank = my_rank();
  return std::chrono::milliseconds(rank == 0 ? 0 : 1000 + 500 * std::min(rank, 10));
}

bool has_peers() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  int size = 1;
  if (!finalized) MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size > 1;
}

// Several ranks of a node may end the job at the same moment. A name in Linux's abstract space is
// given to one process at a time and comes back with its end; ranks have their launcher as parent.
bool is_first_on_node() {
  if (!has_peers()) return true;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  fmt::format_to_n(name.sun_path + 1, sizeof name.sun_path - 2, "slabmark: job of {} ends",
                   getppid());
  const int claim = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return bind(claim, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 ||
         errno != EADDRINUSE;
}

// MPICH's launcher ends with the first rank that aborts, and what it has not read by then is lost:
// the messages of two jobs in a hundred, of one in ten where several ranks abort together.
void wait_until_read(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  for (int tries = 0; tries < 1000; ++tries) {
    int unread = 0;
    if (ioctl(descriptor, FIONREAD, &unread) != 0 || unread == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

[[noreturn]] void end_job(const std::string& message, ExitStatus status) {
  // The thread of end_soon() and the one that failed may come here together; one of them goes on.
  static std::atomic<bool> begun{false};
  while (begun.exchange(true)) std::this_thread::sleep_for(std::chrono::hours(1));
  // MPI_Abort may want a lock that is held where the job hangs, and standard output may be full.
  std::signal(SIGALRM, [](int) { _exit(static_cast<int>(ExitStatus::failed)); });
  alarm(5);
  remove_guarded_files();
  const bool is_first = is_first_on_node();
  if (is_first && !message.empty()) {
    const std::string prefix = program == nullptr ? "" : fmt::format("{}: error: ", program);
    fmt::print(stderr, "{}rank {} on host {}: {}\n", prefix, my_rank(), host_name(),
               printable(message));
  }
  std::fflush(nullptr);
  if (is_first) {
    wait_until_read(STDERR_FILENO);
  } else {
    std::this_thread::sleep_for(std::chrono::seconds(1));  // the one that speaks is to end the job
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Abort(MPI_COMM_WORLD, static_cast<int>(status));
  std::_Exit(static_cast<int>(status));
}

}  // namespace

RemoveOnAbort::RemoveOnAbort(const std::string& path, Directory directory) {
  if (path.size() >= PATH_MAX) throw InputError(fmt::format("The path '{}' is too long.", path));
  for (std::size_t i = 0; i < guarded.size(); ++i) {
    if (guarded[i].used) continue;
    std::strcpy(guarded[i].path.data(), path.c_str());
    guarded[i].with_contents = directory == Directory::with_contents;
    guarded[i].used = true;
    slot_ = static_cast<int>(i);
    return;
  }
  // All slots taken: the file is still removed on every ordinary way out, so this is no failure.
}

RemoveOnAbort::~RemoveOnAbort() {
  if (slot_ >= 0) guarded[static_cast<std::size_t>(slot_)].used = false;
}

TellCrash::TellCrash(const std::string& work, const std::string& remedy) {
  const auto put = [](auto& to, const std::string& text) {
    std::strncpy(to.data(), text.c_str(), to.size() - 1);
  };
  if (program == nullptr) return;
  put(crash_end, fmt::format(". {}\n", remedy));
  put(crash_begin, fmt::format("\n{}: error: rank {} on host {}: {} was ended by ", program,
                               my_rank(), host_name(), printable(work)));
}

TellCrash::~TellCrash() { crash_begin.fill('\0'); }

void enter_program(const char* name) {
  program = name;
  std::signal(SIGXFSZ, SIG_IGN);
  if (has_peers()) std::signal(SIGPIPE, SIG_IGN);
  for (const int number : {SIGHUP, SIGINT, SIGTERM, SIGXCPU}) {
    // Signals that the one who started the program ignores stay ignored: nohup.
    if (std::signal(number, remove_and_stop) == SIG_IGN) std::signal(number, SIG_IGN);
  }
  watch_crashes();
  watch_writes();
}

void abort_job(const std::string& message) {
  std::this_thread::sleep_for(seconds_after_lower_ranks());
  end_job(message, ExitStatus::failed);
}

void end_soon(const std::string& message, ExitStatus status) {
  static std::atomic<bool> called{false};
  if (program == nullptr || called.exchange(true)) return;
  // Asked here: the ranks may fail together, and the thread would ask while MPI_Finalize is under
  // way.
  const auto wait = grace + seconds_after_lower_ranks();
  std::thread([message, status, wait] {
    std::this_thread::sleep_for(wait);
    end_job(is_told ? "" : message, status);
  }).detach();
}

void failure_is_told() { is_told = true; }

}  // namespace slabmark
