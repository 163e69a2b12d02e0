// Datasets: their definition, the calls that move elements, changes of their extent.
#include <algorithm>
#include <string>
#include <vector>

#include "accel/hdf5_connector/api/slablog.h"
#include "capture/interpose/hdf5/describe.hpp"
#include "capture/interpose/hdf5/forward.hpp"
#include "capture/interpose/hdf5/selection.hpp"

namespace slabmark::capture {

namespace {

/// One of the lists that HDF5 says of a dataset; closed by the caller.
H5VL_dataset_get_args_t get(const Object& mine, H5VL_dataset_get_t what) {
  H5VL_dataset_get_args_t args{};
  args.op_type = what;
  if (hdf5().H5VLdataset_get(mine.under, mine.connector, &args, hdf5().default_transfer(),
                             nullptr) < 0) {
    args.args.get_space.space_id = H5I_INVALID_HID;  // the first of each of the structures
  }
  return args;
}

std::vector<std::uint64_t> extent_now(const Object& mine, bool* is_null = nullptr) {
  const auto space = get(mine, H5VL_DATASET_GET_SPACE).args.get_space.space_id;
  if (space < 0) return {};
  auto extent = extent_of(space);
  if (is_null != nullptr) *is_null = hdf5().H5Sget_simple_extent_type(space) == H5S_NULL;
  hdf5().H5Sclose(space);
  return extent;
}

/// Enters a dataset that is open below.
void enter(Object& dataset, hid_t type, hid_t space, hid_t creation) {
  auto name = name_of(dataset, H5I_DATASET);
  if (name.empty()) {  // H5Dcreate_anon; each is one of its own
    static std::uint64_t number = 0;
    name = "unnamed " + std::to_string(++number);
  }
  dataset.dataset = define_dataset(name, type, space, creation);
  H5O_info2_t info;
  H5VL_object_get_args_t args{};
  args.op_type = H5VL_OBJECT_GET_INFO;
  args.args.get_info = {H5O_INFO_BASIC, &info};
  const auto place = self(H5I_DATASET);
  if (hdf5().H5VLobject_get(dataset.under, &place, dataset.connector, &args,
                            hdf5().default_transfer(), nullptr) >= 0) {
    dataset.file = file_of(info.fileno, dataset);
  }
}

void* create_dataset(void* object, const H5VL_loc_params_t* place, const char* name, hid_t links,
                     hid_t type, hid_t space, hid_t creation, hid_t access, hid_t list,
                     void** request) {
  const Call call;
  const auto& mine = as_object(object);
  auto* made = wrapped(hdf5().H5VLdataset_create(mine.under, place, mine.connector, name, links,
                                                 type, space, creation, access, list, request),
                       mine);
  wrap_request(request, mine);
  if (!call.is_user_call()) return made;
  static const auto id = define_call("H5Dcreate", "define");
  if (made == nullptr) {
    record({.call = id, .file = mine.file, .flags = failed});
    return nullptr;
  }
  auto& dataset = as_object(made);
  enter(dataset, type, space, creation);
  record({.call = id, .file = dataset.file, .dataset = dataset.dataset});
  return made;
}

void* open_dataset(void* object, const H5VL_loc_params_t* place, const char* name, hid_t access,
                   hid_t list, void** request) {
  const Call call;
  const auto& mine = as_object(object);
  auto* opened = wrapped(
      hdf5().H5VLdataset_open(mine.under, place, mine.connector, name, access, list, request),
      mine);
  wrap_request(request, mine);
  if (opened == nullptr || !call.is_user_call()) return opened;
  record_opened(as_object(opened));
  return opened;
}

/// The shape that dense memory has by itself: the box, all of the dataset, else a line.
std::vector<std::uint64_t> natural_shape(const Selected& file) {
  if (file.kind == Selected::Kind::all) return file.extent;
  const auto rank = file.extent.size();
  if (file.kind == Selected::Kind::blocks && file.numbers.size() == 2 * rank) {
    return {file.numbers.begin() + static_cast<std::ptrdiff_t>(rank), file.numbers.end()};
  }
  if (file.kind == Selected::Kind::hyperslab) {
    std::vector<std::uint64_t> shape(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      shape[d] = file.numbers[2 * rank + d] * file.numbers[3 * rank + d];
    }
    return shape;
  }
  return {};  // a line, of as many elements
}

void add_boxes(const Selected& from, Boxes& boxes) {
  const auto rank = from.extent.size();
  boxes.clear(rank);
  const std::vector<std::uint64_t> ones(rank, 1);
  const auto* numbers = from.numbers.data();
  const auto* end = numbers + from.numbers.size();
  switch (from.kind) {
    case Selected::Kind::none:
      return;
    case Selected::Kind::all:
      boxes.add(std::vector<std::uint64_t>(rank, 0).data(), from.extent.data());
      return;
    case Selected::Kind::points:
      for (; numbers != end; numbers += rank) boxes.add(numbers, ones.data());
      return;
    case Selected::Kind::hyperslab:
      for (; numbers != end; numbers += 4 * rank) {
        boxes.add(numbers, numbers + rank, numbers + 2 * rank, numbers + 3 * rank);
      }
      return;
    case Selected::Kind::blocks:
      for (; numbers != end; numbers += 2 * rank) boxes.add(numbers, numbers + rank);
  }
}

/// The transfer of one dataset of a call; lives until the call is recorded.
struct Part {
  Selected file;
  Selected memory;
  bool is_dense = true;
  Id type = no_id;
};

/// True if memory holds the elements one after another in their natural shape.
bool is_dense(hid_t memory, const Part& part) {
  if (memory == H5S_BLOCK) return true;
  if (memory == H5S_ALL) return part.file.kind == Selected::Kind::all;
  if (part.memory.kind == Selected::Kind::none) return true;
  const auto& extent = part.memory.extent;
  const bool is_all =
      part.memory.kind == Selected::Kind::all ||
      (part.memory.kind == Selected::Kind::blocks &&
       part.memory.numbers.size() == 2 * extent.size() &&
       std::equal(extent.begin(), extent.end(),
                  part.memory.numbers.begin() + static_cast<std::ptrdiff_t>(extent.size())));
  const auto natural = natural_shape(part.file);
  return is_all && (natural.empty() ? extent.size() <= 1 : natural == extent);
}

bool describe_part(Object& mine, hid_t type, hid_t memory, hid_t file, Part& part) {
  identify(mine);
  part.type = memory_type(type);
  bool is_null = false;  // of a dataset without elements
  const auto whole = file == H5S_ALL ? extent_now(mine, &is_null) : std::vector<std::uint64_t>();
  if (!selected_by(file, whole, part.file)) return false;
  if (is_null) part.file.kind = Selected::Kind::none;
  if (memory == H5S_ALL) {  // as in the file
    part.memory = part.file;
  } else if (memory != H5S_BLOCK && !selected_by(memory, {}, part.memory)) {
    return false;
  }
  part.is_dense = is_dense(memory, part);
  return true;
}

/// The request of a call, described before it is made, so that HDF5's errors are the call's.
class Transfer {
 public:
  Transfer(bool is_programs, std::size_t count, void* objects[], const hid_t types[],
           const hid_t memory[], const hid_t file[], hid_t list) {
    if (!is_programs) return;
    quietly([&] {
      std::vector<Part> parts(count);
      for (std::size_t i = 0; i < count; ++i) {
        if (!describe_part(as_object(objects[i]), types[i], memory[i], file[i], parts[i])) {
          count_uncaptured("H5Dread or H5Dwrite with a selection of a kind that is not known");
          return;
        }
      }
      list_ = transfer_list(list);
      flags_ = is_collective(list);
      parts_ = std::move(parts);
    });
  }

  void record_as(unsigned direction, void* objects[], herr_t status) {
    if (!parts_.empty()) quietly([&] { record_parts(direction, objects, status); });
  }

 private:
  void record_parts(unsigned direction, void* objects[], herr_t status) {
    const bool is_write = direction == writes;
    const auto* const name = parts_.size() > 1 ? (is_write ? "H5Dwrite_multi" : "H5Dread_multi")
                                               : (is_write ? "H5Dwrite" : "H5Dread");
    const auto id = define_call(name, is_write ? "write" : "read");
    static thread_local Boxes selection;
    static thread_local Boxes memory;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto& part = parts_[i];
      const auto& mine = as_object(objects[i]);
      const bool is_all = part.file.kind == Selected::Kind::all;
      if (!is_all) add_boxes(part.file, selection);
      if (!part.is_dense) {
        add_boxes(part.memory, memory);
        memory.set_extent(part.memory.extent.data());
      }
      // Points are walked in their order, boxes in that of the array: which of them are points.
      const std::int64_t points =
          (part.file.kind == Selected::Kind::points ? 1 : 0) |
          (!part.is_dense && part.memory.kind == Selected::Kind::points ? 2 : 0);
      record(
          {.call = id,
           .file = mine.file,
           .dataset = mine.dataset,
           .flags = direction | flags_ | failed_if(status) | (i > 0 ? unsigned{one_more_part} : 0),
           .type = part.type,
           .details = list_,
           .selection = is_all ? nullptr : &selection,
           .rank = part.file.extent.size(),
           .memory = part.is_dense ? nullptr : &memory,
           .arguments = {&points, points == 0 ? 0U : 1U}});
    }
  }

  std::vector<Part> parts_;
  Id list_ = no_id;
  unsigned flags_ = 0;
};

std::vector<void*> under(std::size_t count, void* const objects[]) {
  std::vector<void*> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = as_object(objects[i]).under;
  return all;
}

/// `below`: H5VLdataset_read or H5VLdataset_write, `buffers` being const for the latter.
template <auto below, unsigned direction, class Buffers>
herr_t move(size_t count, void* objects[], hid_t types[], hid_t memory[], hid_t file[], hid_t list,
            Buffers buffers, void** request) {
  const Call call;
  if (count == 0) return 0;
  Transfer transfer(call.is_user_call(), count, objects, types, memory, file, list);
  const auto& mine = as_object(objects[0]);
  const auto status = (hdf5().*below)(count, under(count, objects).data(), mine.connector, types,
                                      memory, file, list, buffers, request);
  wrap_request(request, mine);
  transfer.record_as(direction, objects, status);
  return status;
}

constexpr auto* read = move<&Hdf5::H5VLdataset_read, reads, void**>;
constexpr auto* write = move<&Hdf5::H5VLdataset_write, writes, const void**>;

herr_t dataset_specific(void* object, H5VL_dataset_specific_args_t* args, hid_t list,
                        void** request) {
  const Call call;
  if (call.is_user_call()) identify(as_object(object));
  const auto mine = as_object(object);  // a refresh may end the object
  std::vector<std::int64_t> extent;
  if (call.is_user_call() && args->op_type == H5VL_DATASET_SET_EXTENT) {
    const auto* size = args->args.set_extent.size;
    extent.assign(size, size + extent_now(mine).size());
  }
  const auto status = hdf5().H5VLdataset_specific(mine.under, mine.connector, args, list, request);
  wrap_request(request, mine);
  if (!call.is_user_call()) return status;
  const auto id = args->op_type == H5VL_DATASET_SET_EXTENT ? define_call("H5Dset_extent", "extent")
                  : args->op_type == H5VL_DATASET_FLUSH    ? define_call("H5Dflush", "flush")
                                                           : define_call("H5Drefresh", "other");
  record({.call = id,
          .file = mine.file,
          .dataset = mine.dataset,
          .flags = failed_if(status),
          .arguments = extent});
  return status;
}

/// The number of an operation of the log connector; -1 where that is not loaded.
int operation_of_slablog(const char* name) {
  const QuietErrors quiet;
  int number = -1;
  return hdf5().H5VLfind_opt_operation(H5VL_SUBCLS_DATASET, name, &number) < 0 ? -1 : number;
}

/// H5Dwrite_n or H5Dread_n of the log connector.
void record_n(Object& mine, const slablog_n_args& args, bool is_write, hid_t list, herr_t status) {
  if (args.taken == 0) return;  // the program calls H5Dwrite instead
  static thread_local Boxes selection;
  const auto rank = extent_now(mine).size();
  selection.clear(rank);
  for (std::size_t i = 0; i < args.n; ++i) selection.add(args.starts[i], args.counts[i]);
  record({.call = is_write ? define_call("H5Dwrite_n", "write") : define_call("H5Dread_n", "read"),
          .file = mine.file,
          .dataset = mine.dataset,
          .flags = (is_write ? unsigned{writes} : unsigned{reads}) | failed_if(status),
          .type = memory_type(args.mem_type),
          .details = transfer_list(list),
          .selection = &selection,
          .rank = rank});
}

herr_t dataset_optional(void* object, H5VL_optional_args_t* args, hid_t list, void** request) {
  const Call call;
  auto& mine = as_object(object);
  const bool is_n = call.is_user_call() && args->op_type >= H5VL_RESERVED_NATIVE_OPTIONAL;
  const bool is_write = is_n && args->op_type == operation_of_slablog(SLABLOG_WRITE_N);
  const bool is_read = is_n && args->op_type == operation_of_slablog(SLABLOG_READ_N);
  if (is_n) identify(mine);
  const auto status = hdf5().H5VLdataset_optional(mine.under, mine.connector, args, list, request);
  wrap_request(request, mine);
  if (!call.is_user_call() || status < 0) return status;
  if (is_write || is_read) {
    record_n(mine, *static_cast<const slablog_n_args*>(args->args), is_write, list, status);
  } else if (args->op_type == H5VL_NATIVE_DATASET_CHUNK_WRITE) {
    count_uncaptured("H5Dwrite_chunk");
  } else if (args->op_type == H5VL_NATIVE_DATASET_CHUNK_READ) {
    count_uncaptured("H5Dread_chunk");
  }
  return status;
}

herr_t close_dataset(void* object, hid_t list, void** request) {
  const Call call;
  const auto mine = as_object(object);
  const auto status = close_through<&Hdf5::H5VLdataset_close>(object, list, request);
  if (call.is_user_call() && mine.dataset != no_id) {
    record({.call = define_call("H5Dclose", "other"),
            .file = mine.file,
            .dataset = mine.dataset,
            .flags = failed_if(status)});
  }
  return status;
}

}  // namespace

std::string name_of(const Object& object, H5I_type_t type) {
  std::size_t length = 0;
  H5VL_object_get_args_t args{};
  args.op_type = H5VL_OBJECT_GET_NAME;
  args.args.get_name = {0, nullptr, &length};
  const auto place = self(type);
  const auto ask = [&] {
    return hdf5().H5VLobject_get(object.under, &place, object.connector, &args,
                                 hdf5().default_transfer(), nullptr) >= 0;
  };
  if (!ask()) return "";
  std::string name(length, '\0');
  args.args.get_name.buf = name.data();
  args.args.get_name.buf_size = length + 1;
  return ask() ? name : "";
}

void identify(Object& dataset) {
  if (dataset.dataset != no_id) return;
  const auto type = get(dataset, H5VL_DATASET_GET_TYPE).args.get_type.type_id;
  const auto space = get(dataset, H5VL_DATASET_GET_SPACE).args.get_space.space_id;
  const auto creation = get(dataset, H5VL_DATASET_GET_DCPL).args.get_dcpl.dcpl_id;
  enter(dataset, type, space, creation);
  if (type > 0) hdf5().H5Tclose(type);
  if (space > 0) hdf5().H5Sclose(space);
  if (creation > 0) hdf5().H5Pclose(creation);
}

void record_opened(Object& dataset) {
  identify(dataset);
  record(
      {.call = define_call("H5Dopen", "other"), .file = dataset.file, .dataset = dataset.dataset});
}

const H5VL_dataset_class_t dataset_callbacks = {
    create_dataset,   open_dataset,     read,         write, forward<&Hdf5::H5VLdataset_get>,
    dataset_specific, dataset_optional, close_dataset};

}  // namespace slabmark::capture
