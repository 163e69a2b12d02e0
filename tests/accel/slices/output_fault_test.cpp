#include <csignal>
#include <filesystem>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <string>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accel/slices/output.hpp"
#include "accel/slices/simulation.hpp"
#include "core/base/error.hpp"
#include "scratch.hpp"

// What fails while outputs are written: a file that may not grow, a disk that is full, a thread
// that dies.

namespace slabmark::slice {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Writes outputs until one fails, and returns what the library says then; `written` are those
/// before it. Every rank gets the same message.
std::string write_until_failure(Output& output, Simulation& simulation, std::uint64_t first,
                                std::vector<std::uint64_t>& written) {
  try {
    for (auto step = first; step < first + 200; ++step) {
      simulation.set(step);
      output.write(step, static_cast<double>(step));
      written.push_back(step);
    }
    output.flush();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::failed);
    return error.what();
  }
  return "nothing failed";
}

/// On root: the file ends with some output up to the last of `steps`, and all of it is right.
/// Returns how many there are.
std::uint64_t expect_beginning_of(const std::string& path, const Cut& cut, std::uint64_t fields,
                                  std::vector<std::uint64_t> steps) {
  const auto outputs = read(path, "time").size();
  EXPECT_LE(outputs, steps.size());
  steps.resize(std::min(outputs, steps.size()));
  expect_appended(path, cut, fields, steps);
  return outputs;
}

/// No file may grow beyond `bytes` while this lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    auto lower = before_;
    lower.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

class FileSizeLimited : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FileSizeLimited, IsAnErrorInTheCallerAndEveryOutputBeforeIsWhole) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 2);
  auto& declaration = simulation.declaration;
  declaration.cuts = {{whole_field(declaration.grid), {}, 1}};  // 20 KiB an output
  declaration.prefix = scratch.file("full");
  declaration.waiting = GetParam();
  std::vector<std::uint64_t> steps;
  {
    Output output(comm.get(), declaration);
    const FileSizeLimit limit(200 << 10);
    EXPECT_THAT(write_until_failure(output, simulation, 0, steps), HasSubstr("ulimit -f"));
    EXPECT_THROW(output.write(900, 900.0), Error) << "it has ended";
  }
  ASSERT_GE(steps.size(), 3U);
  if (comm.is_root()) {
    expect_appended(scratch.file("full.vtkhdf"), declaration.cuts[0], 2, steps);
  }
}

INSTANTIATE_TEST_SUITE_P(SynchronousOrWaiting, FileSizeLimited, testing::Values(0U, 3U));

TEST(Output, ThatFailsInFilesOfItsOwnLeavesOnlyWholeOnes) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 1);
  auto& declaration = simulation.declaration;
  declaration.cuts = {{whole_field(declaration.grid), {}, 1}};
  declaration.prefix = scratch.file("part");
  declaration.mode = FileMode::file_per_output;
  declaration.waiting = 2;
  Output output(comm.get(), declaration);
  simulation.set(0);
  output.write(0, 0.0);
  output.flush();
  {
    const FileSizeLimit limit(8 << 10);
    EXPECT_THROW(
        {
          output.write(1, 1.0);
          output.flush();
        },
        Error);
  }
  comm.barrier();
  if (!comm.is_root()) return;
  EXPECT_TRUE(fs::exists(scratch.file("part_000000.vtkhdf")));
  EXPECT_FALSE(fs::exists(scratch.file("part_000001.vtkhdf")));
}

/// A file system of `bytes` at a folder, in this process only; not there where that is not allowed.
class SmallDisk {
 public:
  SmallDisk(std::string folder, std::uint64_t bytes) : folder_(std::move(folder)) {
    fs::create_directory(folder_);
    if (unshare(CLONE_NEWNS) != 0) return;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
    mounted_ =
        mount("none", folder_.c_str(), "tmpfs", 0, fmt::format("size={}", bytes).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }

 private:
  std::string folder_;
  bool mounted_ = false;
};

class FullDisk : public testing::TestWithParam<std::tuple<FileMode, std::uint64_t>> {};

TEST_P(FullDisk, IsAnErrorInTheCallerAndEveryOutputBeforeIsWhole) {
  const auto [mode, waiting] = GetParam();
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() > 1) GTEST_SKIP() << "each process would have a disk of its own";
  const Scratch scratch(comm);
  const SmallDisk disk(scratch.file("disk"), 1 << 20);
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small disk is not permitted here";
  Simulation simulation(comm, grid_of(comm), 2);
  auto& declaration = simulation.declaration;
  declaration.cuts = {{whole_field(declaration.grid), {}, 1}};  // 20 KiB an output
  declaration.prefix = scratch.file("disk/full");
  declaration.mode = mode;
  declaration.waiting = waiting;
  std::vector<std::uint64_t> steps;
  {
    Output output(comm.get(), declaration);
    EXPECT_THAT(write_until_failure(output, simulation, 0, steps), HasSubstr("No space left"));
    EXPECT_THROW(output.write(900, 900.0), Error) << "it has ended";
  }
  if (mode == FileMode::append) {
    const auto whole =
        expect_beginning_of(scratch.file("disk/full.vtkhdf"), declaration.cuts[0], 2, steps);
    EXPECT_GE(whole, 40U) << "a MiB has room for 50";
    return;
  }
  std::uint64_t whole = 0;
  for (; fs::exists(fmt::format("{}_{:06}.vtkhdf", declaration.prefix, whole)); ++whole) {
    const auto path = fmt::format("{}_{:06}.vtkhdf", declaration.prefix, whole);
    EXPECT_EQ(read(path, "VTKHDF/PointData/f1"), due(declaration.cuts[0].slice, 1, whole)) << path;
  }
  EXPECT_GE(whole, 30U);
  EXPECT_FALSE(fs::exists(fmt::format("{}_{:06}.vtkhdf", declaration.prefix, whole + 1)));
}

INSTANTIATE_TEST_SUITE_P(All, FullDisk,
                         testing::Combine(testing::Values(FileMode::append,
                                                          FileMode::file_per_output),
                                          testing::Values(0U, 3U)));

std::set<std::string> threads_of_this_process() {
  std::set<std::string> threads;
  for (const auto& entry : fs::directory_iterator("/proc/self/task")) {
    threads.insert(entry.path().filename());
  }
  return threads;
}

/// Ends threads of this process that are not in `before`, wherever they are.
void kill_threads_since(const std::set<std::string>& before) {
  std::signal(SIGUSR1, [](int) { pthread_cancel(pthread_self()); });
  for (const auto& thread : threads_of_this_process()) {
    if (!before.contains(thread)) syscall(SYS_tgkill, getpid(), std::stoi(thread), SIGUSR1);
  }
}

class KilledWriter : public testing::TestWithParam<FileMode> {};

TEST_P(KilledWriter, IsAnErrorInTheCallerAndEveryOutputBeforeIsWhole) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer does not see that cancelling a thread ends its frames, and "
                  "takes their memory for an overflow";
#elif defined __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer fails a check of its own where a thread that waits is cancelled";
#endif
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  Simulation simulation(comm, grid_of(comm), 2);
  auto& declaration = simulation.declaration;
  declaration.cuts = {{whole_field(declaration.grid), {}, 1}};
  declaration.prefix = scratch.file("killed");
  declaration.mode = GetParam();
  declaration.writers = static_cast<std::uint64_t>(comm.size());
  declaration.waiting = 2;
  std::vector<std::uint64_t> steps = {0, 1, 2};
  const auto before = threads_of_this_process();
  {
    Output output(comm.get(), declaration);
    for (const auto step : steps) {
      simulation.set(step);
      output.write(step, static_cast<double>(step));
    }
    output.flush();
    // On one rank only, while those of the others go on.
    if (comm.rank() == comm.size() - 1) kill_threads_since(before);
    EXPECT_THAT(write_until_failure(output, simulation, 3, steps), HasSubstr("thread"));
    EXPECT_THROW(output.write(900, 900.0), Error) << "it has ended";
  }
  comm.barrier();
  if (!comm.is_root()) return;
  if (GetParam() == FileMode::append) {
    const auto whole =
        expect_beginning_of(scratch.file("killed.vtkhdf"), declaration.cuts[0], 2, steps);
    EXPECT_GE(whole, 3U);
    return;
  }
  for (std::uint64_t step = 0; step < 3; ++step) {
    const auto path = fmt::format("{}_{:06}.vtkhdf", declaration.prefix, step);
    EXPECT_EQ(read(path, "VTKHDF/PointData/f0"), due(declaration.cuts[0].slice, 0, step)) << path;
  }
  EXPECT_FALSE(fs::exists(fmt::format("{}_{:06}.vtkhdf", declaration.prefix, steps.size())));
}

INSTANTIATE_TEST_SUITE_P(Modes, KilledWriter,
                         testing::Values(FileMode::append, FileMode::file_per_output));

}  // namespace
}  // namespace slabmark::slice
