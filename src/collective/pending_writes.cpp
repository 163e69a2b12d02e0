#include "collective/pending_writes.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <unistd.h>
#include <utility>
#include <vector>

#include <mpi.h>

#include "core/parallel/worker_thread.hpp"
#include "storage/posix/failure.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::collective {

namespace {

/// Blocks all signals of the thread that has it: a thread that starts meanwhile gets none, and what
/// it does itself (SIGXFSZ) fails with a code.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

/// The thread of the process, and the memory that waits for it.
class Writer {
 public:
  Writer() {
    const SignalsBlocked now;
    thread_ = std::make_unique<WorkerThread>();
  }
  // A child of the process has no thread, and would wait for ever to join it.
  ~Writer() {
    if (!is_here()) static_cast<void>(thread_.release());
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  bool is_here() const { return ::getpid() == process_; }

  /// Returns when the bytes fit in with those that wait, or nothing waits. They count from then on.
  void reserve(std::uint64_t bytes, std::uint64_t most_bytes) {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return bytes_ == 0 || bytes_ + bytes <= most_bytes; });
    bytes_ += bytes;
  }
  void free(std::uint64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      bytes_ -= bytes;
    }
    freed_.notify_all();
  }
  std::uint64_t bytes() {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

  std::uint64_t submit(std::function<void()> work) { return thread_->submit(std::move(work)); }
  void wait(std::uint64_t number) {
    if (is_here()) thread_->wait(number);
  }

 private:
  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::condition_variable freed_;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<WorkerThread> thread_;
};

}  // namespace

struct PendingWrites::State {
  posix::File file;
  FileIdentity identity;
  std::shared_ptr<Writer> writer;
  std::atomic<std::uint64_t> last = 0;  ///< the number of the last write
  std::mutex mutex;
  int error_class = MPI_SUCCESS;  ///< of the first failure
  std::string message;

  void write(std::uint64_t offset, const std::byte* data, std::uint64_t bytes) noexcept;
  void note(int its_class, const char* its_message) noexcept;
  std::optional<mpiio::Failure> take_failure() {
    const std::lock_guard lock(mutex);
    const int its_class = std::exchange(error_class, MPI_SUCCESS);
    if (its_class == MPI_SUCCESS) return std::nullopt;
    return mpiio::Failure(its_class, message);
  }
};

namespace {

int error_class_of(int error) {
  switch (error) {
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    default:
      return MPI_ERR_OTHER;
  }
}

void say(const std::string& message) {
  std::fputs(("slabmark: " + message + "\n").c_str(), stderr);
}

/// Files of this process: those that are open, and those for which writes may be pending. It is
/// never destroyed, since programs close files as late as they like.
struct Registry {
  std::mutex mutex;
  std::weak_ptr<Writer> writer;
  std::set<std::shared_ptr<PendingWrites::State>> pending;
  std::map<FileIdentity, int> uses;

  /// Those for which `matches` says so.
  template <class Matches>
  std::vector<std::shared_ptr<PendingWrites::State>> states(const Matches& matches) {
    const std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<PendingWrites::State>> found;
    std::ranges::copy_if(pending, std::back_inserter(found), matches);
    return found;
  }
};

// A program that ends without closing its files, or without MPI_Finalize, would have had the data
// of its flushes in them.
void finish_at_exit();

Registry& registry() {
  static auto& one = *[] {
    std::atexit(finish_at_exit);
    return new Registry;
  }();
  return one;
}

/// Returns when write `number` of the file and all before it are done.
void finish(PendingWrites::State& state, std::uint64_t number) noexcept {
  try {
    state.writer->wait(number);
  } catch (const std::exception& error) {
    state.note(MPI_ERR_OTHER, error.what());
  }
}

void finish_at_exit() {
  for (const auto& state : registry().states([](const auto&) { return true; })) {
    if (!state->writer->is_here()) continue;
    finish(*state, state->last);
    if (const auto failure = state->take_failure()) say(failure->what());
  }
}

std::shared_ptr<Writer> writer_of_process() {
  const std::lock_guard lock(registry().mutex);
  auto writer = registry().writer.lock();
  if (!writer || !writer->is_here()) registry().writer = writer = std::make_shared<Writer>();
  return writer;
}

void finish_file(const FileIdentity& identity) {
  const auto is_meant = [&](const auto& state) { return state->identity == identity; };
  for (const auto& state : registry().states(is_meant)) finish(*state, state->last);
}

}  // namespace

// A failure counts also where there is no memory for its words.
void PendingWrites::State::note(int its_class, const char* its_message) noexcept {
  const std::lock_guard lock(mutex);
  if (error_class != MPI_SUCCESS) return;
  error_class = its_class;
  try {
    message = its_message;
  } catch (const std::bad_alloc&) {
    message.clear();
  }
}

void PendingWrites::State::write(std::uint64_t offset, const std::byte* data,
                                 std::uint64_t bytes) noexcept {
  try {
    file.write_at(offset, data, bytes);
  } catch (const posix::Failure& error) {
    note(error_class_of(error.error()), error.what());
  } catch (const std::exception& error) {
    note(MPI_ERR_OTHER, error.what());
  }
}

PendingWrites::PendingWrites(const std::string& path) : state_(std::make_shared<State>()) {
  state_->file = posix::File::open(path, posix::File::Access::write);
  const auto identity = identity_of(path);
  if (!identity || !state_->file.is_at_its_name()) {
    throw IoError("'" + path + "' was renamed while it was opened; open it again.");
  }
  state_->identity = *identity;
  state_->writer = writer_of_process();
  const std::lock_guard lock(registry().mutex);
  registry().pending.insert(state_);
}

PendingWrites::~PendingWrites() {
  finish(*state_, state_->last);
  {
    const std::lock_guard lock(registry().mutex);
    registry().pending.erase(state_);
  }
  if (const auto failure = take_failure()) say(failure->what());
}

FileIdentity PendingWrites::identity() const { return state_->identity; }

void PendingWrites::begin_flush(std::uint64_t most_flushes) {
  if (most_flushes == 0) return;
  const std::uint64_t before = flush_ends_.empty() ? 0 : flush_ends_.back();
  if (state_->last > before) flush_ends_.push_back(state_->last);
  while (flush_ends_.size() >= most_flushes) {
    finish(*state_, flush_ends_.front());
    flush_ends_.pop_front();
  }
}

// Blocks keep to the bound, and the thread writes one while the next is copied.
void PendingWrites::add(std::uint64_t offset, const std::byte* data, std::uint64_t bytes,
                        std::uint64_t most_bytes) {
  constexpr std::uint64_t page = 4096, largest = 4u << 20;
  const std::uint64_t block =
      std::clamp<std::uint64_t>(most_bytes / 4 / page * page, page, largest);
  for (std::uint64_t done = 0; done < bytes; done += block) {
    add_some(offset + done, data + done, std::min(block, bytes - done), most_bytes);
  }
}

void PendingWrites::add_some(std::uint64_t offset, const std::byte* data, std::uint64_t bytes,
                             std::uint64_t most_bytes) {
  constexpr std::uint64_t bookkeeping = 256;
  const std::uint64_t counted = bytes + bookkeeping;
  Writer& writer = *state_->writer;
  writer.reserve(counted, most_bytes);
  try {
    std::shared_ptr<std::byte[]> copy = std::make_shared_for_overwrite<std::byte[]>(bytes);
    std::memcpy(copy.get(), data, bytes);
    // The thread must own neither: whoever drops the last of them ends the thread.
    state_->last = writer.submit([state = state_.get(), offset, copy, bytes, counted]() mutable {
      state->write(offset, copy.get(), bytes);
      copy.reset();
      state->writer->free(counted);
    });
  } catch (const std::exception&) {  // no memory for it, or no thread any more
    writer.free(counted);
    wait();
    state_->write(offset, data, bytes);
  }
}

void PendingWrites::wait() {
  finish(*state_, state_->last);
  flush_ends_.clear();
}

std::optional<mpiio::Failure> PendingWrites::take_failure() { return state_->take_failure(); }

FileUse::FileUse(std::optional<FileIdentity> identity) : identity_(identity) {
  if (!identity_) return;
  {
    const std::lock_guard lock(registry().mutex);
    ++registry().uses[*identity_];
  }
  finish_file(*identity_);
}

FileUse::~FileUse() {
  if (!identity_) return;
  const std::lock_guard lock(registry().mutex);
  if (--registry().uses[*identity_] == 0) registry().uses.erase(*identity_);
}

bool FileUse::is_shared(const FileIdentity& identity) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().uses.find(identity);
  return found != registry().uses.end() && found->second > 1;
}

void wait_for_writes_to(const std::string& path) {
  if (const auto identity = identity_of(path)) finish_file(*identity);
}

std::uint64_t pending_bytes() {
  std::shared_ptr<Writer> writer;
  {
    const std::lock_guard lock(registry().mutex);
    writer = registry().writer.lock();
  }
  return writer ? writer->bytes() : 0;
}

}  // namespace slabmark::collective
