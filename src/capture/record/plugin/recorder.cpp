#include "capture/format/recorder.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include "capture/format/hash.hpp"
#include "capture/record/block.hpp"
#include "capture/record/list_coder.hpp"
#include "capture/record/spool.hpp"

namespace slabmark::capture {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto long_thought = std::chrono::milliseconds(50);  ///< begins a new block
// Writing may wait for a file system that is busy with the program's own data. So it is done after
// a wait, a flush or a close, but not sooner than this after the last time, at the first call after
// the program has thought, and else once a second, which is what a crash costs at most; but a block
// that grows is not written again before it is twice as long, or the longest time is over.
constexpr auto least_interval = std::chrono::milliseconds(100);
constexpr auto write_interval = std::chrono::seconds(1);
constexpr auto longest_interval = std::chrono::seconds(10);
constexpr std::size_t most_in_block = 256 * 1024;  ///< bytes
constexpr std::size_t most_events_in_block = 65536;
constexpr std::size_t most_unwritten = 1024 * 1024;  ///< bytes of a stream
// Of what is known by its hash; beyond, all is forgotten, and stored anew where it comes again.
constexpr std::size_t most_lists = std::size_t{1} << 20;
constexpr std::size_t most_block_parameters = std::size_t{1} << 20;

thread_local int depth = 0;
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

/// Nothing below is a call of the program, and errno stays.
class Inside {
 public:
  Inside() : errno_(errno) { ++depth; }
  ~Inside() {
    --depth;
    errno = errno_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  int errno_;
};

/// Looks up what is no std::string without making one.
struct HashOfText : std::hash<std::string_view> {
  using is_transparent = void;
};

void append_json(std::string& json, std::string_view text) {
  json += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < ' ') {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      json += escape;
    } else {
      json += c;
    }
  }
  json += '"';
}

std::string as_json(std::string_view text) {
  std::string json;
  append_json(json, text);
  return json;
}

/// Those variables that change what libraries do with files, as members of a JSON object.
std::string environment_json() {
  constexpr std::string_view prefixes[] = {"ROMIO_",         "PNETCDF_",         "HDF5_",
                                           "MPICH_MPIIO_",   "OMPI_MCA_io",      "OMPI_MCA_fs_",
                                           "OMPI_MCA_fcoll", "OMPI_MCA_sharedfp"};
  std::map<std::string, std::string> found;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    const std::size_t sign = text.find('=');
    if (sign == std::string_view::npos) continue;
    for (const std::string_view prefix : prefixes) {
      if (text.starts_with(prefix)) found.emplace(text.substr(0, sign), text.substr(sign + 1));
    }
  }
  std::string json;
  for (const auto& [name, value] : found) {
    json += (json.empty() ? "" : ",") + as_json(name) + ":" + as_json(value);
  }
  return "{" + json + "}";
}

/// The words of the command line as a JSON list.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string json = "[";
  for (std::string word; std::getline(file, word, '\0');) {
    json += (json.size() > 1 ? "," : "") + as_json(word);
  }
  return json + "]";
}

/// What tells the processes of one launch from those of another, as members of a JSON object: empty
/// where the launcher says nothing of the kind.
std::string launch_json() {
  if (const char* const name = std::getenv("PMIX_NAMESPACE")) {
    return ",\"launch\":" + as_json(name);
  }
  const char* const job = std::getenv("SLURM_JOB_ID");
  const char* const step = std::getenv("SLURM_STEP_ID");
  return job && step ? ",\"launch\":" + as_json(std::string(job) + "." + step) : "";
}

std::string process_json() {
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "unknown");
  // A whole number: the program's locale may write others with a comma.
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  std::string json = "{\"kind\":\"process\",\"host\":" + as_json(host) +
                     ",\"pid\":" + std::to_string(getpid()) +
                     ",\"program\":" + as_json(program_invocation_short_name) +
                     ",\"command\":" + command_line() + ",\"environment\":" + environment_json() +
                     launch_json() + ",\"started\":" + std::to_string(now.count());
  // What launchers tell a process of itself, for programs without MPI.
  constexpr const char* variables[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                          {"PMI_RANK", "PMI_SIZE"},
                                          {"SLURM_PROCID", "SLURM_NTASKS"}};
  for (const auto& [rank_name, ranks_name] : variables) {
    const char* const rank = std::getenv(rank_name);
    const char* const ranks = std::getenv(ranks_name);
    if (!rank || !ranks) continue;
    json += ",\"launched\":[" + std::to_string(std::atoi(rank)) + "," +
            std::to_string(std::atoi(ranks)) + "]";
    break;
  }
  return json + "}";
}

class Recorder {
 public:
  static Recorder& the() {
    static Recorder& recorder = *new Recorder;  // outlives whatever still calls at exit
    return recorder;
  }

  bool on() const { return on_; }
  /// Whether it was, at least at first.
  bool was_on() const { return spool_ != nullptr; }
  /// The child of a fork: its threads and the spool are its parent's.
  bool is_child() const { return is_child_; }
  void count_of_child() {
    const Inside inside;
    static std::atomic<std::uint64_t>* const calls = spool_->calls_of_children();
    if (calls != nullptr) ++*calls;
  }
  /// In which the program was started.
  const std::string& folder() const { return folder_; }

  /// Calls action() with all locked and nothing thrown; `otherwise` where recording is off.
  template <class Result, class Action>
  Result guarded(Result otherwise, const Action& action) {
    if (!on_ || holds_lock) return otherwise;
    const Inside inside;
    try {
      const Locked lock(mutex_);
      if (on_) return action();
    } catch (const std::exception&) {
      give_up("there is no memory for it");
    }
    return otherwise;
  }

  void put_definition(std::string_view json) {
    if (!described_) {
      described_ = true;
      put_definition(process_json());
    }
    put_varint(definitions_, json.size());
    definitions_.insert(definitions_.end(), json.begin(), json.end());
  }

  Id open_file(std::string_view json) {
    put_definition(json);
    return files_++;
  }

  Id define(std::string_view json) {
    if (const auto known = known_.find(json); known != known_.end()) return known->second;
    const auto id = static_cast<Id>(known_.size());
    known_.emplace(json, id);
    put_definition(json);
    ends_block_.push_back(false);
    return id;
  }

  Id define_call(std::string_view name, std::string_view effect) {
    call_text_.assign("{\"effect\":\"").append(effect).append("\",\"kind\":\"call\",\"name\":");
    append_json(call_text_, name);
    call_text_ += '}';
    const Id id = define(call_text_);
    // After a flush, a close and such, a program may come back with the same calls.
    ends_block_[id] = effect == "flush" || effect == "close" || effect == "step";
    return id;
  }

  std::uint64_t record(const Event& event) {
    account_for_gap();
    CodedEvent coded{&event, event.rank};
    if (event.flags & (writes | reads)) code_selection(event, coded);
    if (event.memory) coded.memory = list_number(ListCoder(*event.memory), true);
    coded.posted = posted_;
    block_.add(coded);
    if (event.flags & nonblocking) ++posted_;
    cut_ = cut_ || (event.call < ends_block_.size() && ends_block_[event.call]) ||
           block_.body().size() > most_in_block || block_.events() >= most_events_in_block;
    return event.flags & nonblocking ? posted_ : 0;
  }

  void count_uncaptured(std::string_view name, std::uint64_t more = 1) {
    Uncaptured& counted = uncaptured_[std::string(name)];
    if (counted.call == no_id) counted.call = define_call(name, "uncaptured");
    counted.more += more;
  }

  /// A call of the program has ended.
  void ended_call() {
    account_for_gap();
    const Clock::time_point now = Clock::now();
    inside_ += now - (accounted_ > call_began ? accounted_ : call_began);
    accounted_ = now;
    if (!described_) return;  // nothing to write yet
    const auto since = now - written_;
    bool is_due = std::exchange(has_thought_, false);
    if (std::exchange(cut_, false)) {
      cut_block();
      is_due = is_due || since > least_interval;
    }
    const bool much = events_.size() + lists_.size() + definitions_.size() > most_unwritten / 16;
    const bool grown = block_.body().size() >= 2 * pending_bytes_ || since > longest_interval;
    if (is_due || much || (since > write_interval && grown)) write_pending();
  }

  void write_all() {
    cut_block();
    write();
  }

  void finish() {
    const bool has_opened = described_ || !definitions_.empty();
    if (!has_opened && !spool_->has_calls_of_children()) return;
    cut_block();
    put_definition("{\"finished\":true,\"kind\":\"process\"}");
    put_uncaptured();
    put_varint(events_, Token::end);
    write();
    on_ = false;
  }

 private:
  struct Uncaptured {
    Id call = no_id;
    std::uint64_t more = 0;
  };
  struct KnownBlock {
    std::uint64_t number;
    std::vector<std::int64_t> parameters;
  };

  Recorder() {
    const char* const pattern = std::getenv(pattern_variable);
    if (!pattern || !*pattern) return;
    spool_ = std::make_unique<Spool>(pattern);
    accounted_ = Clock::now();
    written_ = accounted_;
    std::array<char, PATH_MAX> folder{};
    if (getcwd(folder.data(), folder.size()) != nullptr) folder_ = folder.data();
    on_ = true;
    pthread_atfork(nullptr, nullptr,
                   [] { the().is_child_ = the().on_.exchange(false) || the().is_child_; });
  }

  void account_for_gap() {
    if (call_began <= accounted_) return;  // another part of the same call, or another thread's
    const auto gap = call_began - accounted_;
    accounted_ = call_began;
    if (gap >= long_thought) {
      cut_block();
      has_thought_ = true;
    }
    thought_ += gap;
  }

  void code_selection(const Event& event, CodedEvent& coded) {
    if (!event.selection) return;
    coded.rank = event.selection->rank();
    coded.selection = select_none_code;
    if (event.selection->size() == 0) return;
    const ListCoder coder(*event.selection);
    coded.origin = coder.origin();
    if (coder.is_one_box()) {
      coded.selection = select_box_code;
      coded.counts = coder.counts();
      return;
    }
    coded.selection = first_list_code + list_number(coder, false);
  }

  std::uint64_t list_number(const ListCoder& coder, bool is_memory) {
    if (list_numbers_.size() >= most_lists) list_numbers_.clear();
    const auto [place, is_new] = list_numbers_.try_emplace(coder.hash(is_memory), list_count_);
    if (is_new) {
      ++list_count_;
      coder.put(lists_, is_memory);
      if (lists_.size() > most_unwritten) write();
    }
    return place->second;
  }

  void cut_block() {
    if (block_.empty()) return;
    std::vector<std::int64_t> parameters = block_.parameters();
    const Hash hash = Hash::of(block_.body());
    const auto known = blocks_.find(hash);
    if (known != blocks_.end()) {
      put_varint(events_, Token::again);
      put_varint(events_, known->second.number);
      put_times(events_);
      std::vector<std::int64_t>& before = known->second.parameters;
      put_column(events_, parameters.size(),
                 [&](std::size_t i) { return difference(parameters[i], before[i]); });
      before.swap(parameters);
    } else {
      put_block(events_, parameters);
      if (known_parameters_ > most_block_parameters) {
        blocks_.clear();
        known_parameters_ = 0;
      }
      known_parameters_ += parameters.size() + sizeof(KnownBlock) / sizeof(std::int64_t);
      blocks_.emplace(hash, KnownBlock{block_count_++, std::move(parameters)});
    }
    for (Clock::duration* const time : {&thought_, &inside_}) {
      *time -= std::chrono::duration_cast<std::chrono::microseconds>(*time);  // the rest stays
    }
    block_.clear();
    pending_bytes_ = 0;
    if (events_.size() > most_unwritten) write();
  }

  void put_times(Bytes& to) const {
    for (const Clock::duration time : {thought_, inside_}) {
      const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time);
      put_varint(to, static_cast<std::uint64_t>(micros.count()));
    }
  }

  void put_block(Bytes& to, std::span<const std::int64_t> parameters) const {
    put_varint(to, Token::block);
    put_times(to);
    put_varint(to, block_.body().size());
    to.insert(to.end(), block_.body().begin(), block_.body().end());
    put_varint(to, parameters.size());
    put_column(to, parameters);
  }

  /// Writes what there is, and the block that is being made as the end that it would be if the
  /// process were killed now.
  void write_pending() {
    pending_bytes_ = block_.body().size();
    if (!block_.empty()) put_block(pending_, block_.parameters());
    write();
  }

  void put_uncaptured() {
    for (auto& [name, counted] : uncaptured_) {
      if (counted.more == 0) continue;
      put_varint(events_, Token::uncaptured);
      put_varint(events_, counted.call);
      put_varint(events_, counted.more);
      counted.more = 0;
    }
  }

  void write() {
    put_uncaptured();
    if (!definitions_.empty()) spool_->add(Stream::definitions, definitions_);
    if (!lists_.empty()) spool_->add(Stream::lists, lists_);
    if (!events_.empty()) spool_->add(Stream::events, events_);
    if (!pending_.empty()) spool_->add(Stream::pending, pending_);
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
  std::string folder_;
  std::mutex mutex_;
  std::unique_ptr<Spool> spool_;
  bool described_ = false;
  Id files_ = 0;
  std::unordered_map<std::string, Id, HashOfText, std::equal_to<>> known_;
  std::vector<bool> ends_block_;  ///< for each definition: a call after which a block ends
  std::string call_text_;
  std::uint64_t posted_ = 0;
  Block block_;
  bool cut_ = false;         ///< at the end of the call
  bool has_thought_ = true;  ///< for long, before the call; the first is written at once, too
  Clock::time_point accounted_;
  Clock::duration thought_{}, inside_{};  ///< since the last block
  Clock::time_point written_;
  Bytes definitions_, lists_, events_, pending_;
  std::size_t pending_bytes_ = 0;  ///< how long the block was when it was written last
  std::unordered_map<Hash, std::uint64_t, HashOfHash> list_numbers_;
  std::uint64_t list_count_ = 0;
  std::unordered_map<Hash, KnownBlock, HashOfHash> blocks_;
  std::uint64_t block_count_ = 0;
  std::size_t known_parameters_ = 0;
  std::map<std::string, Uncaptured> uncaptured_;
};

// Before the program may go to another folder.
[[gnu::constructor]] void begin_of_process() { Recorder::the(); }

[[gnu::destructor]] void end_of_process() { finish(); }

}  // namespace

Call::Call() noexcept
    : outermost_(depth++ == 0 && Recorder::the().was_on()),
      programs_(outermost_ && (Recorder::the().on() || Recorder::the().is_child())) {
  if (programs_) call_began = Clock::now();
}

Call::~Call() {
  if (programs_) {
    Recorder::the().guarded(0, [] {
      Recorder::the().ended_call();
      return 0;
    });
  }
  --depth;
}

Callback::Callback() noexcept : depth_(depth) { depth = 0; }
Callback::~Callback() { depth = depth_; }

bool is_on() noexcept { return Recorder::the().on(); }

void describe_process(std::string_view json) noexcept {
  // An object becomes one of its kind.
  Recorder::the().guarded(0, [&] {
    std::string text(json);
    text.insert(text.find('{') + 1, "\"kind\":\"process\",");
    Recorder::the().put_definition(text);
    return 0;
  });
}

void set_rank(int rank, int ranks) noexcept {
  describe_process("{\"rank\":" + std::to_string(rank) + ",\"ranks\":" + std::to_string(ranks) +
                   "}");
}

std::string path_from_start(const char* path) {
  std::array<char, PATH_MAX> folder{};
  const std::string& start = Recorder::the().folder();
  if (path[0] == '/' || start.empty() || getcwd(folder.data(), folder.size()) == nullptr ||
      start == folder.data()) {
    return path;
  }
  return std::string(folder.data()) + "/" + path;
}

namespace {

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

unsigned times_renamed(const char* path) {
  if (Recorder::the().is_child()) return 0;  // a thread that it does not have may hold the lock
  const std::lock_guard guard(Renamed::all().mutex);
  return Renamed::all().times.try_emplace(path_from_start(path), 0).first->second;
}

std::string own_path(const char* path) {
  const unsigned times = times_renamed(path);
  std::string name = path_from_start(path);
  return times == 0 ? name : name + " (" + std::to_string(times + 1) + ")";
}

void renamed(const char* path) noexcept {
  if (Recorder::the().is_child()) return;
  const Inside inside;
  const std::string name = path_from_start(path);
  const std::lock_guard guard(Renamed::all().mutex);
  const auto found = Renamed::all().times.find(name);
  if (found != Renamed::all().times.end()) ++found->second;
}

Id open_file(std::string_view json) noexcept {
  if (Recorder::the().is_child()) Recorder::the().count_of_child();
  return Recorder::the().guarded(no_id, [&] { return Recorder::the().open_file(json); });
}

Id define(std::string_view json) noexcept {
  return Recorder::the().guarded(no_id, [&] { return Recorder::the().define(json); });
}

Id define_call(std::string_view name, std::string_view effect) noexcept {
  return Recorder::the().guarded(no_id, [&] { return Recorder::the().define_call(name, effect); });
}

std::uint64_t record(const Event& event) noexcept {
  if (Recorder::the().is_child() && (event.flags & (writes | reads)) != 0) {
    Recorder::the().count_of_child();
  }
  return Recorder::the().guarded(std::uint64_t{0}, [&] { return Recorder::the().record(event); });
}

void count_uncaptured(std::string_view name) noexcept {
  if (Recorder::the().is_child()) Recorder::the().count_of_child();
  Recorder::the().guarded(0, [&] {
    Recorder::the().count_uncaptured(name);
    return 0;
  });
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
  Recorder::the().guarded(0, [&] {
    Recorder::the().count_uncaptured("HDF5 (" + std::string(name) + "), which took no connector");
    return 0;
  });
}

void flush() noexcept {
  Recorder::the().guarded(0, [] {
    Recorder::the().write_all();
    return 0;
  });
}

void finish() noexcept {
  Recorder::the().guarded(0, [] {
    Recorder::the().finish();
    return 0;
  });
}

}  // namespace slabmark::capture
