// Files. A file that is created through this connector with the MPI-IO or the POSIX driver is a log
// file, or an ordinary one in the canonical layout; any other passes through as it is.
#include "storage/mpiio/file.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "accel/hdf5_connector/connector/forward.hpp"
#include "accel/hdf5_connector/connector/opening.hpp"
#include "accel/hdf5_connector/journal/driver.hpp"
#include "accel/hdf5_connector/journal/format.hpp"
#include "storage/hdf5/placeholder.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark::slablog {

namespace {

std::map<void*, Opening>& openings() {
  static auto& all = *new std::map<void*, Opening>;
  return all;
}

/// How the file is written: by the program's hints, and what MPI-IO says of the open file's.
collective::Settings settings_of(const Opening& opening, const Object& file) {
  void* handle = nullptr;
  H5VL_native_file_optional_args_t native;
  native.get_vfd_handle = {H5P_FILE_ACCESS_DEFAULT, &handle};
  H5VL_optional_args_t args{H5VL_NATIVE_FILE_GET_VFD_HANDLE, &native};
  hdf5::check(
      H5VLfile_optional(file.under, file.connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
      "H5Fget_vfd_handle", opening.path);
  return {{},
          opening.hints,
          mpiio::hints_of(*static_cast<MPI_File*>(handle), opening.path),
          opening.path};
}

void* opened(void* under, Opening& opening) {
  if (under == nullptr) return nullptr;
  auto* object = new Object(under, H5VL_NATIVE, H5I_FILE, nullptr);
  opening.access = {};
  if (opening.may_hold_log) openings().insert_or_assign(object, std::move(opening));
  return object;
}

void* create(const char* name, unsigned flags, hid_t creation, hid_t access, hid_t list, void**) {
  return guarded("file create", [&] {
    KeptErrors errors;
    Opening opening(access);
    prepare_create(opening, access, name, flags, creation);
    auto* under = H5VLfile_create(name, flags, creation, opening.access.get(), list, nullptr);
    if (under == nullptr) errors.keep();
    return opened(under, opening);
  });
}

void* open(const char* name, unsigned flags, hid_t access, hid_t list, void**) {
  return guarded("file open", [&] {
    KeptErrors errors;
    Opening opening(access);
    prepare_open(opening, access, name, flags);
    auto* under = H5VLfile_open(name, flags, opening.access.get(), list, nullptr);
    if (under == nullptr) errors.keep();
    return opened(under, opening);
  });
}

void warn_of_unclosed(const LogFile& log) {
  if (log.state() == LogState::closed || !log.is_root()) return;
  fmt::print(stderr,
             "slablog: warning: '{}' was {}; programs without the connector do not see all of its "
             "data until 'slabmark log repair' has run.\n",
             log.path(),
             log.state() == LogState::open ? "not closed by its writer" : "closed without a view");
}

/// HDF5 takes a file that it has open through MPI-IO for another one when it is opened again. So
/// what these ranks write through either must be in the file for the other. Collective. Returns
/// whether it is open already.
bool show_to_second_opening(const Opening& opening) {
  bool found = false;
  std::error_code none;
  for (const auto& [number, open] : tracked_files()) {
    const auto tracked = open.lock();
    if (!tracked || !tracked->canonical || tracked->objects.empty()) continue;
    if (!tracked->file->is_open_by(opening.ranks)) continue;
    if (!std::filesystem::equivalent(tracked->file->path(), opening.path, none)) continue;
    tracked->canonical->become_strict(tracked->location());
    found = true;
  }
  return found;
}

void start_canonical(Object& object, Opening& opening, unsigned long number) {
  const Location file{object.under, H5I_FILE, object.connector};
  if (!opening.created && link_exists(file, log_group)) {
    throw Refusal(
        H5E_FILE, H5E_UNSUPPORTED,
        fmt::format("'{}' has a log, which layout=canonical does not write; open it with "
                    "layout=log, or make an ordinary file of it with 'slabmark log canonical'",
                    opening.path));
  }
  const auto settings =
      opening.ranks.comm() == nullptr ? collective::Settings() : settings_of(opening, object);
  const auto tracked = std::make_shared<TrackedFile>(
      std::make_unique<CanonicalFile>(opening.path, std::move(opening.ranks), opening.config,
                                      settings,
                                      left_out_of_chunk_addresses(object.under, object.connector),
                                      opening.deferred, !opening.only_reads),
      *opening.canonical_buffers);
  tracked->degree = opening.degree;
  tracked_files()[number] = tracked;
  object.join(tracked);
}

Refusal no_swmr(const std::string& path) {
  return {H5E_FILE, H5E_UNSUPPORTED,
          fmt::format("'{}' has a log, which nobody can read while it is written; write it without "
                      "SWMR, or make an ordinary file of it with 'slabmark log canonical'",
                      path)};
}

void start_log(Object& object) {
  const auto found = openings().extract(&object);
  if (found.empty()) return;
  auto& opening = found.mapped();
  const auto number = file_number(object.under, H5I_FILE, object.connector);
  if (auto known = tracked_files()[number].lock()) {
    object.join(known);
    return;
  }
  const Location file{object.under, H5I_FILE, object.connector};
  std::erase_if(tracked_files(), [](const auto& one) { return one.second.expired(); });
  if (show_to_second_opening(opening)) opening.config.visibility = Visibility::strict;
  if (opening.canonical_buffers && !(opening.only_reads && link_exists(file, log_group))) {
    return start_canonical(object, opening, number);
  }
  if (opening.config.layout == Layout::log && opening.created) {
    create_log_group(file);
  } else if (!link_exists(file, log_group)) {
    return;
  }
  if (opening.swmr_write) throw no_swmr(opening.path);
  if (opening.journal) take_journal(opening.journal);
  auto tracked = std::make_shared<TrackedFile>(std::make_unique<LogFile>(
      opening.path, std::move(opening.ranks), opening.config, opening.journal));
  tracked->degree = opening.degree;
  tracked_files()[number] = tracked;
  object.join(tracked);
  if (opening.created) {
    tracked->log->create(tracked->location());
  } else {
    tracked->log->load(tracked->location());
    warn_of_unclosed(*tracked->log);
  }
}

/// HDF5 forgets a file that could not be made ready here, and would keep it open.
void start_opened(Object& object, hid_t list) {
  try {
    start_log(object);
  } catch (...) {
    if (object.tracked) object.tracked->close_group();
    object.leave_file();
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
      if (mine.tracked && mine.tracked->canonical) {
        H5Pset_sieve_buf_size(args->args.get_fapl.fapl_id, mine.tracked->wanted.sieve_bytes);
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
  auto files = mounted_together(mine.tracked);
  if (args->args.flush.scope == H5F_SCOPE_LOCAL && mine.tracked) files = {mine.tracked};
  for (const auto& tracked : files) tracked->attempt(&DataFile::flush);
  const auto status = H5VLfile_specific(mine.under, mine.connector, args, list, nullptr);
  for (const auto& tracked : files) tracked->file->after_flush(status >= 0);
  return status;
}

herr_t file_specific(void* object, H5VL_file_specific_args_t* args, hid_t list, void**) {
  return guarded("file specific", [&] {
    auto below_args = *args;
    if (args->op_type == H5VL_FILE_IS_ACCESSIBLE) {
      KeptErrors errors;
      const Opening opening(args->args.is_accessible.fapl_id);
      below_args.args.is_accessible.fapl_id = opening.access.get();
      const auto status = H5VLfile_specific(nullptr, H5VL_NATIVE, &below_args, list, nullptr);
      errors.keep();
      return status;
    }
    if (args->op_type == H5VL_FILE_DELETE) {
      const Opening opening(args->args.del.fapl_id);
      below_args.args.del.fapl_id = opening.access.get();
      const auto status = H5VLfile_specific(nullptr, H5VL_NATIVE, &below_args, list, nullptr);
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
    const bool has_log = mine.tracked && mine.tracked->log;
    if (args->op_type == H5VL_NATIVE_FILE_GET_FILE_IMAGE && has_log &&
        mine.tracked->log->writable()) {
      throw Refusal(H5E_FILE, H5E_UNSUPPORTED,
                    "slablog makes what others see of a file when it is closed; close it, and take "
                    "the image of the file opened with H5F_ACC_RDONLY");
    }
    if (args->op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE && has_log) {
      throw no_swmr(mine.tracked->log->path());
    }
    if (args->op_type == H5VL_NATIVE_FILE_SET_LIBVER_BOUNDS && has_log) {
      return set_formats_of_log(mine, *args, list);
    }
    if (args->op_type != H5VL_NATIVE_FILE_POST_OPEN) {
      show_all(mine.tracked);
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
