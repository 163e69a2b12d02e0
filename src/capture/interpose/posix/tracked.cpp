#include "capture/interpose/posix/tracked.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fnmatch.h>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/record/definitions.hpp"

namespace slabmark::capture::posix {

namespace {

constexpr off_t least_read_bytes = 64 * 1024;  // smaller ones are settings, not input

/// The known facts of a descriptor. Read without a lock.
struct Slot {
  std::atomic<std::uint32_t> opening;  ///< and 1; 0: it is not tracked
  std::atomic<bool> is_appended_to;
  std::atomic<off_t> end;  ///< of what went by its position last, or -1
};
std::array<Slot, most_descriptors> slots{};
std::atomic<pid_t> own_process{getpid()};

Slot& slot_of(int descriptor) { return slots[static_cast<std::size_t>(descriptor)]; }

struct State {
  std::mutex mutex;
  std::map<Id, int> descriptors;  // how many numbers an opening has
  std::map<std::FILE*, off_t> positions;
};

State& state() {
  static auto& one = *[] {
    // A child of fork() must not find it locked by a thread that it does not have.
    pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); },
                   [] {
                     own_process = getpid();
                     state().mutex.unlock();
                   });
    return new State;  // programs may write while static objects end
  }();
  return one;
}

class KeptErrno {
 public:
  KeptErrno() : kept_(errno) {}
  ~KeptErrno() { errno = kept_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int kept_;
};

Id opening_of(int descriptor) {
  return slot_of(descriptor).opening.load(std::memory_order_relaxed) - 1;
}

std::string_view choice() {
  static const auto chosen = [] {
    const char* const text = std::getenv(switch_variable);
    return std::string_view(text == nullptr ? "auto" : text);
  }();
  return chosen;
}

bool has_beginning(std::string_view path, std::initializer_list<std::string_view> beginnings) {
  for (const auto& beginning : beginnings) {
    if (path.starts_with(beginning)) return true;
  }
  return false;
}

bool contains(std::string_view path, std::initializer_list<std::string_view> words) {
  for (const auto& word : words) {
    if (path.find(word) != path.npos) return true;
  }
  return false;
}

bool is_named(const char* path, const char* patterns) {
  std::string_view left = patterns;
  for (;;) {
    const auto colon = left.find(':');
    if (fnmatch(std::string(left.substr(0, colon)).c_str(), path, 0) == 0) return true;
    if (colon == left.npos) return false;
    left.remove_prefix(colon + 1);
  }
}

/// Of a library (libm.so.6, too) or of Python.
bool is_code(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  for (const std::string_view ending : {".so", ".py", ".pyc"}) {
    if (name.ends_with(ending)) return true;
  }
  const auto version = name.rfind(".so.");
  return version != name.npos &&
         name.find_first_not_of("0123456789.", version + std::strlen(".so.")) == name.npos;
}

/// Devices, programs and their libraries, what Python compiles, MPI's and capture's own files, and
/// small ones that are only read are not data of the program.
bool is_meant(int descriptor, const char* path, bool is_written) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const std::string_view name = path;
  const char* const pattern = std::getenv(pattern_variable);
  if (pattern != nullptr && name.starts_with(pattern)) return false;
  if (const char* const patterns = std::getenv(files_variable)) return is_named(path, patterns);
  const bool is_in_memory = name.starts_with("/dev/shm/");
  if ((!is_in_memory && has_beginning(name, {"/proc/", "/sys/", "/dev/", "/run/", "/etc/"})) ||
      contains(name, {"/ompi.", "openmpi-sessions", "/pmix", "__pycache__"})) {
    return false;
  }
  if (is_written) return true;
  if (has_beginning(name, {"/usr/", "/lib", "/bin/", "/opt/"}) || is_code(name)) return false;
  return status.st_size >= least_read_bytes;
}

Json words_of(int flags) {
  auto words = Json::array();
  const int access = flags & O_ACCMODE;
  words.push_back(access == O_RDONLY ? "rdonly" : access == O_WRONLY ? "wronly" : "rdwr");
  const std::pair<int, const char*> all[] = {
      {O_CREAT, "creat"}, {O_EXCL, "excl"},   {O_TRUNC, "trunc"},  {O_APPEND, "append"},
      {O_SYNC, "sync"},   {O_DSYNC, "dsync"}, {O_DIRECT, "direct"}};
  for (const auto& [flag, word] : all) {
    if ((flags & flag) == flag) words.push_back(word);
  }
  return words;
}

Id bytes_id() { return define(R"({"kind":"bytes"})"); }

/// Memory of several pieces, from the first one's address on; false: they are one line.
bool to_memory(std::span<const iovec> pieces, ssize_t bytes, Boxes& memory) {
  memory.clear(1);
  const char* base = nullptr;
  std::int64_t end = 0;
  bool is_dense = true;
  for (const auto& piece : pieces) {
    const auto length = std::min<std::int64_t>(bytes, static_cast<std::int64_t>(piece.iov_len));
    if (length == 0) continue;  // its address may be none
    const auto* const address = static_cast<const char*>(piece.iov_base);
    if (base == nullptr) base = address;
    const std::int64_t offset = address - base;
    memory.add(&offset, &length);
    is_dense = is_dense && offset == end;
    end = offset + length;
    bytes -= length;
  }
  return !is_dense;
}

/// Tracks a descriptor that was opened, and records that it was.
void track(const char* name, int descriptor, const char* path, int flags, const std::string& how) {
  Json file{
      {"kind", "file"}, {"level", "posix"}, {"path", own_path(path)}, {"flags", words_of(flags)}};
  if (!how.empty()) file["mode"] = how;
  if (choice() != "on") file["unasked"] = true;
  const auto id = open_file(text_of(file));
  if (id == no_id) return;
  slot_of(descriptor).end = -1;
  slot_of(descriptor).is_appended_to = (flags & O_APPEND) != 0;
  slot_of(descriptor).opening = id + 1;
  {
    const std::lock_guard guard(state().mutex);
    state().descriptors[id] = 1;
  }
  record({.call = define_call(name, (flags & O_CREAT) != 0 ? "create" : "open"), .file = id});
}

}  // namespace

bool is_tracked(int descriptor) noexcept {
  return descriptor >= 0 && descriptor < most_descriptors &&
         slot_of(descriptor).opening.load(std::memory_order_relaxed) != 0;
}

bool is_other_process() noexcept { return getpid() != own_process; }

bool is_appended_to(int descriptor) noexcept { return slot_of(descriptor).is_appended_to; }

void ended_at(int descriptor, off_t position) noexcept { slot_of(descriptor).end = position; }

bool is_tracked(std::FILE* stream) noexcept {
  const KeptErrno kept;  // one in memory has no descriptor
  return is_tracked(fileno(stream));
}

void opened(const Call& call, const char* name, int descriptor, const char* path, int flags,
            const std::string& how) {
  const KeptErrno kept;
  // It was closed in a way that is not seen.
  if (is_tracked(descriptor)) closing(call, "close", descriptor);
  if (!call.is_user_call() || choice() == "off" || descriptor >= most_descriptors) return;
  // Of what could not be opened nothing says whether it was meant.
  if (descriptor < 0) return;
  if (!is_meant(descriptor, path, (flags & O_ACCMODE) != O_RDONLY)) return;
  quietly([&] { track(name, descriptor, path, flags, how); });
}

void duplicated(int descriptor, int copy) {
  if (!is_tracked(descriptor) || copy < 0 || copy >= most_descriptors || copy == descriptor) return;
  slot_of(copy).end = -1;
  slot_of(copy).is_appended_to = is_appended_to(descriptor);
  slot_of(copy).opening = opening_of(descriptor) + 1;
  const std::lock_guard guard(state().mutex);
  ++state().descriptors[opening_of(descriptor)];
}

void flags_changed(int descriptor, int flags) {
  const bool appends = (flags & O_APPEND) != 0;
  if (!is_tracked(descriptor) || is_appended_to(descriptor) == appends) return;
  const Id opening = opening_of(descriptor);
  for (Slot& slot : slots) {
    if (slot.opening == opening + 1) slot.is_appended_to = appends;
  }
}

void closing(const Call& call, const char* name, int descriptor) {
  const auto id = opening_of(descriptor);
  slot_of(descriptor).opening = 0;
  {
    const std::lock_guard guard(state().mutex);
    if (--state().descriptors[id] > 0) return;
    state().descriptors.erase(id);
  }
  if (call.is_user_call()) record({.call = define_call(name, "close"), .file = id});
}

void moved(const Call& call, const char* name, unsigned direction, int descriptor, off_t offset,
           ssize_t bytes, std::span<const iovec> pieces) {
  if (!call.is_user_call()) return;
  static thread_local Boxes selection(1);
  static thread_local Boxes memory(1);
  selection.clear(1);
  const std::int64_t start = offset;
  const std::int64_t length = bytes;
  if (length > 0) selection.add(&start, &length);
  const bool is_apart = length > 0 && to_memory(pieces, bytes, memory);
  record({.call = define_call(name, direction == writes ? "write" : "read"),
          .file = opening_of(descriptor),
          .dataset = bytes_id(),
          .flags = direction | (length < 0 ? unsigned{failed} : 0),
          .selection = &selection,
          .rank = 1,
          .memory = is_apart ? &memory : nullptr});
}

void called(const Call& call, const char* name, const char* effect, int descriptor, bool well,
            std::initializer_list<std::int64_t> arguments) {
  if (!call.is_user_call()) return;
  record({.call = define_call(name, effect),
          .file = opening_of(descriptor),
          .dataset = bytes_id(),
          .flags = well ? 0 : unsigned{failed},
          .arguments = {arguments.begin(), arguments.size()}});
}

void expect(std::FILE* stream, off_t position) {
  const std::lock_guard guard(state().mutex);
  state().positions[stream] = position;
}

void check(std::FILE* stream, off_t position) {
  {
    const std::lock_guard guard(state().mutex);
    const auto found = state().positions.find(stream);
    if (found == state().positions.end() || found->second == position) return;
    found->second = position;
    // std::fstream writes by the descriptor of its FILE.
    if (slot_of(fileno(stream)).end == position) return;
  }
  count_uncaptured("fprintf, fputs and other calls on a FILE but fread and fwrite");
}

void forget(std::FILE* stream) {
  const std::lock_guard guard(state().mutex);
  state().positions.erase(stream);
}

void check_all(off_t (*position)(std::FILE*)) {
  std::map<std::FILE*, off_t> left;
  {
    // The thread that ends the process may have it, in the handler of a signal.
    const std::unique_lock guard(state().mutex, std::try_to_lock);
    if (guard.owns_lock()) left = state().positions;
  }
  for (const auto& [stream, expected] : left) {
    if (is_tracked(stream)) check(stream, position(stream));
  }
}

}  // namespace slabmark::capture::posix
