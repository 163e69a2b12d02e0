// Datasets. Those of fixed-size elements are in the log; scalars, compact, external and virtual
// ones, and those of variable length or of references, stay HDF5's own, in the same file.
#include <vector>

#include <fmt/format.h>

#include "slablog/api/slablog.h"
#include "slablog/connector/forward.hpp"
#include "slablog/connector/virtual_dataset.hpp"
#include "slablog/find_datasets.hpp"
#include "slablog/transfer.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

namespace {

const std::string a_dataset = "a dataset";

bool has_fixed_size(hid_t type) {
  const auto kind = H5Tget_class(type);
  if (kind == H5T_VLEN || kind == H5T_REFERENCE) return false;
  if (kind == H5T_STRING) return H5Tis_variable_str(type) == 0;
  if (kind == H5T_ARRAY) {
    return has_fixed_size(hdf5::own(H5Tget_super(type), H5Tclose, "H5Tget_super", a_dataset).get());
  }
  if (kind != H5T_COMPOUND) return true;
  for (int i = 0; i < H5Tget_nmembers(type); ++i) {
    const auto member = hdf5::own(H5Tget_member_type(type, static_cast<unsigned>(i)), H5Tclose,
                                  "H5Tget_member_type", a_dataset);
    if (!has_fixed_size(member.get())) return false;
  }
  return true;
}

bool belongs_into_log(hid_t type, hid_t space, hid_t creation) {
  const auto layout = H5Pget_layout(creation);
  return H5Sget_simple_extent_type(space) == H5S_SIMPLE && layout != H5D_COMPACT &&
         layout != H5D_VIRTUAL && H5Pget_external_count(creation) == 0 && has_fixed_size(type);
}

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

void* create_in_log(Object& mine, OpenLog& log, const H5VL_loc_params_t* place, const char* name,
                    hid_t links, hid_t type, hid_t space, hid_t creation, hid_t access,
                    hid_t list) {
  refuse_filters(creation);
  const auto number = log.file.new_number(log.location());
  const auto below = stand_in(creation, space, number);
  auto* made = wrapped(H5VLdataset_create(mine.under, place, mine.connector, name, links, type,
                                          space, below.get(), access, list, nullptr),
                       mine, H5I_DATASET);
  if (made == nullptr) return nullptr;
  auto& object = as_object(made);
  object.creation = hdf5::own(H5Pcopy(creation), H5Pclose, "H5Pcopy", a_dataset);
  object.dataset = log.file.add(log.location(), describe(number, type, space, creation));
  return made;
}

void* create(void* object, const H5VL_loc_params_t* place, const char* name, hid_t links,
             hid_t type, hid_t space, hid_t creation, hid_t access, hid_t list, void**) {
  return guarded_object("dataset create", [&]() -> void* {
    auto& mine = as_object(object);
    refuse_own_group(mine, name);
    const auto parent = parent_of(mine, name);
    if (parent->log && belongs_into_log(type, space, creation)) {
      return create_in_log(mine, *parent->log, place, name, links, type, space, creation, access,
                           list);
    }
    auto* made = wrapped(H5VLdataset_create(mine.under, place, mine.connector, name, links, type,
                                            space, creation, access, list, nullptr),
                         mine, H5I_DATASET);
    if (made != nullptr) as_object(made).mappings = mappings_in(creation);
    return made;
  });
}

void* open(void* object, const H5VL_loc_params_t* place, const char* name, hid_t access, hid_t list,
           void**) {
  return guarded_object("dataset open", [&]() -> void* {
    auto& mine = as_object(object);
    auto* opened =
        wrapped(H5VLdataset_open(mine.under, place, mine.connector, name, access, list, nullptr),
                mine, H5I_DATASET);
    if (opened != nullptr) find_opened_dataset(as_object(opened));
    return opened;
  });
}

herr_t read(size_t count, void* objects[], hid_t types[], hid_t memory[], hid_t file[], hid_t list,
            void* buffers[], void**) {
  return guarded("dataset read", [&]() -> herr_t {
    for (size_t i = 0; i < count; ++i) {
      auto& mine = as_object(objects[i]);
      if (mine.dataset) {
        read_elements(mine.log->file, *mine.dataset, types[i],
                      selected(mine.dataset->extent(), memory[i], file[i]), list, buffers[i]);
      } else if (H5VLdataset_read(1, &mine.under, mine.connector, &types[i], &memory[i], &file[i],
                                  list, &buffers[i], nullptr) < 0) {
        return -1;
      } else {
        read_mapped(mine, types[i], memory[i], file[i], list, buffers[i]);
      }
    }
    return 0;
  });
}

herr_t write(size_t count, void* objects[], hid_t types[], hid_t memory[], hid_t file[], hid_t list,
             const void* buffers[], void**) {
  return guarded("dataset write", [&]() -> herr_t {
    for (size_t i = 0; i < count; ++i) {
      auto& mine = as_object(objects[i]);
      if (mine.dataset) {
        write_elements(mine.log->file, *mine.dataset, types[i],
                       selected(mine.dataset->extent(), memory[i], file[i]), list, buffers[i]);
      } else if (!write_mapped(mine, types[i], memory[i], file[i], list, buffers[i]) &&
                 H5VLdataset_write(1, &mine.under, mine.connector, &types[i], &memory[i], &file[i],
                                   list, &buffers[i], nullptr) < 0) {
        return -1;
      }
    }
    return 0;
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

/// Whether HDF5 would have given a contiguous dataset its space by now: from the start where many
/// write it, or where the program wants that, else when it is written first.
bool has_space(const Object& mine) {
  H5D_alloc_time_t time = H5D_ALLOC_TIME_LATE;
  if (mine.creation.is_open()) {
    hdf5::check(H5Pget_alloc_time(mine.creation.get(), &time), "H5Pget_alloc_time", a_dataset);
  }
  return time == H5D_ALLOC_TIME_EARLY || mine.log->file.is_parallel() ||
         mine.dataset->has_pending() || !mine.dataset->segments.empty();
}

herr_t get(void* object, H5VL_dataset_get_args_t* args, hid_t list, void**) {
  return guarded("dataset get", [&]() -> herr_t {
    const auto& mine = as_object(object);
    if (mine.dataset && args->op_type == H5VL_DATASET_GET_STORAGE_SIZE) {
      *args->args.get_storage_size.storage_size =
          has_space(mine) ? element_count(mine.dataset->extent()) * mine.dataset->element_bytes()
                          : 0;
      return 0;
    }
    if (mine.dataset && args->op_type == H5VL_DATASET_GET_SPACE_STATUS) {
      *args->args.get_space_status.status =
          has_space(mine) ? H5D_SPACE_STATUS_ALLOCATED : H5D_SPACE_STATUS_NOT_ALLOCATED;
      return 0;
    }
    const auto status = H5VLdataset_get(mine.under, mine.connector, args, list, nullptr);
    if (status >= 0 && mine.dataset && args->op_type == H5VL_DATASET_GET_DCPL) {
      args->args.get_dcpl.dcpl_id = creation_list(mine, args->args.get_dcpl.dcpl_id);
    }
    return status;
  });
}

herr_t specific(void* object, H5VL_dataset_specific_args_t* args, hid_t list, void**) {
  return guarded("dataset specific", [&]() -> herr_t {
    auto& mine = as_object(object);
    if (mine.dataset && args->op_type == H5VL_DATASET_FLUSH) {
      mine.log->file.flush(mine.log->location());
    }
    const auto status = H5VLdataset_specific(mine.under, mine.connector, args, list, nullptr);
    if (status >= 0 && mine.dataset && args->op_type == H5VL_DATASET_SET_EXTENT) {
      const auto* size = args->args.set_extent.size;
      const auto rank = mine.dataset->extent().size();
      mine.log->file.reshape(mine.log->location(), *mine.dataset, Extent(size, size + rank));
    }
    return status;
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

herr_t optional(void* object, H5VL_optional_args_t* args, hid_t list, void**) {
  return guarded("dataset optional", [&]() -> herr_t {
    auto& mine = as_object(object);
    if (mine.dataset && asks_for_chunks(args->op_type)) {
      throw Refusal(
          H5E_DATASET, H5E_UNSUPPORTED,
          "slablog keeps no chunks; use H5Dread and H5Dwrite, or make chunks of the closed "
          "file with h5repack -l CHUNK=... and work with its copy");
    }
    const bool writes = args->op_type == write_n_operation();
    if (!writes && args->op_type != read_n_operation()) {
      return H5VLdataset_optional(mine.under, mine.connector, args, list, nullptr);
    }
    auto& call = *static_cast<slablog_n_args*>(args->args);
    call.taken = mine.dataset ? 1 : 0;
    if (!mine.dataset) return 0;
    const auto elements = boxes(*mine.dataset, call.n, call.starts, call.counts);
    auto& log = mine.log->file;
    if (writes) {
      write_elements(log, *mine.dataset, call.mem_type, elements, list, call.buf);
    } else {
      read_elements(log, *mine.dataset, call.mem_type, elements, list, call.buf);
    }
    return 0;
  });
}

}  // namespace

const H5VL_dataset_class_t dataset_callbacks = {
    create, open, read, write, get, specific, optional, close_through<H5VLdataset_close>};

}  // namespace slabmark::slablog
