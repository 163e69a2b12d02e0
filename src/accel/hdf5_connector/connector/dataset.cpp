// Datasets. The elements of those of fixed size go past HDF5, into the log or to their places;
// scalars, compact, external and virtual ones, and those of variable length or of references, stay
// HDF5's own, in the same file.
#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "accel/hdf5_connector/api/slablog.h"
#include "accel/hdf5_connector/connector/find_dataset.hpp"
#include "accel/hdf5_connector/connector/forward.hpp"
#include "accel/hdf5_connector/connector/open_dataset.hpp"
#include "accel/hdf5_connector/connector/virtual_dataset.hpp"
#include "accel/hdf5_connector/journal/driver.hpp"
#include "accel/hdf5_connector/log/find_datasets.hpp"
#include "accel/hdf5_connector/transfer.hpp"
#include "core/parallel/agree.hpp"
#include "storage/hdf5/placeholder.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

namespace {

const std::string a_dataset = "a dataset";

void refuse_filters(hid_t creation) {
  const auto filters = H5Pget_nfilters(creation);
  if (filters == 0) return;
  throw Refusal(H5E_PLINE, H5E_UNSUPPORTED,
                fmt::format("slablog does not support filters, and the dataset's creation list has "
                            "{}; create it without, or compress the file with h5repack afterwards",
                            filters));
}

/// The creation list of the dataset that stands for the log's: all of it is what the view holds,
/// which is made when the file is closed. So the object itself never changes.
hdf5::Handle stand_in(hid_t creation, hid_t space, std::uint64_t number) {
  auto list = hdf5::own(H5Pcopy(creation), H5Pclose, "H5Pcopy", a_dataset);
  hdf5::check(H5Pset_layout(list.get(), H5D_CONTIGUOUS), "H5Pset_layout", a_dataset);
  hdf5::check(H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_DEFAULT), "H5Pset_alloc_time",
              a_dataset);
  const hdf5::Space all(hdf5::own(H5Scopy(space), H5Sclose, "H5Scopy", a_dataset));
  hdf5::check(H5Sselect_all(all.get()), "H5Sselect_all", a_dataset);
  hdf5::check(H5Pset_virtual(list.get(), all.get(), ".", view_name(number).c_str(), all.get()),
              "H5Pset_virtual", a_dataset);
  return list;
}

/// So that the ranks can find out whether they created the same.
void note_creation(const Object& made) {
  if (!made.log || !made.log->file->has_other_ranks()) return;
  std::string path(255, '\0');
  std::size_t length = 0;
  const auto get_path = [&] {
    H5VL_object_get_args_t args{};
    args.op_type = H5VL_OBJECT_GET_NAME;
    args.args.get_name = {path.size() + 1, path.data(), &length};
    const auto itself = self(H5I_DATASET);
    hdf5::check(H5VLobject_get(made.under, &itself, made.connector, &args, H5P_DATASET_XFER_DEFAULT,
                               nullptr),
                "H5Iget_name", a_dataset);
  };
  get_path();
  const bool fits = length <= path.size();
  path.resize(length);
  if (!fits) get_path();
  made.log->file->note_creation(path.empty() ? "one without a name" : fmt::format("'{}'", path));
}

void* create_in_log(Object& mine, OpenLog& log, const H5VL_loc_params_t* place, const char* name,
                    hid_t links, hid_t type, hid_t space, hid_t creation, hid_t access,
                    hid_t list) {
  refuse_filters(creation);
  KeptErrors errors;
  const auto number = log.log->new_number(log.location());
  const auto below = stand_in(creation, space, number);
  const OpeningAlone alone;
  auto* made = wrapped(H5VLdataset_create(mine.under, place, mine.connector, name, links, type,
                                          space, below.get(), access, list, nullptr),
                       mine, H5I_DATASET);
  if (made == nullptr) {
    errors.keep();
    return nullptr;
  }
  auto& object = as_object(made);
  or_close(object, [&] {
    object.creation = hdf5::own(H5Pcopy(creation), H5Pclose, "H5Pcopy", a_dataset);
    object.dataset = log.log->add(log.location(), describe(number, type, space, creation));
    note_creation(object);
  });
  return made;
}

/// HDF5 caches no chunks without filters of a file that others may write, but makes room for a
/// table of them, 64 KiB a dataset. Not asked for where a file may be mounted in another.
bool has_idle_cache(const Object& place, hid_t type, hid_t space, hid_t creation, hid_t access) {
  return place.log && place.log->canonical && place.log->file->is_parallel() &&
         access == H5P_DATASET_ACCESS_DEFAULT && open_logs().size() == 1 &&
         H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_nfilters(creation) == 0 &&
         belongs_into_log(type, space, creation);
}

/// HDF5 closes it in the end.
hid_t& kept_access_without_cache() {
  static hid_t list = H5I_INVALID_HID;
  return list;
}

hid_t access_without_cache() {
  auto& list = kept_access_without_cache();
  if (list < 0) {
    auto made = hdf5::own(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "H5Pcreate", a_dataset);
    hdf5::check(H5Pset_chunk_cache(made.get(), 0, 0, 0), "H5Pset_chunk_cache", a_dataset);
    list = made.release();
  }
  return list;
}

void* create(void* object, const H5VL_loc_params_t* place, const char* name, hid_t links,
             hid_t type, hid_t space, hid_t creation, hid_t access, hid_t list, void**) {
  return guarded("dataset create", [&]() -> void* {
    auto& mine = as_object(object);
    refuse_own_group(mine, name);
    // To ask where a name leads opens a group.
    const auto parent =
        holds_log(false) ? parent_of(mine, name) : std::shared_ptr<Object>(&mine, [](Object*) {});
    const bool may_be_logged = mine.log == nullptr || mine.log->log != nullptr;
    const auto home = parent.get() != &mine ? parent->log
                      : may_be_logged       ? log_at(mine, name)
                                            : nullptr;
    if (home && home->log && belongs_into_log(type, space, creation)) {
      return create_in_log(mine, *home, place, name, links, type, space, creation, access, list);
    }
    const bool idle_cache = has_idle_cache(mine, type, space, creation, access);
    auto* made = wrapped(
        H5VLdataset_create(mine.under, place, mine.connector, name, links, type, space, creation,
                           idle_cache ? access_without_cache() : access, list, nullptr),
        mine, H5I_DATASET);
    if (made == nullptr) return nullptr;
    auto& dataset = as_object(made);
    or_close(dataset, [&] {
      dataset.mappings = mappings_in(creation);
      take_created_dataset(dataset, type, space, creation);
      note_creation(dataset);
    });
    if (idle_cache && is_canonical(dataset)) dataset.dataset->cache_left_out = true;
    return made;
  });
}

void* open(void* object, const H5VL_loc_params_t* place, const char* name, hid_t access, hid_t list,
           void**) {
  return guarded("dataset open", [&]() -> void* {
    auto& mine = as_object(object);
    H5I_type_t type = H5I_DATASET;
    return open_object(mine, type, list, [&](H5I_type_t&) {
      return H5VLdataset_open(mine.under, place, mine.connector, name, access, list, nullptr);
    });
  });
}

/// Whether all ranks make a transfer together.
bool is_collective(hid_t list) {
  if (list == H5P_DATASET_XFER_DEFAULT || list == H5P_DEFAULT) return false;
  H5FD_mpio_xfer_t mode = H5FD_MPIO_INDEPENDENT;
  hdf5::check(H5Pget_dxpl_mpio(list, &mode), "H5Pget_dxpl_mpio", "the transfer list");
  return mode == H5FD_MPIO_COLLECTIVE;
}

/// The files of several ranks among those that a transfer goes to.
std::vector<std::shared_ptr<OpenLog>> shared_files(std::span<void* const> objects) {
  std::vector<std::shared_ptr<OpenLog>> files;
  for (void* const object : objects) {
    const auto& log = as_object(object).log;
    if (!log || !log->file->is_shared()) continue;
    if (std::find(files.begin(), files.end(), log) == files.end()) files.push_back(log);
  }
  return files;
}

/// Collective: flushes a file where something of `objects` is pending on any rank.
void flush_where_pending(const OpenLog& log, std::span<void* const> objects) {
  const bool pending = std::any_of(objects.begin(), objects.end(), [&](void* object) {
    const auto& mine = as_object(object);
    if (mine.log.get() != &log) return false;
    return mine.dataset ? mine.dataset->has_pending() : mine.mappings && log.file->has_pending();
  });
  if (log.file->on_any_rank(pending)) log.file->flush(log.location());
}

/// Where ranks read together, each sees what the others wrote.
void show_to_all(std::span<void* const> objects, hid_t list) {
  const auto files = shared_files(objects);
  if (files.empty() || !is_collective(list)) return;
  for (const auto& log : files) {
    if (log->file->writable()) flush_where_pending(*log, objects);
  }
}

/// The same where ranks write together, and one of them only some members of compounds: the others
/// may be pending on another rank.
void show_other_members(const OpenLog& log, std::span<void* const> objects, const hid_t* types) {
  bool has_compounds = false;
  bool leaves_members = false;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto& mine = as_object(objects[i]);
    if (mine.log.get() != &log || !mine.dataset) continue;
    if (H5Tdetect_class(mine.dataset->type(), H5T_COMPOUND) <= 0) continue;
    has_compounds = true;
    leaves_members = leaves_members || H5Tequal(types[i], mine.dataset->type()) == 0;
  }
  if (!has_compounds || !log.file->on_any_rank(leaves_members)) return;
  flush_where_pending(log, objects);
}

/// A call that writes elements: counted in each file before `act`, and seen by all ranks after it
/// where they make it together and want that.
template <class Act>
herr_t write_call(std::span<void* const> objects, const hid_t* types, hid_t list, const Act& act) {
  const auto files = shared_files(objects);
  const bool collective = !files.empty() && is_collective(list);
  for (const auto& log : files) {
    if (collective && log->file->writable()) show_other_members(*log, objects, types);
    log->file->begin_write(collective);
  }
  herr_t status = -1;
  Attempt attempt;  // a call that fails on one rank is flushed by all the same
  attempt.run([&] { status = act(collective); });
  for (const auto& log : files) {
    if (collective && log->file->is_strict() && log->file->writable()) {
      log->file->flush(log->location());
    }
  }
  if (attempt.failure()) std::rethrow_exception(attempt.failure());
  return status;
}

/// What of a call goes to HDF5, in one call: with several ranks all must make the same ones.
struct Natively {
  std::vector<void*> objects;
  std::vector<hid_t> types, memory, file;
  std::vector<hdf5::Space> kept;
  hid_t connector = H5I_INVALID_HID;

  void add(const Object& mine, hid_t type, hid_t memory_space, hid_t file_space) {
    objects.push_back(mine.under);
    types.push_back(type);
    memory.push_back(memory_space);
    file.push_back(file_space);
    connector = mine.connector;
  }

  void add_nothing(const Object& mine, hid_t type) {
    auto& none = kept.emplace_back(mine.dataset->extent());
    none.select_none();
    add(mine, type, none.get(), none.get());
  }
};

Elements selected_elements(const Object& mine, hid_t memory, hid_t file) {
  return selected(mine.dataset->extent(), memory, file, &mine.log->file->selections());
}

/// HDF5 reads nothing at all of a dataset that it would not fill and that has no space yet.
bool may_be_unreadable_below(const Object& mine) {
  return is_canonical(mine) && mine.log->canonical->may_be_unreadable(*mine.dataset);
}

bool is_misread_below(const Object& mine) {
  return is_canonical(mine) && mine.log->canonical->is_misread(*mine.dataset);
}

/// Whether elements are pending of which the program may read only some members.
bool has_pending_members(const Object& mine, hid_t type) {
  return is_canonical(mine) && mine.dataset->has_pending() &&
         H5Tdetect_class(type, H5T_COMPOUND) > 0 && H5Tequal(type, mine.dataset->type()) == 0;
}

/// show_all(), before HDF5 looks at this dataset alone: others may fail.
void show_dataset(const Object& mine) {
  if (is_canonical(mine)) return mine.log->canonical->show(*mine.dataset);
  show_all(mine.log);
}

/// HDF5 reads and writes no virtual datasets of parallel files. One rank that tries it alone waits
/// for the others for ever.
void refuse_closed_log(const Object& mine) {
  if (!mine.is_closed_log) return;
  const auto path = file_name(mine.under, mine.type, mine.connector);
  if (!is_open_together(path) && !hdf5::is_open_together(path)) return;
  throw Refusal(H5E_DATASET, H5E_UNSUPPORTED,
                fmt::format("the elements are in the log of '{}', to which an external link leads; "
                            "open that file itself before you open the dataset",
                            path));
}

herr_t read(size_t count, void* objects[], hid_t types[], hid_t memory[], hid_t file[], hid_t list,
            void* buffers[], void**) {
  return guarded("dataset read", [&]() -> herr_t {
    show_to_all({objects, count}, list);
    Natively native;
    std::vector<void*> targets;
    std::vector<std::vector<std::byte>> kept(count);
    for (size_t i = 0; i < count; ++i) {
      auto& mine = as_object(objects[i]);
      refuse_closed_log(mine);
      if (may_be_unreadable_below(mine)) show_dataset(mine);
      if (is_logged(mine) || may_be_unreadable_below(mine) || is_misread_below(mine)) {
        read_elements(*mine.log->file, *mine.dataset, types[i],
                      selected_elements(mine, memory[i], file[i]), list, buffers[i]);
        if (!is_misread_below(mine) || !mine.log->file->is_parallel()) continue;
        // A rank that has opened it anew reads it through HDF5, maybe together with all.
        native.add_nothing(mine, types[i]);
        targets.push_back(buffers[i]);
        continue;
      }
      if (mine.mappings) show_all_files();
      if (has_pending_members(mine, types[i])) {
        kept[i] = kept_of_pending(*mine.dataset, types[i],
                                  selected_elements(mine, memory[i], file[i]), buffers[i]);
      }
      native.add(mine, types[i], memory[i], file[i]);
      targets.push_back(buffers[i]);
    }
    if (targets.empty()) return 0;
    if (H5VLdataset_read(targets.size(), native.objects.data(), native.connector,
                         native.types.data(), native.memory.data(), native.file.data(), list,
                         targets.data(), nullptr) < 0) {
      return -1;
    }
    for (size_t i = 0; i < count; ++i) {
      auto& mine = as_object(objects[i]);
      if (!mine.dataset) {
        read_mapped(mine, types[i], memory[i], file[i], list, buffers[i]);
      } else if (is_canonical(mine) && mine.dataset->has_pending()) {
        read_pending(*mine.log->file, *mine.dataset, types[i],
                     selected_elements(mine, memory[i], file[i]), list, buffers[i], kept[i]);
      }
    }
    return 0;
  });
}

/// Whether HDF5 shall write at once what a rank writes by itself, so that others see it.
bool goes_to_hdf5_at_once(const Object& mine, bool collective) {
  return !collective && is_canonical(mine) && mine.log->file->is_shared() &&
         mine.log->file->is_strict() && !mine.log->canonical->has_filters(*mine.dataset) &&
         !mine.dataset->has_pending();
}

herr_t write(size_t count, void* objects[], hid_t types[], hid_t memory[], hid_t file[], hid_t list,
             const void* buffers[], void**) {
  const auto act = [&](bool collective) -> herr_t {
    // What is refused is refused before anything is written.
    std::vector<Elements> elements(count);
    for (size_t i = 0; i < count; ++i) {
      const auto& mine = as_object(objects[i]);
      refuse_closed_log(mine);
      if (mine.dataset) elements[i] = selected_elements(mine, memory[i], file[i]);
    }
    Natively native;
    std::vector<const void*> sources;
    for (size_t i = 0; i < count; ++i) {
      auto& mine = as_object(objects[i]);
      if (mine.mappings) show_all_files();
      if (goes_to_hdf5_at_once(mine, collective)) {
        native.add(mine, types[i], memory[i], file[i]);
        sources.push_back(buffers[i]);
      } else if (mine.dataset) {
        write_elements(*mine.log->file, *mine.dataset, types[i], elements[i], list, buffers[i]);
      } else if (!write_mapped(mine, types[i], memory[i], file[i], list, buffers[i])) {
        native.add(mine, types[i], memory[i], file[i]);
        sources.push_back(buffers[i]);
      }
    }
    if (sources.empty()) return 0;
    return H5VLdataset_write(sources.size(), native.objects.data(), native.connector,
                             native.types.data(), native.memory.data(), native.file.data(), list,
                             sources.data(), nullptr);
  };
  return guarded("dataset write", [&] { return write_call({objects, count}, types, list, act); });
}

/// The creation list as the user knows it, not that of the stand-in.
hid_t creation_list(const Object& mine, hid_t of_stand_in) {
  if (mine.creation.is_open()) {
    H5Pclose(of_stand_in);
    return H5Pcopy(mine.creation.get());
  }
  H5Pset_layout(of_stand_in, H5D_CONTIGUOUS);
  return of_stand_in;
}

/// Whether HDF5 would have given a contiguous dataset its space by now: from the start where many
/// write it, or where the program wants that, else when it is written first.
bool has_space(const Object& mine) {
  H5D_alloc_time_t time = H5D_ALLOC_TIME_LATE;
  if (mine.creation.is_open()) {
    hdf5::check(H5Pget_alloc_time(mine.creation.get(), &time), "H5Pget_alloc_time", a_dataset);
  }
  return time == H5D_ALLOC_TIME_EARLY || mine.log->file->is_parallel() ||
         mine.dataset->has_pending() || !mine.dataset->segments.empty();
}

herr_t get(void* object, H5VL_dataset_get_args_t* args, hid_t list, void**) {
  return guarded("dataset get", [&]() -> herr_t {
    const auto& mine = as_object(object);
    if (args->op_type == H5VL_DATASET_GET_STORAGE_SIZE ||
        args->op_type == H5VL_DATASET_GET_SPACE_STATUS) {
      show_dataset(mine);
    }
    if (is_logged(mine) && args->op_type == H5VL_DATASET_GET_STORAGE_SIZE) {
      *args->args.get_storage_size.storage_size =
          has_space(mine) ? element_count(mine.dataset->extent()) * mine.dataset->element_bytes()
                          : 0;
      return 0;
    }
    if (is_logged(mine) && args->op_type == H5VL_DATASET_GET_SPACE_STATUS) {
      *args->args.get_space_status.status =
          has_space(mine) ? H5D_SPACE_STATUS_ALLOCATED : H5D_SPACE_STATUS_NOT_ALLOCATED;
      return 0;
    }
    const auto status = H5VLdataset_get(mine.under, mine.connector, args, list, nullptr);
    if (status >= 0 && is_logged(mine) && args->op_type == H5VL_DATASET_GET_DCPL) {
      args->args.get_dcpl.dcpl_id = creation_list(mine, args->args.get_dcpl.dcpl_id);
    }
    if (status >= 0 && args->op_type == H5VL_DATASET_GET_DAPL && is_canonical(mine) &&
        mine.dataset->cache_left_out) {
      const auto& wanted = mine.log->wanted;
      H5Pset_chunk_cache(args->args.get_dapl.dapl_id, wanted.chunk_slots, wanted.chunk_bytes,
                         wanted.preemption);
    }
    return status;
  });
}

/// Whether HDF5 is about to give chunks up, or what is pending in a canonical dataset would count
/// its offsets in another shape. One that only grows in its slowest dimension keeps both. Or HDF5
/// looks for chunks at the old edge, and fails where it has none at all.
bool moves_elements(const Object& mine, const H5VL_dataset_specific_args_t& args) {
  if (!is_canonical(mine) || args.op_type != H5VL_DATASET_SET_EXTENT) return false;
  const auto& old = mine.dataset->extent();
  const Extent extent(args.args.set_extent.size, args.args.set_extent.size + old.size());
  return !same_rows(old, extent) || extent.front() < old.front() ||
         mine.log->canonical->has_plain_edges(*mine.dataset);
}

herr_t set_extent(Object& mine, H5VL_dataset_specific_args_t& args, hid_t list) {
  if (is_logged(mine) && mine.creation.is_open() &&
      H5Pget_layout(mine.creation.get()) == H5D_CONTIGUOUS) {
    throw Refusal(H5E_DATASET, H5E_CANTSET, "the dataset has contiguous storage");
  }
  const auto* size = args.args.set_extent.size;
  const Extent extent(size, size + mine.dataset->extent().size());
  const Extent chunk = is_canonical(mine) ? mine.log->canonical->chunk_of(*mine.dataset) : Extent();
  if (!has_numbers_for_all(mine.dataset->element_bytes(), extent, chunk)) {
    throw Refusal(H5E_DATASET, H5E_CANTSET,
                  "slablog numbers bytes in 63 bits, and the dataset would have more; make it so "
                  "large when it is created, or do without the connector");
  }
  auto& file = *mine.log->file;
  std::optional<CanonicalFile::Cut> cut;
  if (is_canonical(mine)) cut = mine.log->canonical->cut(*mine.dataset, extent);
  if (cut) {
    const std::vector<hsize_t> between(cut->between.begin(), cut->between.end());
    H5VL_dataset_specific_args_t first{};
    first.op_type = H5VL_DATASET_SET_EXTENT;
    first.args.set_extent.size = between.data();
    const auto status = H5VLdataset_specific(mine.under, mine.connector, &first, list, nullptr);
    if (status < 0) return status;
  }
  const auto status = H5VLdataset_specific(mine.under, mine.connector, &args, list, nullptr);
  if (status < 0) return status;
  file.reshape(mine.log->location(), *mine.dataset, extent);
  if (cut) mine.log->canonical->restore(mine.log->location(), *mine.dataset, *cut);
  return status;
}

herr_t dataset_specific(void* object, H5VL_dataset_specific_args_t* args, hid_t list, void**) {
  return guarded("dataset specific", [&]() -> herr_t {
    auto& mine = as_object(object);
    if (mine.dataset && (args->op_type == H5VL_DATASET_FLUSH || moves_elements(mine, *args))) {
      mine.log->attempt(&DataFile::flush);
    }
    if (!mine.dataset || args->op_type != H5VL_DATASET_SET_EXTENT) {
      return H5VLdataset_specific(mine.under, mine.connector, args, list, nullptr);
    }
    return set_extent(mine, *args, list);
  });
}

bool asks_for_chunks(int operation) {
  return operation == H5VL_NATIVE_DATASET_GET_NUM_CHUNKS ||
         operation == H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_IDX ||
         operation == H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_COORD ||
         operation == H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE ||
         operation == H5VL_NATIVE_DATASET_GET_CHUNK_INDEX_TYPE ||
         operation == H5VL_NATIVE_DATASET_CHUNK_READ ||
         operation == H5VL_NATIVE_DATASET_CHUNK_WRITE ||
         operation == H5VL_NATIVE_DATASET_CHUNK_ITER;
}

herr_t dataset_optional(void* object, H5VL_optional_args_t* args, hid_t list, void**) {
  return guarded("dataset optional", [&]() -> herr_t {
    auto& mine = as_object(object);
    if (is_logged(mine) && asks_for_chunks(args->op_type)) {
      throw Refusal(
          H5E_DATASET, H5E_UNSUPPORTED,
          "slablog keeps no chunks; use H5Dread and H5Dwrite, or make chunks of the closed "
          "file with h5repack -l CHUNK=... and work with its copy");
    }
    if (is_canonical(mine) && mine.dataset->has_pending() && mine.log->file->is_parallel() &&
        (args->op_type == H5VL_NATIVE_DATASET_CHUNK_READ ||
         args->op_type == H5VL_NATIVE_DATASET_CHUNK_WRITE)) {
      throw Refusal(H5E_DATASET, H5E_UNSUPPORTED,
                    "slablog has elements of this dataset that are not flushed; flush the file "
                    "before H5Dread_chunk and H5Dwrite_chunk");
    }
    const bool writes = args->op_type == write_n_operation();
    if (!writes && args->op_type != read_n_operation()) {
      show_dataset(mine);
      return H5VLdataset_optional(mine.under, mine.connector, args, list, nullptr);
    }
    auto& call = *static_cast<slablog_n_args*>(args->args);
    const bool at_once = writes && goes_to_hdf5_at_once(mine, is_collective(list));
    call.taken = mine.dataset && !at_once ? 1 : 0;
    if (call.taken == 0) return 0;
    auto& log = *mine.log->file;
    const auto move = [&]() -> herr_t {
      const auto elements = boxes(*mine.dataset, call.n, call.starts, call.counts);
      if (writes) {
        write_elements(log, *mine.dataset, call.mem_type, elements, list, call.buf);
      } else {
        read_elements(log, *mine.dataset, call.mem_type, elements, list, call.buf);
      }
      return 0;
    };
    if (writes) {
      return write_call({&object, 1}, &call.mem_type, list, [&](bool) { return move(); });
    }
    show_to_all({&object, 1}, list);
    return move();
  });
}

}  // namespace

void forget_access_lists() { kept_access_without_cache() = H5I_INVALID_HID; }

const H5VL_dataset_class_t dataset_callbacks = {create,
                                                open,
                                                read,
                                                write,
                                                get,
                                                dataset_specific,
                                                dataset_optional,
                                                close_through<&Functions::H5VLdataset_close>};

}  // namespace slabmark::slablog
