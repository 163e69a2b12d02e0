#include "map/pio_text_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t entry_bytes = 21;  // 20 digits of 2^64 - 1 and a blank

/// Whether writing makes a regular file of `path`. A device or a pipe is written in place, never
/// replaced, and a directory cannot be opened.
bool becomes_regular_file(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

/// `at` has room for entry_bytes. Returns the end of what was written.
char* format_entry(char* at, std::uint64_t entry) {
  at = std::to_chars(at, at + entry_bytes, entry).ptr;
  *at++ = ' ';
  return at;
}

}  // namespace

/// The file under its temporary name. Removes it on destruction unless it was committed.
class PioTextWriter::File {
 public:
  explicit File(std::string path) : path_(std::move(path)), written_as_(path_) {
    int flags = O_WRONLY | O_CLOEXEC;
    if (becomes_regular_file(path_)) {
      written_as_ = fmt::format("{}.part-{}", path_, ::getpid());
      flags |= O_CREAT | O_EXCL;
    }
    descriptor_ = ::open(written_as_.c_str(), flags, 0666);
    if (descriptor_ < 0) fail("open");
    temporary_ = written_as_ != path_;
  }

  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (temporary_) ::unlink(written_as_.c_str());
  }

  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(const char* data, std::size_t bytes) {
    while (bytes > 0) {
      const ssize_t wrote = ::write(descriptor_, data, bytes);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) fail("write");
      data += wrote;
      bytes -= static_cast<std::size_t>(wrote);
      bytes_ += static_cast<std::uint64_t>(wrote);
    }
  }

  /// Network file systems report a full disk as late as here, so close() is checked too.
  std::uint64_t commit() {
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("close");
    if (temporary_ && ::rename(written_as_.c_str(), path_.c_str()) != 0) fail("rename");
    temporary_ = false;
    return bytes_;
  }

 private:
  [[noreturn]] void fail(const char* call) const {
    const int error = errno;
    throw IoError(
        fmt::format("Cannot write decomposition file '{}': {} failed after {} bytes: {}{}.", path_,
                    call, bytes_, std::strerror(error), remedy(error)));
  }

  static const char* remedy(int error) {
    switch (error) {
      case EFBIG:
        return "; raise the file size limit (ulimit -f) or write a smaller map";
      case ENOSPC:
        return "; free some space or write to another file system";
      case ENOENT:
        return "; make its directory first";
      case EACCES:
      case EROFS:
        return "; choose a directory that you may write to";
      case EISDIR:
        return "; give the name of a file in it";
      case EEXIST:
        return "; remove the '.part-' file that an earlier run left beside it";
      default:
        return "";
    }
  }

  std::string path_;
  std::string written_as_;
  int descriptor_ = -1;
  bool temporary_ = false;
  std::uint64_t bytes_ = 0;
};

PioTextWriter::PioTextWriter(std::string path, const Extent& dims, std::uint64_t ranks)
    : file_(std::make_unique<File>(std::move(path))),
      buffer_(std::make_unique<char[]>(buffer_bytes)) {
  std::string header = fmt::format("version 2001 npes {} ndims {} \n", ranks, dims.size());
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) header += fmt::format("{} ", *dim);
  header += '\n';
  put_text(header);
}

PioTextWriter::~PioTextWriter() = default;

char* PioTextWriter::reserve(std::size_t bytes) {
  if (filled_ + bytes > buffer_bytes) {
    file_->write(buffer_.get(), std::exchange(filled_, 0));
  }
  return buffer_.get() + filled_;
}

void PioTextWriter::put_text(const std::string& text) {
  std::memcpy(reserve(text.size()), text.data(), text.size());
  filled_ += text.size();
}

void PioTextWriter::begin_rank(std::uint64_t rank, std::uint64_t entries) {
  end_rank();
  put_text(fmt::format("{} {}\n", rank, entries));
  missing_ = entries;
  in_rank_ = true;
}

void PioTextWriter::append(std::span<const std::uint64_t> entries) {
  if (entries.size() > missing_) {
    throw std::logic_error("PioTextWriter: a rank has more entries than announced");
  }
  missing_ -= entries.size();
  constexpr std::size_t batch = 64;  // one check for room serves several entries
  while (!entries.empty()) {
    const auto now = entries.first(std::min(batch, entries.size()));
    char* const begin = reserve(batch * entry_bytes);
    char* at = begin;
    for (const std::uint64_t entry : now) at = format_entry(at, entry);
    filled_ += static_cast<std::size_t>(at - begin);
    entries = entries.subspan(now.size());
  }
}

void PioTextWriter::end_rank() {
  if (!in_rank_) return;
  if (missing_ > 0) {
    throw std::logic_error("PioTextWriter: a rank has fewer entries than announced");
  }
  put_text("\n");
  in_rank_ = false;
}

std::uint64_t PioTextWriter::finish() {
  end_rank();
  put_text("\n");
  file_->write(buffer_.get(), std::exchange(filled_, 0));
  return file_->commit();
}

std::uint64_t write_pio_text(const std::string& path, const SyntheticMap& map) {
  PioTextWriter writer(path, map.dims, map.ranks);
  for (std::uint64_t rank = 0; rank < map.ranks; ++rank) {
    writer.begin_rank(rank, map.entry_count(rank));
    map.visit(rank, [&writer](std::span<const std::uint64_t> entries) { writer.append(entries); });
  }
  return writer.finish();
}

}  // namespace slabmark
