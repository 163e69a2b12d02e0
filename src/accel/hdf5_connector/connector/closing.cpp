#include "accel/hdf5_connector/connector/closing.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "accel/hdf5_connector/connector/forward.hpp"
#include "core/base/error.hpp"
#include "core/parallel/end_of_mpi.hpp"
#include "storage/hdf5/pass_through/wrap.hpp"

namespace slabmark::slablog {

namespace {

/// True if HDF5 is about to end, so that nothing can be tried again.
bool& ending() {
  static bool value = false;
  return value;
}

/// HDF5 has their files open still.
std::vector<std::shared_ptr<TrackedFile>>& files_without_objects() {
  static auto& all = *new std::vector<std::shared_ptr<TrackedFile>>;
  return all;
}

/// Gives up what is pending, as after a kill: better than a program that does not end.
void give_up(TrackedFile& tracked, const std::exception& error) {
  fmt::print(stderr, "slablog: warning: '{}' {}: {}\n", tracked.file->path(),
             tracked.file->abandon(), error.what());
}

/// Returns whether the file is ready to be closed. As the program ends, a file that failed before
/// is not tried again, since ranks may come here one by one.
bool prepare_close(TrackedFile& tracked, bool may_be_tried_again) {
  try {
    if (ending() && !tracked.failure.empty()) throw IoError(tracked.failure);
    tracked.attempt(&DataFile::prepare_close);
    return true;
  } catch (const std::exception& error) {
    if (may_be_tried_again) throw;
    give_up(tracked, error);
    return false;
  }
}

/// The ids that a program left open, what is in a file before it, and in one order on all ranks.
std::vector<hid_t> ids_left() {
  const auto everywhere = static_cast<hid_t>(H5F_OBJ_ALL);
  const auto most = H5Fget_obj_count(everywhere, H5F_OBJ_ALL);
  if (most <= 0) return {};
  std::vector<hid_t> ids(static_cast<std::size_t>(most));
  const auto count = H5Fget_obj_ids(everywhere, H5F_OBJ_ALL, ids.size(), ids.data());
  ids.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  std::set<const void*> ours;
  for (const auto* object : all_objects())
    ours.insert(pass_through::Wrapping<Connector>::get_object(object));
  H5E_BEGIN_TRY {  // a datatype that is not committed is no object
    std::erase_if(ids, [&](hid_t id) { return !ours.contains(H5VLobject(id)); });
  }
  H5E_END_TRY
  std::sort(ids.begin(), ids.end(), [](hid_t a, hid_t b) {
    return std::pair(H5Iget_type(a) == H5I_FILE, a) < std::pair(H5Iget_type(b) == H5I_FILE, b);
  });
  return ids;
}

/// Closes what a program left open, while HDF5 still does all that this needs.
void close_all() {
  if (all_objects().empty()) return;  // HDF5 may have ended: any call would start it again
  ending() = true;
  for (const auto id : ids_left()) {
    while (H5Iis_valid(id) > 0 && H5Idec_ref(id) > 0) {
    }
  }
  ending() = false;
}

H5F_close_degree_t close_degree(const Object& file) {
  if (file.tracked) return file.tracked->degree;
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_FAPL;
  H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
  herr_t status = -1;
  H5E_BEGIN_TRY {  // the subfiling driver may have no list to give
    status = H5VLfile_get(file.under, file.connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr);
  }
  H5E_END_TRY
  if (status < 0) return degree;
  const hdf5::Handle access(args.args.get_fapl.fapl_id, H5Pclose);
  H5Pget_fclose_degree(access.get(), &degree);
  return degree;
}

/// True if HDF5 refuses to close the file as long as there are objects open in it, and there are.
bool is_kept_by_objects(const Object& file) {
  if (close_degree(file) != H5F_CLOSE_SEMI) return false;
  std::size_t count = 0;
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_OBJ_COUNT;
  args.args.get_obj_count.types = H5F_OBJ_LOCAL | (H5F_OBJ_ALL & ~H5F_OBJ_FILE);
  args.args.get_obj_count.count = &count;
  return H5VLfile_get(file.under, file.connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr) >= 0 &&
         count > 0;
}

}  // namespace

herr_t close_object(void* object, herr_t (*close)(void*, hid_t, hid_t, void**), hid_t list) {
  return guarded("close", [&]() -> herr_t {
    auto& mine = as_object(object);
    if (mine.under == nullptr) {  // it could not be closed before, and HDF5 tries again as it ends
      if (!ending()) return -1;
      delete &mine;
      return 0;
    }
    const auto tracked = mine.tracked;
    // HDF5 keeps the id of a file that could not be closed, and removes that of a dataset; of the
    // others it keeps the id and frees what it stands for.
    const auto type = mine.type;
    const bool is_file = type == H5I_FILE;
    // HDF5 refuses to close a handle of a file while anything that was opened through it is open.
    const bool is_last = tracked && tracked->is_last(mine);
    const bool ends = is_last || (is_file && tracked && tracked->canonical);
    const bool well = !ends || prepare_close(*tracked, is_file && !ending());
    // The connector's own open objects must not keep a file open.
    if (tracked && (is_file || is_last)) tracked->close_group();
    const bool may_stay = is_file && is_kept_by_objects(mine);
    if (tracked && is_file) tracked->closing = true;
    const auto status = is_canonical(mine)
                            ? tracked->canonical->close(*mine.dataset, mine.under, list,
                                                        is_last || tracked->closing)
                            : close(mine.under, mine.connector, list, nullptr);
    if (tracked && is_file) tracked->closing = false;
    const bool stays = status < 0 && may_stay;
    if (!stays) {
      mine.under = nullptr;
      mine.leave_file();
    }
    if (tracked) end_without_objects(tracked);
    if (tracked && is_file && !tracked->objects.empty() &&
        !is_file_of_hdf5(tracked->any_object())) {
      tracked->open_group(tracked->any_object());
    }
    if (stays) return -1;
    end_closed_files(status >= 0);
    if (status < 0 && !ending()) return -1;
    delete &mine;
    return well || ending() || type != H5I_DATASET ? 0 : -1;
  });
}

void end_without_objects(const std::shared_ptr<TrackedFile>& tracked) {
  if (!tracked->objects.empty()) return;
  tracked->close_group();
  files_without_objects().push_back(tracked);
}

void end_closed_files(bool well) {
  std::vector<std::shared_ptr<TrackedFile>> ended;
  std::erase_if(files_without_objects(), [&](const std::shared_ptr<TrackedFile>& tracked) {
    if (!tracked->objects.empty()) return true;
    if (tracked->file->is_open_below()) return false;
    ended.push_back(tracked);
    return true;
  });
  std::exception_ptr failure;
  for (const auto& tracked : ended) {
    try {
      tracked->file->after_close(well);
    } catch (const std::exception& error) {
      failure = std::current_exception();
      if (ending()) give_up(*tracked, error);
    }
  }
  if (failure && !ending()) std::rethrow_exception(failure);
}

// HDF5 ends when MPI does, when the process does, or when a program says so. The first two come
// here before they come to HDF5, which is needed: while it ends, HDF5 2.2.0 silently skips those of
// its parts that were not in use before. MPI makes the calls that were asked for last first.
void close_all_at_exit() {
  ending() = false;
  H5atclose([](void*) { close_all(); }, nullptr);
  static const int registered = std::atexit(close_all);
  static_cast<void>(registered);
  close_all_before_mpi_ends();
}

void close_all_before_mpi_ends() {
  static bool done = false;
  if (done) return;
  int has_begun = 0;
  int has_ended = 0;
  MPI_Initialized(&has_begun);
  MPI_Finalized(&has_ended);
  if (has_begun == 0 || has_ended != 0) return;
  done = true;
  at_end_of_mpi([] {
    close_all();
    CollectiveWriter::forget_all();
  });
}

void or_close(Object& dataset, const std::function<void()>& act) {
  try {
    act();
  } catch (...) {
    close_object(&dataset, H5VLdataset_close, H5P_DATASET_XFER_DEFAULT);
    throw;
  }
}

}  // namespace slabmark::slablog
