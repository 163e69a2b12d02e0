#include "accel/pnetcdf_dropin/data_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

#include "core/base/error.hpp"
#include "storage/mpiio/file_name.hpp"
#include "storage/mpiio/implementation.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark::dropin {

namespace {

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

/// True if no more than an eighth of the descriptors is left. The lowest one that is free tells.
bool is_short_of_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  const int lowest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (lowest < 0) return errno == EMFILE;
  ::close(lowest);
  return static_cast<rlim_t>(lowest) >= limit.rlim_cur - limit.rlim_cur / 8;
}

}  // namespace

int code_of(const mpiio::Failure& failure, int default_code) {
  switch (failure.error_class()) {
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

namespace {

/// PnetCDF's code of what a call for the file returns.
template <class Call>
int code_of_call(const Call& call, int default_code = NC_EFILE) noexcept {
  try {
    call();
    return NC_NOERR;
  } catch (const mpiio::Failure& failure) {
    return code_of(failure, default_code);
  } catch (...) {
    return NC_EFILE;
  }
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
    const int error = code_of_call([&] { file.file_.close(); });
    if (file.error_ == NC_NOERR) file.error_ = error;
    file.seat_.splice(file.seat_.end(), files, files.begin());
  }
}

void DataFile::open(const Opening& opening) {
  make_room();
  // While it leads there the program's own name is taken, which may be much shorter.
  const bool leads_there = identity_of(opening.path) == opening.identity;
  const std::string& name = leads_there ? opening.path : opening.place;
  mpiio::require_length_for_mpi_io(name);
  collective::File file(
      MPI_COMM_SELF, name,
      opening.writable ? collective::File::Access::write : collective::File::Access::read,
      opening.hints, overlap_);
  if (identity_of(name) != opening.identity) throw IoError("The file has another name now.");
  file.end_is_zero();
  tells_end_ = posix::unsafe_append_filesystem(name.substr(mpiio::prefix_in_effect(name))).empty();
  file.continue_from(file_);
  file_ = std::move(file);
}

void DataFile::note_end() {
  if (tells_end_) file_.fresh_from_end();
}

// PnetCDF's own sync has the disk store also what was written before the file was closed to make
// room.
int DataFile::sync() {
  const int before = std::exchange(error_, NC_NOERR);
  const int error = is_open() ? code_of_call([&] { file_.sync(); }) : NC_NOERR;
  return error != NC_NOERR ? error : before;
}

int DataFile::close() {
  const int before = std::exchange(error_, NC_NOERR);
  const int error = is_open() ? code_of_call([&] { file_.close(); }) : NC_NOERR;
  return error != NC_NOERR ? error : before;
}

int DataFile::settle(const Comm& comm) {
  const int before = std::exchange(error_, NC_NOERR);
  const int error = code_of_call([&] { file_.settle(comm); }, NC_EWRITE);
  return error != NC_NOERR ? error : before;
}

int DataFile::failed_write() {
  return code_of_call(
      [&] {
        if (const auto failure = file_.take_failure()) throw *failure;
      },
      NC_EWRITE);
}

}  // namespace slabmark::dropin
