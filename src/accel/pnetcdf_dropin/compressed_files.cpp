#include "accel/pnetcdf_dropin/compressed_files.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "accel/pnetcdf_dropin/compressor_library.hpp"
#include "accel/pnetcdf_dropin/environment.hpp"
#include "accel/pnetcdf_dropin/open_files.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/end_of_mpi.hpp"
#include "storage/mpiio/file_name.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/pnetcdf/calls/native.hpp"
#include "storage/posix/unfinished_name.hpp"

namespace slabmark::dropin {

namespace {

using Result = Compressor::Result;

struct Files {
  std::mutex mutex;  // threads may each have files of their own
  std::map<int, std::unique_ptr<CompressibleFile>> by_id;
  /// On roots: those that others had open when they were closed.
  std::map<std::pair<std::uint64_t, std::uint64_t>, Compression> due;
};

void say(const std::string& sentence) {
  std::fputs(fmt::format("slabmark: {}\n", sentence).c_str(), stderr);
}

/// Without the type of file system that MPI-IO takes.
std::string on_disk(const std::string& path) { return path.substr(mpiio::prefix_in_effect(path)); }

/// Never destroyed. It asks for no memory: programs that are short of it close files, too.
Files& files() {
  alignas(Files) static std::array<std::byte, sizeof(Files)> place;
  static auto& all = *new (place.data()) Files;
  return all;
}

// Their communicators stay: to free them is collective, and MPI ends.
void end_of_files() {
  for (const auto& [id, file] : files().by_id) {
    if (!file->comm->is_root()) continue;
    if (!file->classic.empty()) ::unlink(on_disk(file->classic).c_str());
    if (file->compresses) {
      say(fmt::format("{} is not compressed, since the program has not closed it.", file->name));
    }
  }
  for (const auto& one : files().due) {
    static_cast<void>(one);
    say("A file is not compressed, since it was open elsewhere when the program closed it.");
  }
}

/// HDF5 serves one thread at a time, and threads of other ranks may come with other files first. So
/// the root takes its turn before the others do, which give way where they cannot have theirs.
class TurnOfThread {
 public:
  explicit TurnOfThread(const Comm& comm) : lock_(mutex(), std::defer_lock) {
    int threads = MPI_THREAD_SINGLE;
    MPI_Query_thread(&threads);
    if (threads != MPI_THREAD_MULTIPLE) return;
    for (unsigned attempt = 1;; ++attempt) {
      if (comm.is_root()) lock_.lock();
      comm.barrier();
      const bool is_mine = comm.is_root() || lock_.try_lock();
      if (!comm.any(!is_mine)) return;
      if (is_mine) lock_.unlock();
      if (comm.is_root()) std::this_thread::sleep_for(std::chrono::milliseconds(attempt % 20));
    }
  }

  /// Of those who use the compressor.
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

std::string text_of(const Compression& compression) { return compression.filter.data(); }

/// True if the file lies in several, of which this one knows only a part of the elements.
bool has_subfiles(std::map<std::string, std::string>& hints) {
  const char* const more = std::getenv("PNETCDF_HINTS");
  return number_in(hints["nc_num_subfiles"], 0) > 1 ||
         (more != nullptr && std::string(more).find("nc_num_subfiles") != std::string::npos);
}

/// The settings in the environment and in the hints of a file.
struct Asked {
  std::uint64_t is_on = 0;
  Compression compression = {};
};

Asked asked_of(MPI_Info info) {
  std::map<std::string, std::string> hints;
  if (info != MPI_INFO_NULL) hints = mpiio::entries_of(info);
  const char* const variable = std::getenv("SLABMARK_COMPRESS");
  const char* const dropin = std::getenv("SLABMARK_DROPIN");
  std::string filter = hints["slabmark_compress"];
  if (filter.empty() && variable != nullptr) filter = variable;
  if (filter.empty() || is_off(filter) || is_off(hints["slabmark"]) || has_subfiles(hints) ||
      (dropin != nullptr && is_off(dropin))) {
    return {};
  }
  Asked asked{1, {}};
  filter.copy(asked.compression.filter.data(), asked.compression.filter.size() - 1);
  asked.compression.shuffle = is_set("SLABMARK_COMPRESS_SHUFFLE");
  return asked;
}

/// Throws InputError where this process cannot compress like that.
void require_compressor(const Compression& compression) {
  const std::lock_guard lock(TurnOfThread::mutex());
  Compressor::Message message;
  const pnetcdf::InsideNative now;
  if (compressor().check(compression, message) != Result::done) {
    throw InputError(message.text.data());
  }
}

/// Collective. On root a sentence is said where it was not done.
Result convert(const CompressibleFile& file, const std::string& from, const std::string* classic,
               const Compression& compression) {
  const TurnOfThread turn(*file.comm);
  const pnetcdf::InsideNative now;  // the converter's calls of PnetCDF are not the program's
  Compressor::Message message;
  const Result result =
      classic == nullptr
          ? compressor().compress(file.comm->get(), from.c_str(), compression, message)
          : compressor().expand(file.comm->get(), from.c_str(), classic->c_str(), message);
  if (result != Result::done && file.comm->is_root()) {
    const std::string not_done =
        classic == nullptr ? "is not compressed and stays a classic file" : "cannot be expanded";
    say(fmt::format("{} {}: {}", file.name, not_done, message.text.data()));
  }
  return result;
}

}  // namespace

CompressedOpening::CompressedOpening(MPI_Comm comm, const char* path, int mode, MPI_Info info,
                                     bool creates)
    : path_(path), creates_(creates) {
  if (path == nullptr || !is_known_to_mpi(comm) || !is_asked(comm, info)) return;
  if (!can_compress()) {
    file_ = nullptr;
    return;
  }
  if (!creates) look_at_file((mode & NC_WRITE) != 0);
}

// The root's word counts, since the environment may differ between ranks.
bool CompressedOpening::is_asked(MPI_Comm comm, const MPI_Info& info) {
  Asked asked;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  try {
    if (rank == 0) asked = asked_of(info);
  } catch (const std::bad_alloc&) {  // then the file stays classic
  }
  check_mpi(MPI_Bcast(&asked, sizeof asked, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (asked.is_on == 0) return false;
  file_ = std::make_unique<CompressibleFile>();
  file_->comm = std::make_shared<Comm>(comm);
  file_->name = path_;
  file_->compression = asked.compression;
  return true;
}

// Asked before there are data, so that a setting that cannot work is told early.
bool CompressedOpening::can_compress() const {
  try {
    agreed(*file_->comm, [&] { require_compressor(file_->compression); });
    return true;
  } catch (const Error& error) {
    static std::once_flag is_said;
    if (file_->comm->is_root()) {
      std::call_once(is_said, [&] {
        say(fmt::format("Files are not compressed with {}: {}", text_of(file_->compression),
                        error.what()));
      });
    }
    return false;
  }
}

// Locks are taken when all ranks are here: one of them may be in the way of another group of ranks
// until then.
void CompressedOpening::look_at_file(bool writes) {
  const Comm& comm = *file_->comm;
  comm.barrier();
  bool is_compressed = false;
  if (comm.is_root()) {
    const std::string name = on_disk(file_->name);
    do {
      file_->held = HeldFile(name);
      is_compressed = file_->held.is_held() && file_->held.is_hdf5();
    } while (is_compressed && writes && !file_->held.wait_alone());
  }
  if (comm.any(is_compressed)) expand(writes);
}

// A file that the program may write to is a classic one from now on, also if the program is killed.
void CompressedOpening::expand(bool writes) {
  const Comm& comm = *file_->comm;
  static std::atomic<unsigned> made = 0;
  std::string from, classic;
  if (comm.is_root()) {
    from = classic = file_->held.place();
    if (!writes) classic = posix::unfinished_name(fmt::format("{}.classic{}", from, ++made));
  }
  from = comm.broadcast(from);
  classic = comm.broadcast(classic);
  const bool is_done = convert(*file_, from, &classic, {}) == Result::done;
  if (comm.is_root()) {
    if (is_done && writes) {
      ::chmod(classic.c_str(), file_->held.permissions());
      file_->held = HeldFile(classic);
    }
    file_->held.unlock();
  }
  if (!is_done) return;
  file_->compresses = writes;
  if (writes) return;
  const std::size_t prefix = mpiio::prefix_in_effect(file_->name);
  file_->classic = file_->name.substr(0, prefix) + classic;
  path_ = file_->classic.c_str();
}

void CompressedOpening::finish(int error, const int* ncid) {
  if (!file_) return;
  const bool is_root = file_->comm->is_root();
  if (file_->comm->any(error != NC_NOERR)) {
    if (is_root && !file_->classic.empty()) ::unlink(on_disk(file_->classic).c_str());
    return;
  }
  if (creates_) {
    int format = 0;
    SLABMARK_NATIVE(ncmpi_inq_format)(*ncid, &format);
    file_->compresses =
        format == NC_FORMAT_CLASSIC || format == NC_FORMAT_CDF2 || format == NC_FORMAT_CDF5;
    if (is_root) file_->held = HeldFile(on_disk(file_->name));
  }
  static std::once_flag ends_with_mpi;
  std::call_once(ends_with_mpi, [] { at_end_of_mpi(end_of_files); });
  const std::lock_guard lock(files().mutex);
  files().by_id[*ncid] = std::move(file_);
}

namespace {

std::unique_ptr<CompressibleFile> taken(int ncid) {
  const std::lock_guard lock(files().mutex);
  auto its = files().by_id.extract(ncid);
  return its ? std::move(its.mapped()) : nullptr;
}

// On root. Where no lock can be had, others may have compressed the file while this handle wrote.
void say_if_lost(const CompressibleFile& file) {
  if (!file.held.is_deleted()) {
    if (!file.compresses) return;
    say(fmt::format("{} is not compressed and stays a classic file: it is not found any more.",
                    file.name));
  } else if (!file.held.has_lock()) {
    const HeldFile now(on_disk(file.name));
    if (!now.is_held() || !now.is_hdf5()) return;
    say(
        fmt::format("{} was compressed while it was open elsewhere, and what was written after "
                    "that is lost; set the hint slabmark_compress=off for it.",
                    file.name));
  }
}

/// On root: where the file is that is to be compressed now. Empty: it is not, since others have it
/// open; who closes it last compresses it.
std::string place_to_compress(CompressibleFile& file) {
  const auto identity = file.held.identity();
  const std::string place = file.held.place();
  if (place.empty()) {
    say_if_lost(file);
    return "";
  }
  const std::pair key(identity->device, identity->number);
  const std::lock_guard lock(files().mutex);
  if (const auto due = files().due.find(key); due != files().due.end() && !file.compresses) {
    file.compression = due->second;
    file.compresses = true;
  }
  if (!file.compresses) return "";
  files().due.erase(key);
  if (file.held.lock_alone()) return place;
  files().due[key] = file.compression;
  return "";
}

void report(const CompressibleFile& file, const std::string& place) {
  if (!is_set("SLABMARK_REPORT")) return;
  say(fmt::format("{}: compressed with {} from {} to {} bytes", file.name,
                  text_of(file.compression), file.held.bytes(), HeldFile(place).bytes()));
}

}  // namespace

int close_compressible(int ncid, int error) {
  if (pnetcdf::inside_native()) return error;
  const auto file = taken(ncid);
  if (!file) return error;
  const Comm& comm = *file->comm;
  // Requests that nobody waited for do not keep PnetCDF from closing the file.
  if (comm.any(error != NC_NOERR && error != NC_EPENDING)) return error;
  if (!file->classic.empty()) {
    if (comm.is_root()) ::unlink(on_disk(file->classic).c_str());
    return error;
  }
  const std::string place = comm.broadcast(comm.is_root() ? place_to_compress(*file) : "");
  if (place.empty()) return error;
  check_mpi(MPI_Bcast(&file->compression, sizeof file->compression, MPI_BYTE, 0, comm.get()),
            "MPI_Bcast");
  const Result result = convert(*file, place, nullptr, file->compression);
  if (result == Result::done && comm.is_root()) {
    ::chmod(place.c_str(), file->held.permissions());
    report(*file, place);
  }
  return error == NC_NOERR && result == Result::failed ? NC_EWRITE : error;
}

const std::string* name_for_program(int ncid) {
  if (pnetcdf::inside_native()) return nullptr;
  const std::lock_guard lock(files().mutex);
  const auto found = files().by_id.find(ncid);
  const bool is_other = found != files().by_id.end() && !found->second->classic.empty();
  return is_other ? &found->second->name : nullptr;
}

}  // namespace slabmark::dropin
