#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace slabmark::posix {

/// Reason and remedy for an errno value, as the end of a sentence: "No space left on device; free
/// some space there or choose another directory".
std::string explain(int error);

/// Bytes of a file as memory that is only read, until it is destroyed.
class Mapping {
 public:
  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  const std::byte* data() const { return data_; }  ///< at the begin of a page; null for no bytes

 private:
  friend class File;
  Mapping(const std::byte* data, std::uint64_t bytes) : data_(data), bytes_(bytes) {}

  const std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// An open file that closes itself. Offsets and sizes are in bytes. Every failure throws IoError
/// with the call, the file, the reason and the remedy. Writes beyond RLIMIT_FSIZE raise SIGXFSZ
/// unless the process ignores it, which run_program() arranges.
class File {
 public:
  enum class Access { read, write };  ///< `write` also allows reading
  enum class Lock { taken, held_by_another, unsupported };

  File() = default;
  static File create(const std::string& path);  ///< the file must not exist yet
  /// A new one in the folder of `beside`, without a name: it is gone when it is closed, also where
  /// the process is killed.
  static File create_unnamed(const std::string& beside);
  static File open(const std::string& path, Access access);
  /// Past the page cache (O_DIRECT): offsets, lengths and memory must be whole blocks. Throws
  /// InputError where the file system has no direct I/O.
  static File open_direct(const std::string& path, Access access);
  /// Opens what the user named as input, to read it. Throws InputError, which calls it `what`
  /// ("decomposition file"), where it is missing, may not be read, or is no regular file: a
  /// directory, or a pipe or device, which may keep a reader waiting for ever.
  static File open_input(const std::string& path, std::string_view what);
  /// Opens for writing, and makes the file if it is not there.
  static File open_or_create(const std::string& path);
  /// Opens for append() and for reading, and makes the file if it is not there.
  static File open_to_append(const std::string& path);

  ~File();
  File(File&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(path_, other.path_);
    return *this;
  }

  const std::string& path() const { return path_; }
  bool is_open() const { return descriptor_ >= 0; }

  /// Writes all of [data, data + bytes), however many system calls that takes.
  void write_at(std::uint64_t offset, const std::byte* data, std::uint64_t bytes);
  /// Writes all of it, in one call, where the file ends, also while other processes do so.
  void append(const std::byte* data, std::uint64_t bytes);
  /// Reads exactly `bytes`; a file that ends before is an IoError.
  void read_at(std::uint64_t offset, std::byte* data, std::uint64_t bytes);

  /// The first `bytes` of the file, which must not become shorter.
  Mapping map(std::uint64_t bytes) const;

  std::uint64_t size() const;
  void resize(std::uint64_t bytes);  ///< what is added reads as zero
  /// Takes the space of [offset, offset + bytes) now, so that a full disk shows before data is
  /// written; only the size is checked where the file system cannot reserve.
  void reserve(std::uint64_t offset, std::uint64_t bytes);
  void sync();  ///< fsync
  /// Takes a lock that lasts as long as the file is open (flock), where nobody has one, or, if all
  /// that hold one share it, shares it. It says nothing to those who do not ask for one. A file
  /// system that refuses for any other reason than a holder has no locks (`unsupported`).
  Lock try_lock(bool shared);
  /// True if its name still leads to this file.
  bool is_at_its_name() const;
  /// Reports what the destructor would have to keep silent about: delayed write errors.
  void close();

 private:
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  [[noreturn]] void fail(const char* call, int error) const;
  template <class Call, class Byte, class Ended>
  void move(const char* name, Call call, std::uint64_t offset, Byte* data, std::uint64_t bytes,
            const Ended& ended);

  int descriptor_ = -1;
  std::string path_;
};

/// Removes a file; one that is not there is no error.
void unlink(const std::string& path);

}  // namespace slabmark::posix
