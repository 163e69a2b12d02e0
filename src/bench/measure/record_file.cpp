#include "bench/measure/record_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

namespace {

/// An open descriptor; -1 if opening failed, with errno telling why.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags, 0666)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  bool failed() const { return number_ < 0; }

 private:
  int number_;
};

std::string reason(int error) {
  return error == EISDIR ? "it is a directory" : std::strerror(error);
}

[[noreturn]] void fail_to_append(const std::string& path, const std::string& why) {
  throw IoError(fmt::format(
      "The record could not be appended to '{}': {}. Name a record file that can be written.", path,
      why));
}

/// Size of a regular file; nothing for a pipe or terminal, which have none.
std::optional<off_t> size_of(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status.st_size;
}

/// True if the file ends inside a line, as a run leaves it that was killed while writing.
bool ends_inside_a_line(int file) {
  const std::optional<off_t> size = size_of(file);
  char last = '\n';
  return size && *size > 0 && ::pread(file, &last, 1, *size - 1) == 1 && last != '\n';
}

/// Removes the first `written` bytes of a line from the end, unless someone has appended since.
void cut_off(int file, ssize_t written) {
  const off_t end = ::lseek(file, 0, SEEK_CUR);
  if (written <= 0 || size_of(file) != end) return;
  // The failure that follows tells the user; a second one here would only hide its reason.
  if (::ftruncate(file, end - written) != 0) return;
}

void write_at_once(const std::string& path, int file, const std::string& line) {
  ssize_t written = -1;
  do {
    written = ::write(file, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) fail_to_append(path, reason(errno));
  if (static_cast<std::size_t>(written) == line.size()) return;
  cut_off(file, written);
  fail_to_append(path, fmt::format("only {} of {} bytes found room", written, line.size()));
}

void make_durable(const std::string& path, int file) {
  if (::fsync(file) == 0) return;
  // Pipes and terminals have nothing to sync.
  if (errno != EINVAL && errno != EROFS && errno != ENOTSUP) fail_to_append(path, reason(errno));
}

/// Empty, or why no record belongs there. A first line that a killed run has left torn is no JSON.
std::string reason_not_to_append(int file, const std::string& path) {
  const std::optional<off_t> size = size_of(file);
  if (!size) return "it is no regular file";
  std::string line;
  std::ifstream text(path);
  if (*size == 0 || !std::getline(text, line)) return "";
  const std::optional<Json> first = Json::parse_if_valid(line);
  const bool is_ours = line.starts_with("{\"") && (!first || first->contains("slabmark_record"));
  return is_ours ? "" : "it holds something else than records";
}

}  // namespace

void append_record(const std::string& path, const CellRecord& record) {
  append_document(path, Json(record));
}

void append_document(const std::string& path, const Json& document) {
  // Host names and environment values may hold any bytes; dump() replaces those that are not UTF-8.
  std::string line = document.dump() + '\n';
  if (path == standard_output) {
    fmt::print("{}", line);
    return;
  }
  const Descriptor file(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC);
  if (file.failed()) fail_to_append(path, reason(errno));
  if (ends_inside_a_line(file.number())) line.insert(0, 1, '\n');
  write_at_once(path, file.number(), line);
  make_durable(path, file.number());
}

void check_record_path(const std::string& path) {
  if (path == standard_output) return;
  // O_NONBLOCK, since opening a pipe that nobody reads would else wait.
  const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK;
  const Descriptor existing(path, flags);
  if (!existing.failed()) {
    const auto refusal = reason_not_to_append(existing.number(), path);
    if (refusal.empty()) return;
    throw InputError(fmt::format(
        "Records cannot be appended to '{}': {}. Name another record file.", path, refusal));
  }
  int error = errno;
  if (error == ENOENT) {
    const Descriptor created(path, flags | O_CREAT | O_EXCL);
    error = errno;
    if (!created.failed()) {
      ::unlink(path.c_str());
      return;
    }
  }
  throw InputError(fmt::format(
      "Records cannot be appended to '{}': {}. Name a record file that can be written.", path,
      error == EEXIST ? "it is a symbolic link that leads nowhere" : reason(error)));
}

}  // namespace slabmark
