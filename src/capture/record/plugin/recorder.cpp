#include "capture/record/recorder.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <string_view>
#include <utility>

#include "capture/record/plugin/inside.hpp"
#include "capture/record/plugin/paths.hpp"
#include "capture/record/streams/recording.hpp"
#include "capture/record/streams/spool.hpp"

namespace slabmark::capture {

constinit thread_local int call_depth = 0;

namespace {

constexpr auto long_think_time = std::chrono::milliseconds(50);  ///< begins a new block
// Writing may wait for a file system that is busy with the program's own data. So it is done after
// a wait, a flush or a close, but not sooner than this after the last time, at the first call after
// the program has thought, and else once a second, which is what a crash costs at most; but a block
// that grows is not written again before it is twice as long, or the longest time is over.
constexpr auto least_interval = std::chrono::milliseconds(100);
constexpr auto write_interval = std::chrono::seconds(1);
constexpr auto longest_interval = std::chrono::seconds(10);
constexpr std::size_t most_unwritten = 1024 * 1024;  ///< bytes of a stream

thread_local Clock::time_point call_began;
thread_local bool holds_lock = false;  ///< in the recorder: a signal's handler may end the process

/// While it lives, this thread has locked the recorder.
class Locked {
 public:
  explicit Locked(std::mutex& mutex) : lock_(mutex) { holds_lock = true; }
  ~Locked() { holds_lock = false; }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
};

/// The recorded calls of this process, and when they are written.
class Recorder {
 public:
  static Recorder& the() {
    static Recorder& recorder = *new Recorder;  // outlives whatever still calls at exit
    return recorder;
  }

  bool on() const { return on_; }
  /// True if it was, at least at first.
  bool was_on() const { return spool_ != nullptr; }
  /// The child of a fork: its threads and the spool are its parent's.
  bool is_child() const { return is_child_; }
  void count_of_child() {
    const Inside inside;
    static std::atomic<std::uint64_t>* const calls = spool_->calls_of_children();
    if (calls != nullptr) ++*calls;
  }

  /// Calls action(*this) with all locked and nothing thrown; `default_value` where recording is
  /// off.
  template <class Result, class Action>
  Result guarded(Result default_value, const Action& action) {
    if (!on_ || holds_lock) return default_value;
    const Inside inside;
    try {
      const Locked lock(mutex_);
      if (on_) return action();
    } catch (const std::exception&) {
      give_up("there is no memory for it");
    }
    return default_value;
  }

  DefinitionStream& definitions() { return recording_.definitions; }
  void count_uncaptured(std::string_view name) { recording_.count_uncaptured(name); }

  std::uint64_t record(const Event& event) {
    account_for_gap();
    const std::uint64_t request = recording_.record(event);
    if (recording_.lists.bytes().size() > most_unwritten) write();
    return request;
  }

  /// A call of the program has ended.
  void ended_call() {
    account_for_gap();
    const Clock::time_point now = Clock::now();
    recording_.times.end_call(call_began, now);
    if (recording_.definitions.is_empty()) return;  // nothing to write yet
    const auto since = now - written_;
    bool is_due = std::exchange(has_thought_, false);
    if (recording_.ends_block()) {
      end_block();
      is_due = is_due || since > least_interval;
    }
    const bool much = recording_.unwritten_bytes() > most_unwritten / 16;
    const bool grown =
        recording_.events.block_bytes() >= 2 * pending_bytes_ || since > longest_interval;
    if (is_due || much || (since > write_interval && grown)) write_with_pending();
  }

  void write_all() {
    end_block();
    write();
  }

  void finish() {
    if (recording_.definitions.is_empty() && !spool_->has_calls_of_children()) return;
    recording_.finish();
    write();
    on_ = false;
  }

 private:
  Recorder() {
    const char* const pattern = std::getenv(pattern_variable);
    if (!pattern || !*pattern) return;
    spool_ = std::make_unique<Spool>(pattern);
    written_ = Clock::now();
    recording_.times.begin(written_);
    remember_start_folder();
    on_ = true;
    pthread_atfork(nullptr, nullptr,
                   [] { the().is_child_ = the().on_.exchange(false) || the().is_child_; });
  }

  void account_for_gap() {
    const Clock::duration gap = recording_.times.take_gap(call_began);
    if (gap >= long_think_time) {
      end_block();
      has_thought_ = true;
    }
    recording_.times.add_think_time(gap);
  }

  void end_block() {
    recording_.end_block();
    pending_bytes_ = 0;
    if (recording_.events.bytes().size() > most_unwritten) write();
  }

  /// Writes what there is, and the block that is being made as the end that it would be if the
  /// process were killed now.
  void write_with_pending() {
    pending_bytes_ = recording_.events.block_bytes();
    recording_.events.put_pending(pending_, recording_.times);
    write();
  }

  void write() {
    recording_.events.put_uncaptured();
    spool_->add(Stream::definitions, recording_.definitions.bytes());
    spool_->add(Stream::lists, recording_.lists.bytes());
    spool_->add(Stream::events, recording_.events.bytes());
    spool_->add(Stream::pending, pending_);
    if (!spool_->write()) give_up(std::strerror(errno));
    written_ = Clock::now();
  }

  void give_up(const char* reason) {
    on_ = false;
    // Several ranks may say it at once, and fprintf of newer glibc writes a long line in pieces.
    const std::string sentence =
        "slabmark capture: " + spool_->path() + " cannot be written (" + reason +
        "); the program goes on, what it does from here on is not captured.\n";
    std::fputs(sentence.c_str(), stderr);
  }

  std::atomic<bool> on_ = false;
  std::atomic<bool> is_child_ = false;
  std::mutex mutex_;
  std::unique_ptr<Spool> spool_;
  Recording recording_;
  Bytes pending_;
  std::size_t pending_bytes_ = 0;  ///< how long the block was when it was written last
  bool has_thought_ = true;        ///< for long, before the call; the first is written at once, too
  Clock::time_point written_;
};

/// Does action(recorder) where recording is on.
template <class Action>
void while_on(const Action& action) {
  Recorder& recorder = Recorder::the();
  recorder.guarded(0, [&] {
    action(recorder);
    return 0;
  });
}

// Before the program may go to another folder.
[[gnu::constructor]] void begin_of_process() { Recorder::the(); }

[[gnu::destructor]] void end_of_process() { finish(); }

}  // namespace

bool is_child_of_fork() noexcept { return Recorder::the().is_child(); }

Call::Call() noexcept
    : outermost_(call_depth++ == 0 && Recorder::the().was_on()),
      is_user_call_(outermost_ && (Recorder::the().on() || Recorder::the().is_child())) {
  if (is_user_call_) call_began = Clock::now();
}

Call::~Call() {
  if (is_user_call_) while_on([](Recorder& recorder) { recorder.ended_call(); });
  --call_depth;
}

Callback::Callback() noexcept : depth_(call_depth) { call_depth = 0; }
Callback::~Callback() { call_depth = depth_; }

bool is_on() noexcept { return Recorder::the().on(); }

void describe_process(std::string_view json) noexcept {
  while_on([&](Recorder& recorder) {
    std::string text(json);
    text.insert(text.find('{') + 1, "\"kind\":\"process\",");
    recorder.definitions().put(text);
  });
}

void set_rank(int rank, int ranks) noexcept {
  describe_process("{\"rank\":" + std::to_string(rank) + ",\"ranks\":" + std::to_string(ranks) +
                   "}");
}

Id open_file(std::string_view json) noexcept {
  Recorder& recorder = Recorder::the();
  if (recorder.is_child()) recorder.count_of_child();
  return recorder.guarded(no_id, [&] { return recorder.definitions().open_file(json); });
}

Id define(std::string_view json) noexcept {
  Recorder& recorder = Recorder::the();
  return recorder.guarded(no_id, [&] { return recorder.definitions().define(json); });
}

Id define_call(std::string_view name, std::string_view effect) noexcept {
  Recorder& recorder = Recorder::the();
  return recorder.guarded(no_id, [&] { return recorder.definitions().define_call(name, effect); });
}

std::uint64_t record(const Event& event) noexcept {
  Recorder& recorder = Recorder::the();
  if (recorder.is_child() && (event.flags & (writes | reads)) != 0) recorder.count_of_child();
  return recorder.guarded(std::uint64_t{0}, [&] { return recorder.record(event); });
}

void count_uncaptured(std::string_view name) noexcept {
  if (Recorder::the().is_child()) Recorder::the().count_of_child();
  while_on([&](Recorder& recorder) { recorder.count_uncaptured(name); });
}

namespace {

std::atomic<bool> is_hdf5_captured = false;

}  // namespace

void hdf5_is_captured() noexcept { is_hdf5_captured = true; }

void count_hdf5_without_connector(const void* caller) noexcept {
  static const bool is_wanted = [] {
    const char* const connector = std::getenv("HDF5_VOL_CONNECTOR");
    return connector != nullptr && std::string_view(connector).starts_with("slabcapture");
  }();
  Dl_info from{};
  if (!is_wanted || is_hdf5_captured || dladdr(caller, &from) == 0) return;
  const std::string_view path = from.dli_fname;
  const auto name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with("libhdf5")) return;
  while_on([&](Recorder& recorder) {
    recorder.count_uncaptured("HDF5 (" + std::string(name) + "), which took no connector");
  });
}

void flush() noexcept {
  while_on([](Recorder& recorder) { recorder.write_all(); });
}

void finish() noexcept {
  while_on([](Recorder& recorder) { recorder.finish(); });
}

}  // namespace slabmark::capture
