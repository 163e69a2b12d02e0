#include "accel/pnetcdf_dropin/data_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "storage/mpiio/file_name.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark::dropin {

namespace {

/// PnetCDF's code of an MPI error; `default_code` where it has none of its own for that.
int code_of(int mpi_error, int default_code) {
  if (mpi_error == MPI_SUCCESS) return NC_NOERR;
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(mpi_error, &error_class);
  switch (error_class) {
    case MPI_ERR_NO_SUCH_FILE:
      return NC_ENOENT;
    case MPI_ERR_READ_ONLY:
      return NC_EPERM;
    case MPI_ERR_ACCESS:
      return NC_EACCESS;
    case MPI_ERR_BAD_FILE:
      return NC_EBAD_FILE;
    case MPI_ERR_NO_SPACE:
      return NC_ENO_SPACE;
    case MPI_ERR_QUOTA:
      return NC_EQUOTA;
    default:
      return default_code;
  }
}

/// Files that are open and not in use, the one that was used least lately first. Threads may use
/// others meanwhile.
struct Idle {
  std::mutex mutex;
  std::list<DataFile*> files;
};

Idle& idle() {
  static auto& all = *new Idle;
  return all;
}

/// Whether no more than an eighth of the descriptors is left. The lowest one that is free tells.
bool is_short_of_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  const int lowest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (lowest < 0) return errno == EMFILE;
  ::close(lowest);
  return static_cast<rlim_t>(lowest) >= limit.rlim_cur - limit.rlim_cur / 8;
}

}  // namespace

DataFile::~DataFile() {
  const std::lock_guard lock(idle().mutex);
  idle().files.remove(this);
}

DataFile::InUse::InUse(DataFile& file) : file_(file) {
  const std::lock_guard lock(idle().mutex);
  auto& files = idle().files;
  const auto found = std::ranges::find(files, &file);
  if (found != files.end()) file.seat_.splice(file.seat_.end(), files, found);
}

DataFile::InUse::~InUse() {
  if (!file_.is_open()) return;
  const std::lock_guard lock(idle().mutex);
  idle().files.splice(idle().files.end(), file_.seat_);
}

void DataFile::make_room() {
  const std::lock_guard lock(idle().mutex);
  auto& files = idle().files;
  while (!files.empty() && is_short_of_descriptors()) {
    DataFile& file = *files.front();
    const int error = code_of(MPI_File_close(&file.file_), NC_EFILE);
    if (file.error_ == NC_NOERR) file.error_ = error;
    file.seat_.splice(file.seat_.end(), files, files.begin());
  }
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str() + mpiio::prefix_in_effect(path), &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

// Transfers are large and contiguous, so data sieving is in the way.
int DataFile::open(const std::string& path, const std::optional<FileIdentity>& meant,
                   bool writable) {
  make_room();
  const mpiio::Info info({{"romio_ds_write", "disable"}, {"romio_ds_read", "disable"}});
  const int mode = writable ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
  const int code = MPI_File_open(MPI_COMM_SELF, path.c_str(), mode, info.get(), &file_);
  if (code != MPI_SUCCESS) return code_of(code, NC_EFILE);
  if (identity_of(path) != meant) {
    MPI_File_close(&file_);
    return NC_ENOENT;
  }
  tells_end_ = posix::unsafe_append_filesystem(path.substr(mpiio::prefix_in_effect(path))).empty();
  return NC_NOERR;
}

void DataFile::note_end() {
  MPI_Offset end = 0;
  const bool is_known =
      is_open() && tells_end_ && MPI_File_get_size(file_, &end) == MPI_SUCCESS && end >= 0;
  end_ = is_known ? static_cast<std::uint64_t>(end) : unknown;
}

// What was written before it was closed to make room, PnetCDF's handle of the file has the disk
// store as well.
int DataFile::sync() {
  const int before = std::exchange(error_, NC_NOERR);
  const int error = is_open() ? code_of(MPI_File_sync(file_), NC_EFILE) : NC_NOERR;
  return error != NC_NOERR ? error : before;
}

int DataFile::close() {
  const int before = std::exchange(error_, NC_NOERR);
  const int error = is_open() ? code_of(MPI_File_close(&file_), NC_EFILE) : NC_NOERR;
  return error != NC_NOERR ? error : before;
}

void DataFile::write(std::uint64_t offset, const std::byte* memory, std::uint64_t bytes) {
  MPI_Status status{};
  MPI_Status_set_elements_x(&status, MPI_BYTE, 0);
  const int error = code_of(MPI_File_write_at(file_, static_cast<MPI_Offset>(offset), memory,
                                              static_cast<int>(bytes), MPI_BYTE, &status),
                            NC_EWRITE);
  if (error != NC_NOERR) throw PnetcdfError(error);
  int written = 0;
  MPI_Get_count(&status, MPI_BYTE, &written);
  if (static_cast<std::uint64_t>(written) != bytes) throw PnetcdfError(NC_EWRITE);
}

void DataFile::read(std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
  MPI_Status status{};
  MPI_Status_set_elements_x(&status, MPI_BYTE, 0);
  const int error = code_of(MPI_File_read_at(file_, static_cast<MPI_Offset>(offset), memory,
                                             static_cast<int>(bytes), MPI_BYTE, &status),
                            NC_EREAD);
  if (error != NC_NOERR) throw PnetcdfError(error);
  int moved = 0;
  MPI_Get_count(&status, MPI_BYTE, &moved);
  const auto read = moved > 0 ? static_cast<std::uint64_t>(moved) : 0;
  if (read < bytes) std::memset(memory + read, 0, bytes - read);
}

}  // namespace slabmark::dropin
