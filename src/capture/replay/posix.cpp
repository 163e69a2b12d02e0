#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "capture/format/event_flags.hpp"
#include "capture/replay/replay.hpp"
#include "core/base/error.hpp"
#include "storage/posix/file.hpp"

namespace slabmark {

namespace {

/// Flags of open(2), of a file that is not there yet, or was made by these calls.
int flags_of(const Json& file, bool is_shared) {
  constexpr std::pair<const char*, int> all[] = {{"wronly", O_WRONLY},
                                                 {"rdwr", O_RDWR},
                                                 {"trunc", O_TRUNC},
                                                 {"sync", O_SYNC},
                                                 {"dsync", O_DSYNC}};
  int flags = O_CLOEXEC;
  for (const auto& word : file.value("flags", Json::array())) {
    for (const auto& [name, flag] : all) flags |= word == name ? flag : 0;
  }
  flags |= O_CREAT;  // of what the program found there nothing is known: it is an empty file
  // Ranks come in another order, and who empties a file must not do so when others have written.
  if (is_shared) flags &= ~O_TRUNC;
  return flags;
}

/// The calls that a program made of the C library, once more: of the descriptor or of the stream.
/// Bytes go where they went: what moved a file's position without being captured, such as fprintf,
/// or the bytes of others in a file that was appended to, is made up for by a seek.
class PosixReplay : public Replay {
 public:
  explicit PosixReplay(const Context& context) : Replay(context), rank_(context.rank) {}
  ~PosixReplay() override {
    for (const auto& [opening, file] : files_) {
      file.stream != nullptr ? std::fclose(file.stream) : ::close(file.descriptor);
    }
  }

  void make(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) override;
  void sync() override;
  void end() override {
    while (!files_.empty()) close(files_.begin()->first);
  }

 private:
  struct File {
    int descriptor = -1;
    std::FILE* stream = nullptr;
    off_t position = 0;
    bool is_at_stream = false;  ///< or the descriptor was used last
    int flags = 0;
  };

  void check(bool is_well, const std::string& call) const {
    if (is_well) return;
    throw IoError(fmt::format("{} failed on '{}': {}.", call, path_, posix::explain(errno)));
  }
  void open(const CapturedEvent& event);
  void stream_of(File& file) const;
  void close(std::uint64_t opening);
  void seek(File& file, off_t position);
  void move(const std::string& call, File& file, const CapturedEvent& event, std::byte* memory);
  std::vector<iovec> pieces_of(const CapturedEvent& event, std::byte* memory) const;

  const RankReader& rank_;
  std::string path_;                     ///< of the file of the call at hand
  std::map<std::uint64_t, File> files_;  ///< by opening
};

void PosixReplay::open(const CapturedEvent& event) {
  const auto& described = rank_.file(event.file);
  const int flags = flags_of(described, context_.is_shared(event.file));
  File file;
  file.flags = flags;
  file.descriptor = ::open(path_.c_str(), flags, 0666);
  check(file.descriptor >= 0, "open");
  if (described.contains("mode")) {
    stream_of(file);
    file.is_at_stream = true;
  }
  files_[event.file] = file;
}

// The program may have made one of its descriptor, by fdopen().
void PosixReplay::stream_of(File& file) const {
  if (file.stream != nullptr) return;
  const int access = file.flags & O_ACCMODE;
  // Where "w" and "a" differ has been said to open().
  const char* const mode = access == O_RDONLY ? "r" : access == O_WRONLY ? "w" : "r+";
  file.stream = fdopen(file.descriptor, mode);
  if (file.stream == nullptr) ::close(file.descriptor);
  check(file.stream != nullptr, "fdopen");
}

void PosixReplay::close(std::uint64_t opening) {
  path_ = context_.path_of(opening);
  const auto file = files_.at(opening);
  files_.erase(opening);
  file.stream != nullptr ? check(std::fclose(file.stream) == 0, "fclose")
                         : check(::close(file.descriptor) == 0, "close");
}

void PosixReplay::sync() {
  for (const auto& [opening, file] : files_) {
    path_ = context_.path_of(opening);
    if (file.stream != nullptr) check(std::fflush(file.stream) == 0, "fflush");
    check(::fsync(file.descriptor) == 0, "fsync");
  }
}

void PosixReplay::seek(File& file, off_t position) {
  if (file.is_at_stream) {
    check(fseeko(file.stream, position, SEEK_SET) == 0, "fseek");
  } else {
    check(::lseek(file.descriptor, position, SEEK_SET) >= 0, "lseek");
  }
  file.position = position;
}

std::vector<iovec> PosixReplay::pieces_of(const CapturedEvent& event, std::byte* memory) const {
  if (!event.memory) return {{memory, static_cast<std::size_t>(event.counts.at(0))}};
  std::vector<iovec> pieces;
  const auto boxes = rank_.lists.get(*event.memory);
  for (std::size_t i = 0; i < boxes.count; ++i) {
    const auto start = boxes.starts[i] + boxes.first(0);
    pieces.push_back({memory + start, static_cast<std::size_t>(boxes.counts[i])});
  }
  return pieces;
}

void PosixReplay::move(const std::string& call, File& file, const CapturedEvent& event,
                       std::byte* memory) {
  if (event.selection != CapturedEvent::Selection::box || memory == nullptr) return;
  const auto bytes = static_cast<std::size_t>(event.counts.at(0));
  const auto offset = static_cast<off_t>(event.origin.at(0));
  const bool is_explicit = call.starts_with("p");
  const bool is_of_stream = call.starts_with("f");
  if (!is_explicit && (file.position != offset || file.is_at_stream != is_of_stream)) {
    if (is_of_stream) stream_of(file);
    if (file.stream != nullptr && !is_of_stream) check(std::fflush(file.stream) == 0, "fflush");
    file.is_at_stream = is_of_stream;
    seek(file, offset);
  }
  auto pieces = pieces_of(event, memory);
  const auto count = static_cast<int>(pieces.size());
  const int descriptor = file.descriptor;
  errno = 0;
  const auto moved =
      call == "fwrite"    ? static_cast<ssize_t>(std::fwrite(memory, 1, bytes, file.stream))
      : call == "fread"   ? static_cast<ssize_t>(std::fread(memory, 1, bytes, file.stream))
      : call == "write"   ? ::write(descriptor, memory, bytes)
      : call == "read"    ? ::read(descriptor, memory, bytes)
      : call == "pwrite"  ? ::pwrite(descriptor, memory, bytes, offset)
      : call == "pread"   ? ::pread(descriptor, memory, bytes, offset)
      : call == "writev"  ? ::writev(descriptor, pieces.data(), count)
      : call == "readv"   ? ::readv(descriptor, pieces.data(), count)
      : call == "pwritev" ? ::pwritev(descriptor, pieces.data(), count, offset)
                          : ::preadv(descriptor, pieces.data(), count, offset);
  if (!is_explicit && moved > 0) file.position += moved;
  if (moved == static_cast<ssize_t>(bytes)) return;
  // Other programs may have written the elements that the program found there, or they were there
  // before.
  if ((event.flags & capture::reads) != 0 && moved >= 0 && errno == 0) return;
  if (errno == 0) errno = ENOSPC;
  check(false, call);
}

void PosixReplay::make(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) {
  const auto& event = parts.front();
  const std::string& call = rank_.call(event.call).name;
  path_ = context_.path_of(event.file);
  if (call == "open" || call == "fopen") return open(event);
  auto& file = opened(files_, event.file);
  const auto argument = event.arguments.empty() ? off_t{0} : off_t{event.arguments[0]};
  if (event.moves()) return move(call, file, event, memory.front());
  if (call == "lseek" || call == "fseek") {
    if (call == "fseek") stream_of(file);
    if (call == "lseek" && file.stream != nullptr) check(std::fflush(file.stream) == 0, "fflush");
    file.is_at_stream = call == "fseek";
    return seek(file, argument);
  }
  if (call == "ftruncate") return check(::ftruncate(file.descriptor, argument) == 0, call);
  if (call == "fsync") return check(::fsync(file.descriptor) == 0, call);
  if (call == "fdatasync") return check(::fdatasync(file.descriptor) == 0, call);
  if (call == "posix_fallocate" || (call == "fallocate" && event.arguments.size() == 3)) {
    const off_t length = event.arguments.at(1);
    const int mode = call == "fallocate" ? static_cast<int>(event.arguments[2]) : 0;
    if (mode != 0) return check(::fallocate(file.descriptor, mode, argument, length) == 0, call);
    errno = posix_fallocate(file.descriptor, argument, length);  // on any file system
    return check(errno == 0, call);
  }
  if (call == "fflush") {
    return check(file.stream == nullptr || std::fflush(file.stream) == 0, call);
  }
  if (call == "close" || call == "fclose") return close(event.file);
}

}  // namespace

std::unique_ptr<Replay> make_posix_replay(const Replay::Context& context) {
  return std::make_unique<PosixReplay>(context);
}

}  // namespace slabmark
