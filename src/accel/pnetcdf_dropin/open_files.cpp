#include "accel/pnetcdf_dropin/open_files.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

#include "accel/pnetcdf_dropin/environment.hpp"
#include "accel/pnetcdf_dropin/netcdf_file.hpp"
#include "collective/overlap.hpp"
#include "collective/pending_writes.hpp"
#include "collective/settings.hpp"
#include "core/base/has_memory.hpp"
#include "core/parallel/end_of_mpi.hpp"
#include "storage/mpiio/file_name.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/pnetcdf/calls/native.hpp"

namespace slabmark::dropin {

namespace {

// Memory for a file before its first request, with room to spare.
constexpr std::uint64_t bytes_of_file = 64u << 10;

struct Files {
  std::mutex mutex;  // threads may each have files of their own
  std::unordered_map<int, std::unique_ptr<NetcdfFile>> by_id;
  std::unordered_map<int, collective::FileUse> uses;  ///< by id, with overlap: also of other files
};

Files& files() {
  static auto& all = *new Files;
  return all;
}

/// All groups of ranks. They are destroyed in MPI_Finalize and nowhere else, since MPI can free
/// nothing later.
RankGroupPool& groups() {
  static auto& all = *new RankGroupPool;
  static std::once_flag is_cleared_at_end;
  std::call_once(is_cleared_at_end, [] {
    at_end_of_mpi([] {
      files().by_id.clear();
      all.clear();
    });
  });
  return all;
}

/// A file that PnetCDF has opened, as far as this rank can tell.
struct NativeFile {
  bool is_taken = false;  ///< by this rank, for one
  std::map<std::string, std::string> hints, in_effect;

  NativeFile() = default;
  NativeFile(MPI_Info info, int mode, int error, const int* ncid) {
    if (info != MPI_INFO_NULL) hints = mpiio::entries_of(info);
    // With NC_SHARE PnetCDF has the disk store each call.
    if (error != NC_NOERR || (mode & NC_SHARE) || is_off(hints["slabmark"])) return;
    const char* const value = std::getenv("SLABMARK_DROPIN");
    if (value && is_off(value)) return;
    int format = 0;
    if (SLABMARK_NATIVE(ncmpi_inq_format)(*ncid, &format) != NC_NOERR) return;
    is_taken = format == NC_FORMAT_CLASSIC || format == NC_FORMAT_CDF2 || format == NC_FORMAT_CDF5;
    MPI_Info used = MPI_INFO_NULL;
    if (!is_taken || SLABMARK_NATIVE(ncmpi_inq_file_info)(*ncid, &used) != NC_NOERR) return;
    in_effect = mpiio::entries_of(used);
    MPI_Info_free(&used);
    is_taken =
        in_effect["nc_burst_buf"] != "enable" && number_in(in_effect["nc_num_subfiles"], 0) < 2;
  }
};

/// Data that are pending in a file must not be missed by whoever has it open a second time.
void note_use(int ncid, const char* path) {
  collective::FileUse use(identity_of(path));
  const std::lock_guard lock(files().mutex);
  files().uses[ncid] = std::move(use);
}

void say_once(const std::string& sentence) {
  static std::once_flag is_said;
  std::call_once(is_said, [&] { std::fprintf(stderr, "slabmark: %s\n", sentence.c_str()); });
}

}  // namespace

bool is_known_to_mpi(MPI_Comm comm) {
  int is_on = 0, between_groups = 1;
  MPI_Initialized(&is_on);
  return is_on && comm != MPI_COMM_NULL &&
         MPI_Comm_test_inter(comm, &between_groups) == MPI_SUCCESS && !between_groups;
}

NetcdfFile* open_file(int ncid) {
  if (pnetcdf::inside_native()) return nullptr;
  const std::lock_guard lock(files().mutex);
  const auto found = files().by_id.find(ncid);
  return found == files().by_id.end() ? nullptr : found->second.get();
}

void opening(const char* path) try {
  DataFile::make_room();
  if (collective::overlap_of_environment().is_on) collective::wait_for_writes_to(path);
} catch (const std::bad_alloc&) {  // PnetCDF itself fails, or opened() leaves the file to it
}

void forget(int ncid) {
  std::unique_ptr<NetcdfFile> file;
  {
    const std::lock_guard lock(files().mutex);
    files().uses.erase(ncid);
    if (auto its = files().by_id.extract(ncid)) file = std::move(its.mapped());
  }
  if (!file) return;
  auto group = file->shared_group();
  file.reset();  // others go on meanwhile
  groups().leave(std::move(group));
}

void opened(MPI_Comm comm, const char* name, const char* path, MPI_Info info, int mode,
            bool created, int error, const int* ncid) {
  if (!is_known_to_mpi(comm)) return;
  auto group = groups().of(comm);
  // Ranks that disagree would wait for each other for ever, and the file system may look different
  // to them: the least of each number counts.
  struct {
    std::uint64_t is_taken = 0, is_reported = 0, is_kept = 0, is_overlapped = 0;
    collective::Settings::Proposal settings = {};
  } agreed;
  NativeFile here;
  collective::Settings settings;
  collective::Overlap overlap;
  try {
    overlap = collective::overlap_of_environment();
    if (overlap.is_on && error == NC_NOERR) {
      note_use(*ncid, path);
      if (const auto refusal = collective::overlap_refusal(path); !refusal.empty()) {
        overlap.is_on = false;
        if (group->comm().is_root()) say_once(refusal);
      }
    }
    here = NativeFile(info, mode, error, ncid);
    if (here.is_taken) {
      collective::Options options;
      options.node_ranks = number_of_variable("SLABMARK_DROPIN_NODE_RANKS", 0);
      settings = collective::Settings(options, here.hints, here.in_effect, path);
    }
    agreed = {here.is_taken && has_memory_for(bytes_of_file), is_set("SLABMARK_REPORT"),
              groups().may_keep(*group), overlap.is_on, settings.proposal()};
  } catch (const std::bad_alloc&) {  // not taken
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &agreed, sizeof agreed / sizeof(std::uint64_t),
                          MPI_UINT64_T, MPI_MIN, group->comm().get()),
            "MPI_Allreduce");
  groups().keep(*group, agreed.is_kept != 0);
  if (!agreed.is_taken) {
    groups().leave(std::move(group));
    return;
  }
  settings.settle(agreed.settings);
  overlap.is_on = agreed.is_overlapped != 0;
  RearrangerSettings exchange = settings.exchange();
  if (overlap.is_on) exchange.writers = 0;  // they copy, which needs no turns
  const std::string place = mpiio::absolute(path);
  const bool writable = created || (mode & NC_WRITE);
  auto file = std::make_unique<NetcdfFile>(
      std::move(group), NetcdfFile::Opening{*ncid,
                                            name,
                                            {path, place, identity_of(place), writable,
                                             collective::usable_hints(info)},
                                            created,
                                            agreed.is_reported != 0,
                                            exchange,
                                            settings.alignment().value,
                                            copy_policy(here.in_effect),
                                            overlap});
  const std::lock_guard lock(files().mutex);
  files().by_id[*ncid] = std::move(file);
}

}  // namespace slabmark::dropin
