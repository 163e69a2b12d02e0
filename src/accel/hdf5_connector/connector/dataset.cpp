// Datasets. The elements of those of fixed size go past HDF5, into the log or to their places;
// scalars, compact, external and virtual ones, and those of variable length or of references, stay
// HDF5's own, in the same file.
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "accel/hdf5_connector/api/slablog.h"
#include "accel/hdf5_connector/canonical/cut_chunks.hpp"
#include "accel/hdf5_connector/connector/dataset_transfer.hpp"
#include "accel/hdf5_connector/connector/find_dataset.hpp"
#include "accel/hdf5_connector/connector/forward.hpp"
#include "accel/hdf5_connector/connector/open_dataset.hpp"
#include "accel/hdf5_connector/connector/virtual_dataset.hpp"
#include "accel/hdf5_connector/log/find_datasets.hpp"
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
  if (!made.tracked || !made.tracked->file->has_other_ranks()) return;
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
  made.tracked->file->note_creation(path.empty() ? "one without a name"
                                                 : fmt::format("'{}'", path));
}

/// `create_below`: makes the dataset by a creation list; null where that fails.
template <class Create>
void* create_in_log(TrackedFile& tracked, hid_t type, hid_t space, hid_t creation,
                    const Create& create_below) {
  refuse_filters(creation);
  KeptErrors errors;
  const auto number = tracked.log->new_number(tracked.location());
  const auto below = stand_in(creation, space, number);
  const OpeningAlone alone;
  auto* made = create_below(below.get());
  if (made == nullptr) {
    errors.keep();
    return nullptr;
  }
  auto& object = as_object(made);
  or_close(object, [&] {
    object.creation = hdf5::own(H5Pcopy(creation), H5Pclose, "H5Pcopy", a_dataset);
    object.dataset = tracked.log->add(tracked.location(), describe(number, type, space, creation));
    note_creation(object);
  });
  return made;
}

/// HDF5 caches no chunks without filters of a file that others may write, but makes room for a
/// table of them, 64 KiB a dataset. Not asked for where a file may be mounted in another.
bool has_idle_cache(const Object& place, hid_t type, hid_t space, hid_t creation, hid_t access) {
  return place.tracked && place.tracked->canonical && place.tracked->file->is_parallel() &&
         access == H5P_DATASET_ACCESS_DEFAULT && tracked_files().size() == 1 &&
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
    const bool may_be_logged = mine.tracked == nullptr || mine.tracked->log != nullptr;
    const auto home = parent.get() != &mine ? parent->tracked
                      : may_be_logged       ? tracked_file_at(mine, name)
                                            : nullptr;
    const bool idle_cache = has_idle_cache(mine, type, space, creation, access);
    const auto create_below = [&](hid_t creation_below) {
      return wrapped(
          H5VLdataset_create(mine.under, place, mine.connector, name, links, type, space,
                             creation_below, idle_cache ? access_without_cache() : access, list,
                             nullptr),
          mine, H5I_DATASET);
    };
    if (home && home->log && belongs_into_log(type, space, creation)) {
      return create_in_log(*home, type, space, creation, create_below);
    }
    auto* made = create_below(creation);
    if (made == nullptr) return nullptr;
    auto& dataset = as_object(made);
    or_close(dataset, [&] {
      dataset.mappings = mappings_in(creation);
      take_created_dataset(dataset, type, space, creation);
      note_creation(dataset);
    });
    if (idle_cache && is_canonical(dataset)) canonical_of(dataset)->cache_left_out = true;
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

/// The creation list as the user knows it, not that of the stand-in.
hid_t creation_list(const Object& mine, hid_t of_stand_in) {
  if (mine.creation.is_open()) {
    H5Pclose(of_stand_in);
    return H5Pcopy(mine.creation.get());
  }
  H5Pset_layout(of_stand_in, H5D_CONTIGUOUS);
  return of_stand_in;
}

/// True if HDF5 would have given a contiguous dataset its space by now: from the start where many
/// write it, or where the program wants that, else when it is written first.
bool has_space(const Object& mine) {
  H5D_alloc_time_t time = H5D_ALLOC_TIME_LATE;
  if (mine.creation.is_open()) {
    hdf5::check(H5Pget_alloc_time(mine.creation.get(), &time), "H5Pget_alloc_time", a_dataset);
  }
  return time == H5D_ALLOC_TIME_EARLY || mine.tracked->file->is_parallel() ||
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
        canonical_of(mine)->cache_left_out) {
      const auto& wanted = mine.tracked->wanted;
      H5Pset_chunk_cache(args->args.get_dapl.dapl_id, wanted.chunk_slots, wanted.chunk_bytes,
                         wanted.preemption);
    }
    return status;
  });
}

/// True if HDF5 is about to give chunks up, or what is pending in a canonical dataset would count
/// its offsets in another shape. One that only grows in its slowest dimension keeps both. Or HDF5
/// looks for chunks at the old edge, and fails where it has none at all.
bool moves_elements(const Object& mine, const H5VL_dataset_specific_args_t& args) {
  const auto* const canonical = canonical_of(mine);
  if (canonical == nullptr || args.op_type != H5VL_DATASET_SET_EXTENT) return false;
  const auto& old = canonical->extent();
  const Extent extent(args.args.set_extent.size, args.args.set_extent.size + old.size());
  return !same_rows(old, extent) || extent.front() < old.front() || canonical->has_plain_edges();
}

herr_t set_extent(Object& mine, H5VL_dataset_specific_args_t& args, hid_t list) {
  if (is_logged(mine) && mine.creation.is_open() &&
      H5Pget_layout(mine.creation.get()) == H5D_CONTIGUOUS) {
    throw Refusal(H5E_DATASET, H5E_CANTSET, "the dataset has contiguous storage");
  }
  const auto* size = args.args.set_extent.size;
  const Extent extent(size, size + mine.dataset->extent().size());
  auto* const canonical = canonical_of(mine);
  const Extent chunk = canonical != nullptr ? canonical->chunk : Extent();
  if (!has_numbers_for_all(mine.dataset->element_bytes(), extent, chunk)) {
    throw Refusal(H5E_DATASET, H5E_CANTSET,
                  "slablog numbers bytes in 63 bits, and the dataset would have more; make it so "
                  "large when it is created, or do without the connector");
  }
  auto& file = *mine.tracked->file;
  std::optional<CutChunks> cut;
  if (canonical != nullptr) cut = CutChunks::of(*mine.tracked->canonical, *canonical, extent);
  if (cut) {
    H5VL_dataset_specific_args_t first{};
    first.op_type = H5VL_DATASET_SET_EXTENT;
    first.args.set_extent.size = cut->between().data();
    const auto status = H5VLdataset_specific(mine.under, mine.connector, &first, list, nullptr);
    if (status < 0) return status;
  }
  const auto status = H5VLdataset_specific(mine.under, mine.connector, &args, list, nullptr);
  if (status < 0) return status;
  file.reshape(mine.tracked->location(), *mine.dataset, extent);
  if (cut) cut->restore(*mine.tracked->canonical, mine.tracked->location(), *canonical);
  return status;
}

herr_t dataset_specific(void* object, H5VL_dataset_specific_args_t* args, hid_t list, void**) {
  return guarded("dataset specific", [&]() -> herr_t {
    auto& mine = as_object(object);
    if (mine.dataset && (args->op_type == H5VL_DATASET_FLUSH || moves_elements(mine, *args))) {
      mine.tracked->attempt(&DataFile::flush);
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
    if (is_canonical(mine) && mine.dataset->has_pending() && mine.tracked->file->is_parallel() &&
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
    return move_boxes(mine, *static_cast<slablog_n_args*>(args->args), writes, list);
  });
}

}  // namespace

void forget_access_lists() { kept_access_without_cache() = H5I_INVALID_HID; }

const H5VL_dataset_class_t dataset_callbacks = {create,
                                                open,
                                                read_datasets,
                                                write_datasets,
                                                get,
                                                dataset_specific,
                                                dataset_optional,
                                                close_through<&Functions::H5VLdataset_close>};

}  // namespace slabmark::slablog
