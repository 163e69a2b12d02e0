#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <mpi.h>

#include "storage/mpiio/datatype.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark::mpiio {

/// Memory of one transfer: `count` elements of `type` from `address` on, `bytes` in all.
struct Memory {
  void* address = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
  std::uint64_t bytes = 0;
};

/// A file opened by all ranks of a communicator. Offsets are in elements of the view's etype, which
/// is a byte unless set_view() says otherwise. Every failure throws Failure with call, file and
/// reason; moving fewer bytes than asked for is a failure too.
class File {
 public:
  enum class Access { read, write };  ///< `write` also allows reading, which data sieving needs

  File() = default;
  static File create(MPI_Comm comm, const std::string& path, const Hints& hints);
  static File open(MPI_Comm comm, const std::string& path, Access access, const Hints& hints);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&& other) noexcept
      : file_(std::exchange(other.file_, MPI_FILE_NULL)), path_(std::move(other.path_)) {}
  File& operator=(File&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(path_, other.path_);
    return *this;
  }

  bool is_open() const { return file_ != MPI_FILE_NULL; }

  // Collective.
  void resize(std::uint64_t bytes);
  void set_view(std::uint64_t displacement, MPI_Datatype etype, MPI_Datatype filetype);
  void write_at_all(std::uint64_t offset, const Memory& memory);
  void read_at_all(std::uint64_t offset, const Memory& memory);
  void sync();
  void close();

  // Independent.
  void write_at(std::uint64_t offset, const Memory& memory);
  void read_at(std::uint64_t offset, const Memory& memory);
  /// Returns how many bytes were read. Reaching the end of the file is not a failure.
  std::uint64_t read_some_at(std::uint64_t offset, const Memory& memory);

  std::uint64_t size() const;  ///< in bytes

  /// Hints in effect, as MPI_File_get_info reports them; those of stripes as the file system does,
  /// where it tells (posix::stripes_of()).
  std::map<std::string, std::string> hints() const;

 private:
  File(MPI_File file, std::string path) : file_(file), path_(std::move(path)) {}
  static File open_with(MPI_Comm comm, const std::string& path, int mode, const Hints& hints);
  template <class Call>
  std::uint64_t move_some(const char* name, Call call, std::uint64_t offset,
                          const Memory& memory) const;
  template <class Call>
  void move(const char* name, Call call, std::uint64_t offset, const Memory& memory) const;

  MPI_File file_ = MPI_FILE_NULL;
  std::string path_;
};

/// The same of a file that another library has opened, at `path`.
std::map<std::string, std::string> hints_of(MPI_File file, const std::string& path);

}  // namespace slabmark::mpiio
