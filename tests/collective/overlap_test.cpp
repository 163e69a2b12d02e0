// Writes that wait in memory. The pwrite() of slow_writes.c delays, shortens and refuses those of
// the thread that makes them.
#include "collective/overlap.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>

#include "collective/file.hpp"
#include "collective/pending_ranges.hpp"
#include "collective/pending_writes.hpp"
#include "collective/plan.hpp"
#include "scratch.hpp"
#include "slow_writes.h"
#include "storage/mpiio/error.hpp"

namespace slabmark::collective {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr std::uint64_t no_bound = std::uint64_t{1} << 30;

std::atomic<std::uint64_t> most_pending = 0;
void look() { most_pending = std::max(most_pending.load(), pending_bytes()); }

std::vector<char> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class PendingWritesOfAFile : public testing::Test {
 protected:
  PendingWritesOfAFile() {
    std::ofstream(path).put('\0');
    pending = std::make_unique<PendingWrites>(path);
  }
  ~PendingWritesOfAFile() override {
    slow_writes.held = slow_writes.in_pieces = 0;
    slow_writes.error = slow_writes.milliseconds = 0;
  }

  void add(std::uint64_t offset, char value, std::uint64_t bytes, std::uint64_t bound = no_bound) {
    const std::string data(bytes, value);
    pending->add(offset, reinterpret_cast<const std::byte*>(data.data()), bytes, bound);
  }

  Scratch scratch;
  std::string path = scratch.file("data");
  std::unique_ptr<PendingWrites> pending;
};

TEST_F(PendingWritesOfAFile, ReachTheFileInTheirOrder) {
  slow_writes.held = 1;
  add(0, 'a', 100);
  add(50, 'b', 100);
  add(0, 'c', 10);
  EXPECT_GE(pending_bytes(), 210u);
  EXPECT_EQ(contents(path).size(), 1u);
  slow_writes.held = 0;
  pending->wait();
  EXPECT_EQ(pending_bytes(), 0u);
  const auto all = contents(path);
  EXPECT_EQ(std::string(all.begin(), all.end()),
            std::string(10, 'c') + std::string(40, 'a') + std::string(100, 'b'));
}

TEST_F(PendingWritesOfAFile, AreNeverMoreThanTheBound) {
  constexpr std::uint64_t bound = 64u << 10;
  slow_writes.held = 1;
  most_pending = 0;
  slow_writes.look = look;
  std::atomic<bool> is_added = false;
  std::thread program([&] {
    add(0, 'a', 1u << 20, bound);
    is_added = true;
  });
  while (pending_bytes() < bound / 2) std::this_thread::yield();
  EXPECT_FALSE(is_added);
  EXPECT_LE(pending_bytes(), bound);
  slow_writes.held = 0;
  program.join();
  pending->wait();
  EXPECT_LE(most_pending, bound);
  EXPECT_EQ(contents(path), std::vector<char>(1u << 20, 'a'));
}

TEST_F(PendingWritesOfAFile, GoOnWhereTheyWereInterruptedOrCutShort) {
  slow_writes.in_pieces = 1;
  add(0, 'a', 12345);
  pending->wait();
  EXPECT_EQ(contents(path), std::vector<char>(12345, 'a'));
  EXPECT_FALSE(pending->take_failure());
}

TEST_F(PendingWritesOfAFile, TellTheFirstFailureOnce) {
  slow_writes.error = ENOSPC;
  add(0, 'a', 10);
  pending->wait();
  slow_writes.error = EIO;
  add(0, 'a', 10);
  pending->wait();
  const auto failure = pending->take_failure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->error_class(), MPI_ERR_NO_SPACE);
  EXPECT_THAT(failure->what(), HasSubstr(path));
  EXPECT_FALSE(pending->take_failure());
}

TEST_F(PendingWritesOfAFile, FailBeyondTheFileSizeLimitAndEndNoProgram) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_DFL);
  const rlimit limit{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  add(4096, 'a', 10);
  pending->wait();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(pending->take_failure());
}

TEST_F(PendingWritesOfAFile, OfSoManyFlushesMayWait) {
  slow_writes.held = 1;
  pending->begin_flush(2);
  add(0, 'a', 10);
  pending->begin_flush(2);
  add(10, 'b', 10);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    slow_writes.held = 0;
  });
  pending->begin_flush(2);
  EXPECT_FALSE(slow_writes.held) << "the first flush had to be written";
  opener.join();
}

TEST_F(PendingWritesOfAFile, OfAnotherHandleAreWaitedFor) {
  const FileUse first(identity_of(path));
  EXPECT_FALSE(FileUse::is_shared(pending->identity()));
  slow_writes.milliseconds = 20;
  add(0, 'a', 100);
  {
    const FileUse second(identity_of(path));
    EXPECT_EQ(contents(path).size(), 100u);
    EXPECT_TRUE(FileUse::is_shared(pending->identity()));
  }
  EXPECT_FALSE(FileUse::is_shared(pending->identity()));
  add(100, 'a', 100);
  wait_for_writes_to(path);
  EXPECT_EQ(contents(path).size(), 200u);
}

TEST_F(PendingWritesOfAFile, FollowARenamedFileAndADeletedOne) {
  slow_writes.held = 1;
  add(0, 'a', 100);
  std::filesystem::rename(path, path + "2");
  std::ofstream(path).put('x');
  slow_writes.held = 0;
  pending->wait();
  EXPECT_EQ(contents(path + "2").size(), 100u);
  std::filesystem::remove(path + "2");
  add(0, 'a', 100);
  pending->wait();
  EXPECT_FALSE(pending->take_failure());
  EXPECT_EQ(contents(path).size(), 1u);
}

TEST_F(PendingWritesOfAFile, AreNoneOfAChild) {
  slow_writes.held = 1;
  add(0, 'a', 100);
  const pid_t child = ::fork();
  if (child == 0) {
    pending.reset();  // neither waits nor writes
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(path).size(), 1u);
  slow_writes.held = 0;
  pending->wait();
  EXPECT_EQ(contents(path).size(), 100u);
}

TEST(OverlapOfTheEnvironment, IsAWordOrANumberOfFlushes) {
  const auto of = [](const char* word, const char* memory = nullptr) {
    ::setenv("SLABMARK_OVERLAP", word, 1);
    if (memory) ::setenv("SLABMARK_OVERLAP_MEMORY", memory, 1);
    const Overlap overlap = overlap_of_environment();
    ::unsetenv("SLABMARK_OVERLAP");
    ::unsetenv("SLABMARK_OVERLAP_MEMORY");
    return overlap;
  };
  EXPECT_EQ(overlap_of_environment(), Overlap{});
  for (const char* off : {"", "0", "off", "disable"}) EXPECT_EQ(of(off), Overlap{}) << off;
  EXPECT_EQ(of("on"), (Overlap{true, 0, 0}));
  EXPECT_EQ(of("3", "2M"), (Overlap{true, 3, 2u << 20}));
  EXPECT_EQ(of("on", "a lot"), (Overlap{true, 0, 0}));
  EXPECT_GT(memory_to_wait_in(4), 0u);
}

TEST(OverlapOfAFile, IsRefusedWhereMpiIoMayGoPastTheKernel) {
  const Scratch scratch;
  EXPECT_EQ(overlap_refusal(scratch.path() + "/new"), "");
  EXPECT_THAT(overlap_refusal("ufs:" + scratch.path() + "/new"), HasSubstr("'ufs:'"));
}

/// Flushes of one array, of which each rank has an equal part. As many ranks aggregate as there
/// are.
class OverlappedFile : public testing::Test {
 protected:
  OverlappedFile() {
    RearrangerSettings settings;
    settings.aggregators = static_cast<std::uint64_t>(comm.size());
    EXPECT_TRUE(context.prepare(settings));
    path = scratch.file("data");
    if (comm.is_root()) std::ofstream(path).put('\0');
    comm.barrier();
    file = File(MPI_COMM_SELF, path, File::Access::write, {}, {true, 0, 0});
    file.end_is_zero();
  }
  ~OverlappedFile() override {
    slow_writes.error = slow_writes.milliseconds = 0;
    file.close();
    comm.barrier();
  }

  /// All ranks write `part` elements each from `begin` on.
  void write(std::uint64_t begin, std::uint64_t part, char value) {
    move(begin, part, std::vector<char>(part, value), true);
  }

  std::vector<char> move(std::uint64_t begin, std::uint64_t part, std::vector<char> values,
                         bool writing) {
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const FileDomain domain(std::vector<ArrayPlace>{{begin, 1, part * ranks}}, 0);
    const std::array buffers = {reinterpret_cast<std::byte*>(values.data())};
    const auto first = static_cast<std::uint64_t>(comm.rank()) * part;
    Item item{0, {}, "v"};
    item.sources.push_back(
        {0, std::make_shared<const std::vector<Piece>>(std::vector<Piece>{{first, 0, part}})});
    const Plan plan(comm, domain, {item}, {context.rearranger().aggregators(), 1},
                    {writing, Overlaps::refused});
    file.move(context, {domain, plan.flush(), buffers, writing});
    return values;
  }

  Context context{MPI_COMM_WORLD};
  const Comm& comm = context.comm();
  Scratch scratch{comm};
  std::string path;
  File file;
};

TEST_F(OverlappedFile, IsWhatItWouldBeWithoutOnceItIsSettled) {
  EXPECT_FALSE(file.has_pending());
  write(0, 1000, 'a');
  write(1000 * static_cast<std::uint64_t>(comm.size()), 1000, 'b');
  EXPECT_TRUE(file.has_pending());
  file.settle(comm);
  EXPECT_FALSE(file.has_pending());
  const auto all = contents(path);
  const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
  ASSERT_EQ(all.size(), 2000u * static_cast<std::size_t>(comm.size()));
  EXPECT_THAT(std::vector<char>(all.begin(), all.begin() + half), Each('a'));
  EXPECT_THAT(std::vector<char>(all.begin() + half, all.end()), Each('b'));
}

TEST_F(OverlappedFile, KeepsTheOrderOfFlushesThatOtherAggregatorsWrite) {
  if (comm.rank() == 0) slow_writes.milliseconds = 30;
  write(0, 1000, 'a');  // rank 0 writes a part that is the last one's in the next flush
  write(0, 100, 'b');
  file.settle(comm);
  const auto all = contents(path);
  const auto part = 100 * comm.size();
  EXPECT_THAT(std::vector<char>(all.begin(), all.begin() + part), Each('b'));
  EXPECT_THAT(std::vector<char>(all.begin() + part, all.end()), Each('a'));
}

TEST_F(OverlappedFile, ReadsWhatIsPendingOnAnyRank) {
  slow_writes.milliseconds = comm.rank() == 0 ? 30 : 0;
  write(0, 1000, 'a');
  EXPECT_THAT(move(0, 10, std::vector<char>(10, 'x'), false), Each('a'));
}

TEST_F(OverlappedFile, TakesNoPendingArrayBeyondTheEndForAFreshOne) {
  slow_writes.milliseconds = 30;
  file.fresh_from_end();
  write(100, 1000, 'a');
  file.fresh_from_end();
  const FileDomain domain(std::vector<ArrayPlace>{{100, 1, 1000}}, 0);
  std::array<char, 2> values = {'b', 'b'};
  const std::array buffers = {reinterpret_cast<std::byte*>(values.data())};
  Item item{0, {}, "v"};
  if (comm.is_root()) {
    item.sources.push_back(
        {0, std::make_shared<const std::vector<Piece>>(std::vector<Piece>{{0, 0, 1}, {2, 1, 1}})});
  }
  const Plan plan(comm, domain, {item}, {context.rearranger().aggregators(), 1},
                  {true, Overlaps::refused});
  file.move(context, {domain, plan.flush(), buffers, true});
  file.settle(comm);
  const auto all = contents(path);
  EXPECT_EQ(std::string(all.begin() + 100, all.begin() + 104), "baba");
}

TEST_F(OverlappedFile, ThrowsAtTheNextCallsOfTheRankThatFailed) {
  const bool fails = comm.rank() == comm.size() - 1;
  if (fails) slow_writes.error = ENOSPC;
  write(0, 1000, 'a');
  if (fails) {
    EXPECT_THROW(file.settle(comm), mpiio::Failure);
  } else {
    EXPECT_NO_THROW(file.settle(comm));
  }
  slow_writes.error = 0;
  EXPECT_NO_THROW(write(0, 1000, 'b'));
  EXPECT_NO_THROW(file.settle(comm));
  EXPECT_THAT(contents(path), Each('b'));
}

TEST_F(OverlappedFile, IsWrittenAtOnceWhileItIsOpenTwice) {
  const FileUse first(identity_of(path)), second(identity_of(path));
  slow_writes.error = EIO;  // of the thread, which has nothing to do
  write(0, 1000, 'a');
  EXPECT_EQ(pending_bytes(), 0u);
  comm.barrier();
  slow_writes.error = 0;
  EXPECT_THAT(contents(path), Each('a'));
  comm.barrier();
}

}  // namespace
}  // namespace slabmark::collective
