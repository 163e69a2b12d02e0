#include "accel/hdf5_connector/connector/object.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "accel/hdf5_connector/connector/virtual_dataset.hpp"
#include "accel/hdf5_connector/journal/driver.hpp"
#include "accel/hdf5_connector/log/find_datasets.hpp"
#include "core/base/error.hpp"
#include "core/parallel/end_of_mpi.hpp"
#include "storage/hdf5/filter_pipeline.hpp"

namespace slabmark::slablog {

namespace {

/// Whether HDF5 is about to end, so that nothing can be tried again.
bool& ending() {
  static bool value = false;
  return value;
}

// What follows is never destroyed: HDF5 calls the connector also after static objects have ended.

std::set<Object*>& all_objects() {
  static auto& all = *new std::set<Object*>;
  return all;
}

/// HDF5 has their files open still.
std::vector<std::shared_ptr<OpenLog>>& logs_without_objects() {
  static auto& all = *new std::vector<std::shared_ptr<OpenLog>>;
  return all;
}

std::optional<unsigned long> find_file_number(void* under, const H5VL_loc_params_t& place,
                                              hid_t connector) {
  const auto info = basic_info(under, place, connector);
  return info ? std::optional(info->fileno) : std::nullopt;
}

/// What is pending is lost, as after a kill. Better than a program that does not end.
void give_up(OpenLog& log, const std::exception& error) {
  fmt::print(stderr, "slablog: warning: '{}' {}: {}\n", log.file->path(), log.file->abandon(),
             error.what());
}

/// Returns whether it is well. What has failed before is not tried again as the program ends: ranks
/// may come here one by one.
bool prepare_close(OpenLog& log, bool may_be_tried_again) {
  try {
    if (ending() && !log.failure.empty()) throw IoError(log.failure);
    log.attempt(&DataFile::prepare_close);
    return true;
  } catch (const std::exception& error) {
    if (may_be_tried_again) throw;
    give_up(log, error);
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
  for (const auto* object : all_objects()) ours.insert(wrap_callbacks.get_object(object));
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
  if (file.log) return file.log->degree;
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

/// Whether HDF5 refuses to close the file as long as there are objects open in it, and there are.
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

bool is_file_of_hdf5(const Object& object) { return object.type == H5I_FILE && object.by_hdf5; }

bool are_same(const H5O_token_t& a, const H5O_token_t& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// HDF5 would take a dataset of a log that is not open, and has no view, for fill value.
void check_view(const Object& dataset, std::uint64_t number) {
  const Location file{dataset.under, dataset.type, dataset.connector};
  const auto view = view_name(number);
  if (link_exists(file, log_group) && link_exists(file, view)) return;
  throw Refusal(H5E_DATASET, H5E_NOTFOUND,
                fmt::format("The elements of the dataset are in a log, and its file has lost {}, "
                            "or was not closed; use slablog-repair, or restore it from a copy.",
                            view));
}

}  // namespace

H5VL_loc_params_t named(H5I_type_t type, const char* name) {
  auto place = self(type);
  place.type = H5VL_OBJECT_BY_NAME;
  place.loc_data.loc_by_name = {name, H5P_LINK_ACCESS_DEFAULT};
  return place;
}

std::optional<H5O_info2_t> basic_info(void* under, const H5VL_loc_params_t& place,
                                      hid_t connector) {
  H5O_info2_t info{};
  H5VL_object_get_args_t args{};
  args.op_type = H5VL_OBJECT_GET_INFO;
  args.args.get_info.oinfo = &info;
  args.args.get_info.fields = H5O_INFO_BASIC;
  herr_t status = -1;
  H5E_BEGIN_TRY {
    status = H5VLobject_get(under, &place, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr);
  }
  H5E_END_TRY
  if (status < 0) return std::nullopt;
  return info;
}

std::map<unsigned long, std::weak_ptr<OpenLog>>& open_logs() {
  static auto& all = *new std::map<unsigned long, std::weak_ptr<OpenLog>>;
  return all;
}

std::shared_ptr<OpenLog> log_of_file(unsigned long number) {
  const auto found = open_logs().find(number);
  return found == open_logs().end() ? nullptr : found->second.lock();
}

// In the order in which the files were opened, which is that of all ranks.
std::vector<std::shared_ptr<OpenLog>> mounted_together(const std::shared_ptr<OpenLog>& log) {
  std::vector<std::shared_ptr<OpenLog>> together;
  if (!log) return together;
  const auto top_of = [](std::shared_ptr<OpenLog> one) {
    while (auto parent = one->mounted_in.lock()) one = std::move(parent);
    return one;
  };
  for (const auto& [number, weak] : open_logs()) {
    auto open = weak.lock();
    if (!open || open->objects.empty() || top_of(open) != top_of(log)) continue;
    together.push_back(std::move(open));
  }
  return together;
}

// By its token, since the name of an object in a mounted file begins in the parent's file. A file
// of which nothing else is open was just opened, and is not mounted.
void OpenLog::open_group(const Object& object) {
  if (canonical != nullptr && object.type == H5I_FILE) {
    root_ = basic_info(object.under, self(object.type), object.connector).value().token;
  }
  if (canonical != nullptr || group_ != nullptr) return;
  auto place = named(object.type, log_group.c_str());
  if (token_ && object.type != H5I_FILE) {
    place.type = H5VL_OBJECT_BY_TOKEN;
    place.loc_data.loc_by_token.token = &*token_;
  }
  H5I_type_t type = H5I_BADID;
  group_ = H5VLobject_open(object.under, &place, object.connector, &type, H5P_DATASET_XFER_DEFAULT,
                           nullptr);
  if (group_ == nullptr) hdf5::fail("H5Oopen", log_group);
  if (token_) return;
  token_ = basic_info(group_, self(H5I_GROUP), H5VL_NATIVE).value().token;
  root_ = basic_info(object.under, self(object.type), object.connector).value().token;
}

void OpenLog::attempt(void (DataFile::*flush)(const Location&)) {
  try {
    (file.get()->*flush)(location());
    failure.clear();
  } catch (const std::exception& error) {
    failure = error.what();
    throw;
  }
}

void OpenLog::close_group() {
  if (group_ == nullptr) return;
  H5VLgroup_close(std::exchange(group_, nullptr), H5VL_NATIVE, H5P_DATASET_XFER_DEFAULT, nullptr);
}

Location OpenLog::location() const {
  if (group_ != nullptr) return {group_, H5I_GROUP, H5VL_NATIVE};
  if (objects.empty()) return {};
  const auto& object = any_object();
  return {object.under, object.type, object.connector};
}

// Preferably one that is found through its token.
const Object& OpenLog::any_object() const {
  const auto last_choice = [](const Object* object) {
    return std::pair(is_file_of_hdf5(*object), object->type == H5I_FILE);
  };
  const Object* best = *objects.begin();
  for (const Object* const object : objects) {  // mostly the first: nothing asks all of many
    if (last_choice(object) < last_choice(best)) best = object;
    if (last_choice(best) == std::pair(false, false)) break;
  }
  return *best;
}

bool OpenLog::is_group(const H5O_token_t& token) const {
  return token_ && are_same(token, *token_);
}

bool OpenLog::is_root(const H5O_token_t& token) const { return are_same(token, root_); }

// A file that was opened through an external link is an object of HDF5's own until HDF5 closes it.
bool OpenLog::is_last(const Object& object) const {
  return std::none_of(objects.begin(), objects.end(), [&](const Object* other) {
    return other != &object && !is_file_of_hdf5(*other) &&
           (object.type != H5I_FILE || other->type == H5I_FILE);
  });
}

Object::Object(void* object, hid_t below, H5I_type_t object_type, std::shared_ptr<OpenLog> open_log)
    : under(object), connector(below), type(object_type) {
  if (open_log) join(std::move(open_log));
  H5Iinc_ref(connector);
  all_objects().insert(this);
}

void Object::join(std::shared_ptr<OpenLog> open_log) {
  open_log->open_group(*this);
  log = std::move(open_log);
  log->objects.insert(this);
}

Object::~Object() {
  leave_log();
  all_objects().erase(this);
  H5Idec_ref(connector);
}

void Object::leave_log() {
  if (log) log->objects.erase(this);
  log.reset();
}

std::shared_ptr<OpenLog> log_of(void* under, H5I_type_t type, hid_t connector) {
  if (open_logs().empty()) return nullptr;
  const auto number = find_file_number(under, self(type), connector);
  return number ? log_of_file(*number) : nullptr;
}

std::shared_ptr<Object> parent_of(Object& place, const char* name) {
  std::string group(name == nullptr ? "" : name);
  for (;;) {
    const auto slash = group.find_last_of('/');
    if (slash == std::string::npos || slash == 0) return {&place, [](Object*) {}};
    group.resize(slash);
    // Groups that are still to be made are in the file of the last one that is there.
    const auto where = named(place.type, group.c_str());
    H5I_type_t type = H5I_BADID;
    void* found = nullptr;
    H5E_BEGIN_TRY {
      found = H5VLobject_open(place.under, &where, place.connector, &type, H5P_DATASET_XFER_DEFAULT,
                              nullptr);
    }
    H5E_END_TRY
    if (found == nullptr) continue;
    return {static_cast<Object*>(wrapped(found, place, type)), [](Object* opened) {
              const auto close = opened->type == H5I_GROUP     ? H5VLgroup_close
                                 : opened->type == H5I_DATASET ? H5VLdataset_close
                                                               : H5VLdatatype_close;
              close_object(opened, close, H5P_DATASET_XFER_DEFAULT);
            }};
  }
}

std::shared_ptr<OpenLog> log_at(const Object& place, const char* name) {
  if (open_logs().empty()) return nullptr;
  const bool from_root = name != nullptr && *name == '/';
  const auto info =
      basic_info(place.under, named(place.type, from_root ? "/" : "."), place.connector);
  return info ? log_of_file(info->fileno) : nullptr;
}

std::string file_name(void* under, H5I_type_t type, hid_t connector) {
  std::size_t length = 0;
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_NAME;
  args.args.get_name = {type, 0, nullptr, &length};
  const auto call = [&] {
    hdf5::check(H5VLfile_get(under, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
                "H5Fget_name", "a file");
  };
  call();
  std::string name(length, '\0');
  args.args.get_name.buf = name.data();
  args.args.get_name.buf_size = length + 1;
  call();
  return name;
}

unsigned long file_number(void* under, H5I_type_t type, hid_t connector) {
  const auto number = find_file_number(under, self(type), connector);
  if (!number) hdf5::fail("H5Oget_info", "the file");
  return *number;
}

void* wrapped(void* under, const Object& parent, H5I_type_t type) {
  if (under == nullptr) return nullptr;
  return new Object(under, parent.connector, type, log_of(under, type, parent.connector));
}

void* wrapped_beside(void* under, const Object& parent, H5I_type_t type) {
  return under == nullptr ? nullptr : new Object(under, parent.connector, type, parent.log);
}

void report(const char* callback) {
  try {
    throw;
  } catch (const Refusal& refusal) {
    H5Epush2(H5E_DEFAULT, __FILE__, callback, __LINE__, H5E_ERR_CLS, refusal.major_number(),
             refusal.minor_number(), "%s", refusal.what());
  } catch (const std::exception& error) {
    H5Epush2(H5E_DEFAULT, __FILE__, callback, __LINE__, H5E_ERR_CLS, H5E_VOL, H5E_CANTOPERATE, "%s",
             error.what());
  }
}

herr_t close_object(void* object, herr_t (*close)(void*, hid_t, hid_t, void**), hid_t list) {
  return guarded("close", [&]() -> herr_t {
    auto& mine = as_object(object);
    if (mine.under == nullptr) {  // it could not be closed before, and HDF5 tries again as it ends
      if (!ending()) return -1;
      delete &mine;
      return 0;
    }
    const auto log = mine.log;
    // HDF5 keeps the id of a file that could not be closed, and removes that of a dataset; of the
    // others it keeps the id and frees what it stands for.
    const auto type = mine.type;
    const bool is_file = type == H5I_FILE;
    // HDF5 refuses to close a handle of a file while anything that was opened through it is open.
    const bool is_last = log && log->is_last(mine);
    const bool ends = is_last || (is_file && log && log->canonical);
    const bool well = !ends || prepare_close(*log, is_file && !ending());
    // What the connector itself has open must not keep a file open.
    if (log && (is_file || is_last)) log->close_group();
    const bool may_stay = is_file && is_kept_by_objects(mine);
    if (log && is_file) log->closing = true;
    const auto status = is_canonical(mine) ? log->canonical->close(*mine.dataset, mine.under, list,
                                                                   is_last || log->closing)
                                           : close(mine.under, mine.connector, list, nullptr);
    if (log && is_file) log->closing = false;
    const bool stays = status < 0 && may_stay;
    if (!stays) {
      mine.under = nullptr;
      mine.leave_log();
    }
    if (log) end_without_objects(log);
    if (log && is_file && !log->objects.empty() && !is_file_of_hdf5(log->any_object())) {
      log->open_group(log->any_object());
    }
    if (stays) return -1;
    end_closed_logs(status >= 0);
    if (status < 0 && !ending()) return -1;
    delete &mine;
    return well || ending() || type != H5I_DATASET ? 0 : -1;
  });
}

void end_without_objects(const std::shared_ptr<OpenLog>& log) {
  if (!log->objects.empty()) return;
  log->close_group();
  logs_without_objects().push_back(log);
}

void end_closed_logs(bool well) {
  std::vector<std::shared_ptr<OpenLog>> ended;
  std::erase_if(logs_without_objects(), [&](const std::shared_ptr<OpenLog>& log) {
    if (!log->objects.empty()) return true;
    if (log->file->is_open_below()) return false;
    ended.push_back(log);
    return true;
  });
  std::exception_ptr failure;
  for (const auto& log : ended) {
    try {
      log->file->after_close(well);
    } catch (const std::exception& error) {
      failure = std::current_exception();
      if (ending()) give_up(*log, error);
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
    InPlaceWriter::forget_all();
  });
}

namespace {

bool has_fixed_size(hid_t type) {
  const std::string a_type = "a datatype";
  const auto kind = H5Tget_class(type);
  if (kind == H5T_VLEN || kind == H5T_REFERENCE) return false;
  if (kind == H5T_STRING) return H5Tis_variable_str(type) == 0;
  if (kind == H5T_ARRAY) {
    return has_fixed_size(hdf5::own(H5Tget_super(type), H5Tclose, "H5Tget_super", a_type).get());
  }
  if (kind != H5T_COMPOUND) return true;
  for (int i = 0; i < H5Tget_nmembers(type); ++i) {
    const auto member = hdf5::own(H5Tget_member_type(type, static_cast<unsigned>(i)), H5Tclose,
                                  "H5Tget_member_type", a_type);
    if (!has_fixed_size(member.get())) return false;
  }
  return true;
}

void take(Object& object, hid_t type, hid_t space, hid_t creation, bool created, bool owned) {
  if (!belongs_into_log(type, space, creation)) return;
  const auto info = basic_info(object.under, self(object.type), object.connector);
  if (!info) return;
  std::uint64_t number = 0;
  std::memcpy(&number, &info->token, sizeof number);
  object.dataset = object.log->canonical->take(
      {object.under, object.connector, number, type, space, creation, created, owned});
}

}  // namespace

bool has_numbers_for_all(std::uint64_t element_bytes, const Extent& extent, const Extent& chunk) {
  auto bytes = static_cast<std::int64_t>(element_bytes);
  for (std::size_t d = 0; d < extent.size(); ++d) {
    if (extent[d] == 0) return true;
    const std::uint64_t length = chunk.empty() ? 1 : chunk[d];
    const std::uint64_t chunks = (extent[d] - 1) / length + 1;
    if (__builtin_mul_overflow(bytes, chunks, &bytes)) return false;
    if (__builtin_mul_overflow(bytes, length, &bytes)) return false;
  }
  return true;
}

bool belongs_into_log(hid_t type, hid_t space, hid_t creation) {
  const auto layout = H5Pget_layout(creation);
  if (H5Sget_simple_extent_type(space) != H5S_SIMPLE || layout == H5D_COMPACT ||
      layout == H5D_VIRTUAL || H5Pget_external_count(creation) != 0 || !has_fixed_size(type)) {
    return false;
  }
  std::array<hsize_t, H5S_MAX_RANK> extent;
  const int rank = H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  return rank > 0 &&
         has_numbers_for_all(H5Tget_size(type), {extent.begin(), extent.begin() + rank},
                             layout == H5D_CHUNKED ? hdf5::chunk_of(creation) : Extent());
}

void take_created_dataset(Object& object, hid_t type, hid_t space, hid_t creation) {
  if (object.log && object.log->canonical) take(object, type, space, creation, true, true);
}

void show_all(const Object& object) {
  const auto& log = object.log;
  if (log && log->canonical && !log->canonical->is_parallel()) log->file->flush(log->location());
}

void show_all_files() {
  for (const auto& [number, open] : open_logs()) {
    const auto log = open.lock();
    if (log && !log->objects.empty()) show_all(log->any_object());
  }
}

void find_dataset(Object& object, bool owned) {
  const auto get = [&](H5VL_dataset_get_t what) {
    H5VL_dataset_get_args_t args{};
    args.op_type = what;
    hdf5::check(
        H5VLdataset_get(object.under, object.connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5VLdataset_get", "a dataset");
    return args;
  };
  const hdf5::Handle creation(get(H5VL_DATASET_GET_DCPL).args.get_dcpl.dcpl_id, H5Pclose);
  const auto number = number_of(creation.get());
  if (!number) {
    object.mappings = mappings_in(creation.get());
    if (object.mappings || !object.log || !object.log->canonical) return;
  } else {
    object.is_closed_log = !object.log || !object.log->log;
    if (object.is_closed_log) return check_view(object, *number);
    object.dataset = object.log->log->known(*number);
    if (object.dataset) return;
  }
  const hdf5::Handle type(get(H5VL_DATASET_GET_TYPE).args.get_type.type_id, H5Tclose);
  const hdf5::Handle space(get(H5VL_DATASET_GET_SPACE).args.get_space.space_id, H5Sclose);
  if (!number) return take(object, type.get(), space.get(), creation.get(), false, owned);
  object.dataset = object.log->log->add(object.log->location(),
                                        describe(*number, type.get(), space.get(), creation.get()));
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
