// Files. A file that is created through this connector with the MPI-IO or the POSIX driver is a log
// file, or an ordinary one in the canonical layout; any other passes through as it is.
#include "storage/mpiio/file.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "accel/hdf5_connector/connector/forward.hpp"
#include "accel/hdf5_connector/journal/appends.hpp"
#include "accel/hdf5_connector/journal/driver.hpp"
#include "accel/hdf5_connector/journal/format.hpp"
#include "accel/hdf5_connector/journal/rollback.hpp"
#include "storage/hdf5/placeholder.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/mpiio/romio_hints.hpp"

namespace slabmark::slablog {

namespace {

/// What opening a file needs to know until HDF5 says that it is open (POST_OPEN); before that,
/// nothing may be made in it.
struct Opening {
  std::string path;
  Ranks ranks;
  Config config;
  bool created = false;
  std::shared_ptr<Journal> journal;                ///< null if it is only read, or canonical
  std::optional<WantedBuffers> canonical_buffers;  ///< it may be written so
  std::shared_ptr<hdf5::DeferredError> deferred;   ///< of a parallel one
  CanonicalFile::Hints hints;
  H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
  bool swmr_write = false;
};

std::map<void*, Opening>& openings() {
  static auto& all = *new std::map<void*, Opening>;
  return all;
}

struct Below {
  hid_t connector = H5VL_NATIVE;
  hdf5::Handle access;
  Ranks ranks;
  Config config;
  bool may_hold_log = false;
  std::shared_ptr<Journal> journal;
  std::optional<WantedBuffers> canonical_buffers;
  std::shared_ptr<hdf5::DeferredError> deferred;
  CanonicalFile::Hints hints;
  H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
  bool swmr_write = false;
};

Below below(hid_t access) {
  KeptErrors errors;
  errors.keep();
  Below result;
  void* found = nullptr;
  if (H5Pget_vol_info(access, &found) >= 0 && found != nullptr) {
    result.config = static_cast<Info*>(found)->config;
    hid_t connector = H5I_INVALID_HID;
    H5Pget_vol_id(access, &connector);
    H5VLfree_connector_info(connector, found);
    H5VLclose(connector);
  } else {
    result.config = parse_config("");
  }
  result.access = hdf5::own(H5Pcopy(access), H5Pclose, "H5Pcopy", "the access list");
  hdf5::check(H5Pset_vol(result.access.get(), result.connector, nullptr), "H5Pset_vol",
              "the access list");
  return result;
}

bool is_parallel(hid_t access) { return H5Pget_driver(access) == H5FD_MPIO; }

bool may_hold_log(hid_t access) {
  return is_parallel(access) || H5Pget_driver(access) == H5FD_SEC2;
}

/// As HDF5 takes it.
H5F_close_degree_t close_degree(hid_t access) {
  H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
  hdf5::check(H5Pget_fclose_degree(access, &degree), "H5Pget_fclose_degree", "the access list");
  if (degree != H5F_CLOSE_DEFAULT) return degree;
  return is_parallel(access) ? H5F_CLOSE_SEMI : H5F_CLOSE_WEAK;
}

/// All who open a file, and the hints that the program gives MPI-IO.
struct Openers {
  Ranks ranks;
  CanonicalFile::Hints hints;
};

/// Nothing where the list does not say who: HDF5 has begun MPI itself then (HDF5_DRIVER=mpio).
std::optional<Openers> openers_of(hid_t access, const std::string& path) {
  if (!is_parallel(access)) return Openers{Ranks(), {}};
  close_all_before_mpi_ends();
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  hdf5::check(H5Pget_fapl_mpio(access, &comm, &info), "H5Pget_fapl_mpio", path);
  Openers openers;
  if (comm != MPI_COMM_NULL) openers.ranks = Ranks(Comm::taking_over(comm));
  if (info != MPI_INFO_NULL) {
    openers.hints = mpiio::entries_of(info);
    MPI_Info_free(&info);
  }
  if (comm == MPI_COMM_NULL) return std::nullopt;
  return openers;
}

/// What HDF5 writes of its metadata are many small pieces, between which lies what the ranks have
/// written. ROMIO would read all of that and write it again, unless the program's hints say so.
void write_only_pieces(hid_t access, const std::string& path) {
  constexpr const char* property = "mpi_params_info";  // H5Pset_fapl_mpio would wait for all ranks
  constexpr const char* hint = "romio_ds_write";
  if (!mpiio::romio_hears_hints_of_opening()) return;  // it would but hide the user's file of hints
  MPI_Info info = MPI_INFO_NULL;
  hdf5::check(H5Pget(access, property, &info), "H5Pget", path);
  if (info == MPI_INFO_NULL) check_mpi(MPI_Info_create(&info), "MPI_Info_create");
  herr_t status = 0;
  if (!mpiio::entries_of(info).contains(hint)) {
    check_mpi(MPI_Info_set(info, hint, "disable"), "MPI_Info_set");
    status = H5Pset(access, property, &info);
  }
  MPI_Info_free(&info);
  hdf5::check(status, "H5Pset", path);
}

/// The file stays the same when the process changes its folder.
std::string whole_path(const char* name) { return std::filesystem::absolute(name).string(); }

/// The program's hints, and what MPI-IO says of the stripes of an open file.
CanonicalFile::Hints with_stripes(CanonicalFile::Hints hints, const Object& file,
                                  const std::string& path) {
  void* handle = nullptr;
  H5VL_native_file_optional_args_t native;
  native.get_vfd_handle = {H5P_FILE_ACCESS_DEFAULT, &handle};
  H5VL_optional_args_t args{H5VL_NATIVE_FILE_GET_VFD_HANDLE, &native};
  hdf5::check(
      H5VLfile_optional(file.under, file.connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
      "H5Fget_vfd_handle", path);
  const auto in_effect = mpiio::hints_of(*static_cast<MPI_File*>(handle), path);
  for (const char* name : {"striping_factor", "striping_unit"}) {
    if (const auto found = in_effect.find(name); found != in_effect.end()) hints.insert(*found);
  }
  return hints;
}

struct Formats {
  H5F_libver_t low = H5F_LIBVER_EARLIEST;
  H5F_libver_t high = H5F_LIBVER_LATEST;
};

Formats formats(hid_t access) {
  Formats found;
  hdf5::check(H5Pget_libver_bounds(access, &found.low, &found.high), "H5Pget_libver_bounds",
              "the access list");
  return found;
}

/// Virtual datasets came with HDF5 1.10.
bool allows_log(hid_t access) { return formats(access).high >= H5F_LIBVER_V110; }

/// HDF5's own data has checksums from the format of 1.8 on. No HDF5 that reads a log needs an older
/// one. (Where the program allows no format of 1.10, the file is of a later one already.)
Formats of_log(const Formats& wanted) {
  const auto low = std::max(wanted.low, H5F_LIBVER_V18);
  return {low, std::max({low, wanted.high, H5F_LIBVER_V110})};
}

void set_formats(hid_t access) {
  const auto [low, high] = of_log(formats(access));
  hdf5::check(H5Pset_libver_bounds(access, low, high), "H5Pset_libver_bounds", "the access list");
}

/// Why a new file cannot have a log; empty: it can.
std::string why_no_log(unsigned flags, hid_t creation, hid_t access) {
  if ((flags & H5F_ACC_SWMR_WRITE) != 0) {
    return "since nobody can read that while it is written, as H5F_ACC_SWMR_WRITE promises";
  }
  if (!allows_log(access)) {
    return "which needs the format of HDF5 1.10, but H5Pset_libver_bounds allows no more than that "
           "of "
           "1.8";
  }
  std::size_t address = 0;
  std::size_t size = 0;
  hdf5::check(H5Pget_sizes(creation, &address, &size), "H5Pget_sizes", "the creation list");
  if (size > 8) {
    return "since HDF5 cannot read virtual datasets where H5Pset_sizes makes lengths longer than 8 "
           "bytes";
  }
  return {};
}

void warn_of_no_log(hid_t access, const char* name, const std::string& why) {
  const auto openers = openers_of(access, name);
  if (openers && !openers->ranks.is_root()) return;
  fmt::print(stderr, "slablog: warning: '{}' is made without a log, {}.\n", name, why);
}

/// Whether HDF5 keeps elements of a file to itself, which would not see what goes past it.
bool keeps_elements(unsigned flags, hid_t access) {
  std::size_t buffer = 0;
  unsigned metadata = 0;
  unsigned elements = 0;
  hdf5::check(H5Pget_page_buffer_size(access, &buffer, &metadata, &elements),
              "H5Pget_page_buffer_size", "the access list");
  return buffer > 0 || (flags & (H5F_ACC_SWMR_WRITE | H5F_ACC_SWMR_READ)) != 0;
}

/// The same for a file that is to be written in the canonical layout. HDF5's sieve buffer would
/// hold elements, too, that change in the file without it.
void prepare_canonical(Below& low, const char* name, Opener opener) {
  // Readers have that driver, too: HDF5 takes files of different drivers for different files.
  const bool parallel = is_parallel(low.access.get());
  if (parallel) hdf5::leave_out_placeholders(low.access.get());
  if (opener == Opener::reader) return;
  if (parallel) low.deferred = hdf5::DeferredError::of(name);
  WantedBuffers wanted;
  int unused = 0;
  hdf5::check(H5Pget_sieve_buf_size(low.access.get(), &wanted.sieve_bytes), "H5Pget_sieve_buf_size",
              "the access list");
  hdf5::check(H5Pget_cache(low.access.get(), &unused, &wanted.chunk_slots, &wanted.chunk_bytes,
                           &wanted.preemption),
              "H5Pget_cache", "the access list");
  hdf5::check(H5Pset_sieve_buf_size(low.access.get(), 0), "H5Pset_sieve_buf_size",
              "the access list");
  low.canonical_buffers = wanted;
}

/// HDF5 does not recognise a file that it has open through MPI-IO, and would have it open twice.
void refuse_second_opening(const char* name) {
  if (!Journal::is_kept_here(name)) return;
  throw IoError(fmt::format(
      "'{}' has a log, and is open for writing in this program already; use that, or H5Freopen.",
      name));
}

/// Makes ready what is to be known of a file, and done to it, before it is opened.
void prepare(Below& low, hid_t access, const char* name, Opener opener) {
  if (!may_hold_log(access)) return;
  auto openers = openers_of(access, name);
  if (!openers) return;
  low.may_hold_log = true;
  low.degree = close_degree(access);
  low.ranks = std::move(openers->ranks);
  low.hints = std::move(openers->hints);
  // Before any rank opens the file, rank 0 undoes what a writer left undone.
  bool left = false;
  low.ranks.agreed([&] {
    if (opener != Opener::reader && is_parallel(access)) refuse_second_opening(name);
    if (low.ranks.is_root()) left = roll_back(name, opener);
  });
  left = low.ranks.any(left);
  // Else HDF5 would take the writer that has ended for one that still writes.
  if (left) {
    hdf5::check(H5Pset(low.access.get(), "clear_status_flags", &left), "H5Pset", name);
  }
  if (is_parallel(low.access.get())) write_only_pieces(low.access.get(), name);
  if (low.config.layout == Layout::canonical) {
    return prepare_canonical(low, name, opener);
  }
  // Readers have that driver, too: HDF5 takes files of different drivers for different files.
  if (opener == Opener::reader) {
    keep_journal(low.access.get(), nullptr);
    return;
  }
  require_appends(low.ranks, whole_path(name));
  set_formats(low.access.get());
  low.journal = Journal::of(whole_path(name), low.ranks.rank());
  keep_journal(low.access.get(), low.journal.get());
}

void* opened(void* under, Below& low, const char* name, bool created) {
  if (under == nullptr) return nullptr;
  auto* object = new Object(under, low.connector, H5I_FILE, nullptr);
  if (low.may_hold_log) {
    openings()[object] = {whole_path(name), std::move(low.ranks),  low.config,   created,
                          low.journal,      low.canonical_buffers, low.deferred, low.hints,
                          low.degree,       low.swmr_write};
  }
  return object;
}

void* create(const char* name, unsigned flags, hid_t creation, hid_t access, hid_t list, void**) {
  return guarded("file create", [&] {
    KeptErrors errors;
    auto low = below(access);
    const bool log = low.config.layout == Layout::log;
    const auto why = log && may_hold_log(access) ? why_no_log(flags, creation, access) : "";
    if (!why.empty()) {
      warn_of_no_log(access, name, why);
    } else if (log || !keeps_elements(flags, access)) {
      prepare(low, access, name, Opener::maker);
    }
    auto* under = H5VLfile_create(name, flags, creation, low.access.get(), list, nullptr);
    if (under == nullptr) errors.keep();
    return opened(under, low, name, true);
  });
}

void* open(const char* name, unsigned flags, hid_t access, hid_t list, void**) {
  return guarded("file open", [&] {
    KeptErrors errors;
    auto low = below(access);
    low.swmr_write = (flags & H5F_ACC_SWMR_WRITE) != 0;
    const bool log = low.config.layout == Layout::log;
    if (log || !keeps_elements(flags, access))
      prepare(low, access, name, (flags & H5F_ACC_RDWR) != 0 ? Opener::writer : Opener::reader);
    auto* under = H5VLfile_open(name, flags, low.access.get(), list, nullptr);
    if (under == nullptr) errors.keep();
    return opened(under, low, name, false);
  });
}

void warn_of_unclosed(const LogFile& log) {
  if (log.state() == LogState::closed || !log.is_root()) return;
  fmt::print(stderr,
             "slablog: warning: '{}' was {}; programs without the connector do not see all of its "
             "data until slablog-repair has run.\n",
             log.path(),
             log.state() == LogState::open ? "not closed by its writer" : "closed without a view");
}

/// HDF5 takes a file that it has open through MPI-IO for another one when it is opened again. So
/// what these ranks write through either must be in the file for the other. Collective. Returns
/// whether it is open already.
bool show_to_second_opening(const Opening& opening) {
  bool found = false;
  std::error_code none;
  for (const auto& [number, open] : open_logs()) {
    const auto log = open.lock();
    if (!log || !log->canonical || log->objects.empty()) continue;
    if (!log->file->is_open_by(opening.ranks)) continue;
    if (!std::filesystem::equivalent(log->file->path(), opening.path, none)) continue;
    log->canonical->become_strict(log->location());
    found = true;
  }
  return found;
}

void start_canonical(Object& object, Opening& opening, unsigned long number) {
  const Location file{object.under, H5I_FILE, object.connector};
  if (!opening.created && link_exists(file, log_group)) {
    throw Refusal(H5E_FILE, H5E_UNSUPPORTED,
                  fmt::format("'{}' has a log, which layout=canonical does not write; open it with "
                              "layout=log, or make an ordinary file of it with slablog-canonical",
                              opening.path));
  }
  const auto hints = opening.ranks.comm() == nullptr
                         ? CanonicalFile::Hints()
                         : with_stripes(opening.hints, object, opening.path);
  const auto log = std::make_shared<OpenLog>(
      std::make_unique<CanonicalFile>(opening.path, std::move(opening.ranks), opening.config, hints,
                                      left_out_of_chunk_addresses(object.under, object.connector),
                                      opening.deferred),
      *opening.canonical_buffers);
  log->degree = opening.degree;
  open_logs()[number] = log;
  object.join(log);
}

Refusal no_swmr(const std::string& path) {
  return {H5E_FILE, H5E_UNSUPPORTED,
          fmt::format("'{}' has a log, which nobody can read while it is written; write it without "
                      "SWMR, or make an ordinary file of it with slablog-canonical",
                      path)};
}

void start_log(Object& object) {
  const auto found = openings().extract(&object);
  if (found.empty()) return;
  auto& opening = found.mapped();
  const auto number = file_number(object.under, H5I_FILE, object.connector);
  if (auto known = open_logs()[number].lock()) {
    object.join(known);
    return;
  }
  const Location file{object.under, H5I_FILE, object.connector};
  std::erase_if(open_logs(), [](const auto& one) { return one.second.expired(); });
  if (show_to_second_opening(opening)) opening.config.visibility = Visibility::strict;
  if (opening.canonical_buffers) return start_canonical(object, opening, number);
  if (opening.config.layout == Layout::log && opening.created) {
    create_log_group(file);
  } else if (!link_exists(file, log_group)) {
    return;
  }
  if (opening.swmr_write) throw no_swmr(opening.path);
  if (opening.journal) take_journal(opening.journal);
  auto log = std::make_shared<OpenLog>(std::make_unique<LogFile>(
      opening.path, std::move(opening.ranks), opening.config, opening.journal));
  log->degree = opening.degree;
  open_logs()[number] = log;
  object.join(log);
  if (opening.created) {
    log->log->create(log->location());
  } else {
    log->log->load(log->location());
    warn_of_unclosed(*log->log);
  }
}

/// HDF5 forgets a file that could not be made ready here, and would keep it open.
void start_opened(Object& object, hid_t list) {
  try {
    start_log(object);
  } catch (...) {
    if (object.log) object.log->close_group();
    object.leave_log();
    H5VLfile_close(std::exchange(object.under, nullptr), object.connector, list, nullptr);
    throw;
  }
}

herr_t get(void* object, H5VL_file_get_args_t* args, hid_t list, void**) {
  return guarded("file get", [&] {
    const auto& mine = as_object(object);
    const auto status = H5VLfile_get(mine.under, mine.connector, args, list, nullptr);
    if (status >= 0 && args->op_type == H5VL_FILE_GET_FAPL) {
      forget_journal(args->args.get_fapl.fapl_id);
      hdf5::forget_placeholders(args->args.get_fapl.fapl_id);
      if (mine.log && mine.log->canonical) {
        H5Pset_sieve_buf_size(args->args.get_fapl.fapl_id, mine.log->wanted.sieve_bytes);
      }
    }
    return status;
  });
}

herr_t reopen(Object& mine, H5VL_file_specific_args_t* args, hid_t list) {
  const auto status = H5VLfile_specific(mine.under, mine.connector, args, list, nullptr);
  if (status >= 0) *args->args.reopen.file = wrapped(*args->args.reopen.file, mine, H5I_FILE);
  return status;
}

herr_t flush(const Object& mine, H5VL_file_specific_args_t* args, hid_t list) {
  auto logs = mounted_together(mine.log);
  if (args->args.flush.scope == H5F_SCOPE_LOCAL && mine.log) logs = {mine.log};
  for (const auto& log : logs) log->attempt(&DataFile::flush);
  const auto status = H5VLfile_specific(mine.under, mine.connector, args, list, nullptr);
  for (const auto& log : logs) log->file->after_flush(status >= 0);
  return status;
}

herr_t file_specific(void* object, H5VL_file_specific_args_t* args, hid_t list, void**) {
  return guarded("file specific", [&] {
    auto below_args = *args;
    if (args->op_type == H5VL_FILE_IS_ACCESSIBLE) {
      KeptErrors errors;
      const auto low = below(args->args.is_accessible.fapl_id);
      below_args.args.is_accessible.fapl_id = low.access.get();
      const auto status = H5VLfile_specific(nullptr, low.connector, &below_args, list, nullptr);
      errors.keep();
      return status;
    }
    if (args->op_type == H5VL_FILE_DELETE) {
      const auto low = below(args->args.del.fapl_id);
      below_args.args.del.fapl_id = low.access.get();
      const auto status = H5VLfile_specific(nullptr, low.connector, &below_args, list, nullptr);
      if (status >= 0) posix::unlink(journal_path(args->args.del.filename));
      return status;
    }
    auto& mine = as_object(object);
    if (args->op_type == H5VL_FILE_REOPEN) return reopen(mine, args, list);
    if (args->op_type == H5VL_FILE_FLUSH) return flush(mine, args, list);
    // (The second file of H5VL_FILE_IS_EQUAL comes as the native connector's object already.)
    return H5VLfile_specific(mine.under, mine.connector, args, list, nullptr);
  });
}

/// The log of a file stays, whatever format the program wants later.
herr_t set_formats_of_log(const Object& mine, const H5VL_optional_args_t& args, hid_t list) {
  auto native = *static_cast<const H5VL_native_file_optional_args_t*>(args.args);
  auto& bounds = native.set_libver_bounds;
  const auto [low, high] = of_log({bounds.low, bounds.high});
  bounds.low = low;
  bounds.high = high;
  H5VL_optional_args_t below{args.op_type, &native};
  return H5VLfile_optional(mine.under, mine.connector, &below, list, nullptr);
}

herr_t file_optional(void* object, H5VL_optional_args_t* args, hid_t list, void**) {
  return guarded("file optional", [&] {
    auto& mine = as_object(object);
    const bool has_log = mine.log && mine.log->log;
    if (args->op_type == H5VL_NATIVE_FILE_GET_FILE_IMAGE && has_log && mine.log->log->writable()) {
      throw Refusal(H5E_FILE, H5E_UNSUPPORTED,
                    "slablog makes what others see of a file when it is closed; close it, and take "
                    "the image of the file opened with H5F_ACC_RDONLY");
    }
    if (args->op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE && has_log) {
      throw no_swmr(mine.log->log->path());
    }
    if (args->op_type == H5VL_NATIVE_FILE_SET_LIBVER_BOUNDS && has_log) {
      return set_formats_of_log(mine, *args, list);
    }
    if (args->op_type != H5VL_NATIVE_FILE_POST_OPEN) {
      show_all(mine.log);
      return H5VLfile_optional(mine.under, mine.connector, args, list, nullptr);
    }
    const auto status = [&] {
      const OpeningFile opening;
      return H5VLfile_optional(mine.under, mine.connector, args, list, nullptr);
    }();
    if (status >= 0) start_opened(mine, list);
    return status;
  });
}

herr_t close(void* object, hid_t list, void**) {
  openings().erase(object);
  return close_object(object, H5VLfile_close, list);
}

}  // namespace

const H5VL_file_class_t file_callbacks = {create, open, get, file_specific, file_optional, close};

}  // namespace slabmark::slablog
