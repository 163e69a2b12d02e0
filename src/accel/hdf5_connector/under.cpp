#include "accel/hdf5_connector/under.hpp"

#include <H5VLconnector_passthru.h>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

#include <H5VLconnector.h>
#include <H5VLnative.h>
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/hdf5/location.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

namespace {

using hdf5::check;
using hdf5::fail;
using hdf5::Handle;
using hdf5::own;

const std::string the_log = "the log";
const std::string a_file = "the file";

/// A dataset or group below the connector that closes itself.
class UnderObject {
 public:
  using Close = herr_t (*)(void*, hid_t, hid_t, void**);

  UnderObject(void* object, hid_t connector, Close close, const char* call)
      : object_(object), connector_(connector), close_(close) {
    if (object_ == nullptr) fail(call, the_log);
  }
  ~UnderObject() { close_(object_, connector_, H5P_DATASET_XFER_DEFAULT, nullptr); }
  UnderObject(const UnderObject&) = delete;
  UnderObject& operator=(const UnderObject&) = delete;

  void* get() const { return object_; }

 private:
  void* object_;
  hid_t connector_;
  Close close_;
};

std::uint64_t address_of(void* dataset, hid_t connector) {
  haddr_t address = HADDR_UNDEF;
  H5VL_native_dataset_optional_args_t native;
  native.get_offset.offset = &address;
  H5VL_optional_args_t args{H5VL_NATIVE_DATASET_GET_OFFSET, &native};
  check(H5VLdataset_optional(dataset, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5Dget_offset", the_log);
  return address;
}

std::uint64_t elements_of(void* dataset, hid_t connector) {
  H5VL_dataset_get_args_t args{};
  args.op_type = H5VL_DATASET_GET_SPACE;
  check(H5VLdataset_get(dataset, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5Dget_space", the_log);
  const hdf5::Space space(Handle(args.args.get_space.space_id, H5Sclose));
  return static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space.get()));
}

/// A name in the log as it is seen from `file`.
const char* seen_from(const Location& file, const std::string& name) {
  if (file.type != H5I_GROUP) return name.c_str();
  return name == log_group ? "." : name.c_str() + log_group.size() + 1;
}

/// `name` must live as long.
H5VL_loc_params_t named(const Location& file, const std::string& name) {
  auto place = self(file.type);
  place.type = H5VL_OBJECT_BY_NAME;
  place.loc_data.loc_by_name = {seen_from(file, name), H5P_LINK_ACCESS_DEFAULT};
  return place;
}

/// An open object of the log, for its attributes. (HDF5 2.2.0 does not find an attribute again that
/// was opened through the name of its object at this level.)
struct Owner {
  Owner(const Location& file, const std::string& name)
      : place(named(file, name)),
        object(H5VLobject_open(file.object, &place, file.connector, &type, H5P_DATASET_XFER_DEFAULT,
                               nullptr),
               file.connector, name == log_group ? H5VLgroup_close : H5VLdataset_close, "H5Oopen") {
    place = self(type);
  }

  H5VL_loc_params_t place;
  H5I_type_t type = H5I_BADID;
  UnderObject object;
};

bool attribute_exists(const Owner& owner, hid_t connector, const char* attribute) {
  bool exists = false;
  H5VL_attr_specific_args_t args{};
  args.op_type = H5VL_ATTR_EXISTS;
  args.args.exists.name = attribute;
  args.args.exists.exists = &exists;
  check(H5VLattr_specific(owner.object.get(), &owner.place, connector, &args,
                          H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5Aexists", the_log);
  return exists;
}

UnderObject open_attribute(const Owner& owner, hid_t connector, const char* attribute) {
  return {H5VLattr_open(owner.object.get(), &owner.place, connector, attribute,
                        H5P_ATTRIBUTE_ACCESS_DEFAULT, H5P_DATASET_XFER_DEFAULT, nullptr),
          connector, H5VLattr_close, "H5Aopen"};
}

}  // namespace

std::string segment_name(std::uint64_t dataset, std::uint64_t flush) {
  return fmt::format("{}/d{}.s{}", log_group, dataset, flush);
}

std::string index_name(std::uint64_t flush) { return fmt::format("{}/index{}", log_group, flush); }

std::string marks_name(std::uint64_t flush) { return fmt::format("{}/marks{}", log_group, flush); }

std::string view_name(std::uint64_t dataset) {
  return fmt::format("{}/d{}.view", log_group, dataset);
}

std::string new_view_name(std::uint64_t dataset) { return view_name(dataset) + ".new"; }

std::string holes_name(std::uint64_t dataset) {
  return fmt::format("{}/d{}.holes", log_group, dataset);
}

std::optional<std::uint64_t> dataset_of_view(const std::string& name) {
  const std::string_view text(name);
  const auto begin = log_group.size() + 2;  // after "/_slablog/d"
  if (!text.starts_with(log_group + "/d") || !text.ends_with(".view")) return std::nullopt;
  const auto digits = text.substr(begin, text.size() - begin - 5);
  std::uint64_t dataset = 0;
  const auto end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, dataset);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return dataset;
}

std::uint64_t create_array(const Location& file, const std::string& name, hid_t type,
                           const Extent& extent, hid_t creation) {
  const auto list = own(creation == H5P_DEFAULT ? H5Pcreate(H5P_DATASET_CREATE) : H5Pcopy(creation),
                        H5Pclose, "H5Pcreate", the_log);
  check(H5Pset_layout(list.get(), H5D_CONTIGUOUS), "H5Pset_layout", the_log);
  check(H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time", the_log);
  check(H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time", the_log);
  const hdf5::Space space(extent);
  const auto place = self(file.type);
  const UnderObject made(
      H5VLdataset_create(file.object, &place, file.connector, seen_from(file, name),
                         H5P_LINK_CREATE_DEFAULT, type, space.get(), list.get(),
                         H5P_DATASET_ACCESS_DEFAULT, H5P_DATASET_XFER_DEFAULT, nullptr),
      file.connector, H5VLdataset_close, "H5Dcreate2");
  return element_count(extent) == 0 ? 0 : address_of(made.get(), file.connector);
}

std::optional<std::uint64_t> allocated_address(void* dataset, hid_t connector) {
  const auto ask_status = [&](H5D_space_status_t& status) {
    H5VL_dataset_get_args_t args{};
    args.op_type = H5VL_DATASET_GET_SPACE_STATUS;
    args.args.get_space_status.status = &status;
    check(H5VLdataset_get(dataset, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
          "H5Dget_space_status", a_file);
    return true;
  };
  const auto ask_address = [&](haddr_t& address) {
    address = address_of(dataset, connector);
    return true;
  };
  haddr_t address = HADDR_UNDEF;
  hdf5::allocated_address(ask_status, ask_address, address);
  return address == HADDR_UNDEF ? std::nullopt : std::optional<std::uint64_t>(address);
}

void* open_at(const Location& file, std::uint64_t address) {
  H5O_token_t token{};
  std::memcpy(&token, &address, sizeof address);
  auto place = self(file.type);
  place.type = H5VL_OBJECT_BY_TOKEN;
  place.loc_data.loc_by_token.token = &token;
  H5I_type_t type = H5I_BADID;
  auto* opened = H5VLobject_open(file.object, &place, file.connector, &type,
                                 H5P_DATASET_XFER_DEFAULT, nullptr);
  if (opened == nullptr) fail("H5Oopen", a_file);
  return opened;
}

void* open_again(void* dataset, hid_t connector, std::uint64_t address) {
  return open_at({dataset, H5I_DATASET, connector}, address);
}

bool has_chunks(void* dataset, hid_t connector) {
  hsize_t chunks = 0;
  H5VL_native_dataset_optional_args_t native;
  native.get_num_chunks = {H5S_ALL, &chunks};
  H5VL_optional_args_t args{H5VL_NATIVE_DATASET_GET_NUM_CHUNKS, &native};
  check(H5VLdataset_optional(dataset, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5Dget_num_chunks", a_file);
  return chunks > 0;
}

std::optional<hdf5::StoredChunk> stored_chunk(void* dataset, hid_t connector, const Extent& first) {
  unsigned mask = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t bytes = 0;
  H5VL_native_dataset_optional_args_t native;
  native.get_chunk_info_by_coord = {first.data(), &mask, &address, &bytes};
  H5VL_optional_args_t args{H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_COORD, &native};
  check(H5VLdataset_optional(dataset, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5Dget_chunk_info_by_coord", a_file);
  if (address == HADDR_UNDEF) return std::nullopt;
  return hdf5::StoredChunk{first, bytes, mask, address};
}

std::uint64_t left_out_of_chunk_addresses(void* file, hid_t connector) {
  if (!hdf5::leaves_out_user_block()) return 0;
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_FCPL;
  check(H5VLfile_get(file, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5Fget_create_plist", a_file);
  const Handle creation(args.args.get_fcpl.fcpl_id, H5Pclose);
  hsize_t user_block = 0;
  check(H5Pget_userblock(creation.get(), &user_block), "H5Pget_userblock", a_file);
  return user_block;
}

std::uint64_t allocate_chunk(void* dataset, hid_t connector, const hdf5::StoredChunk& chunk) {
  return hdf5::chunk_address(a_file, [&](const void* data) {
    H5VL_native_dataset_optional_args_t native;
    native.chunk_write.offset = chunk.first.data();
    native.chunk_write.filters = chunk.mask;
    // HDF5 1.14 has 32 bits for it, as chunks are shorter there.
    native.chunk_write.size = static_cast<decltype(native.chunk_write.size)>(chunk.bytes);
    native.chunk_write.buf = data;
    H5VL_optional_args_t args{H5VL_NATIVE_DATASET_CHUNK_WRITE, &native};
    return H5VLdataset_optional(dataset, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr);
  });
}

Line create_line(const Location& file, const std::string& name, hid_t type,
                 std::uint64_t elements) {
  return {create_array(file, name, type, {elements}, H5P_DEFAULT), elements};
}

std::optional<Line> find_line(const Location& file, const std::string& name) {
  if (!link_exists(file, name)) return std::nullopt;
  const auto place = self(file.type);
  const UnderObject found(
      H5VLdataset_open(file.object, &place, file.connector, seen_from(file, name),
                       H5P_DATASET_ACCESS_DEFAULT, H5P_DATASET_XFER_DEFAULT, nullptr),
      file.connector, H5VLdataset_close, "H5Dopen2");
  return Line{address_of(found.get(), file.connector), elements_of(found.get(), file.connector)};
}

bool link_exists(const Location& file, const std::string& name) {
  const auto place = named(file, name);
  bool exists = false;
  H5VL_link_specific_args_t args{};
  args.op_type = H5VL_LINK_EXISTS;
  args.args.exists.exists = &exists;
  check(H5VLlink_specific(file.object, &place, file.connector, &args, H5P_DATASET_XFER_DEFAULT,
                          nullptr),
        "H5Lexists", the_log);
  return exists;
}

void remove_link(const Location& file, const std::string& name) {
  const auto place = named(file, name);
  H5VL_link_specific_args_t args{};
  args.op_type = H5VL_LINK_DELETE;
  check(H5VLlink_specific(file.object, &place, file.connector, &args, H5P_DATASET_XFER_DEFAULT,
                          nullptr),
        "H5Ldelete", the_log);
}

void remove_link_if_there(const Location& file, const std::string& name) {
  if (link_exists(file, name)) remove_link(file, name);
}

void rename_link(const Location& file, const std::string& from, const std::string& to) {
  const auto old_place = named(file, from);
  const auto new_place = named(file, to);
  check(H5VLlink_move(file.object, &old_place, file.object, &new_place, file.connector,
                      H5P_LINK_CREATE_DEFAULT, H5P_LINK_ACCESS_DEFAULT, H5P_DATASET_XFER_DEFAULT,
                      nullptr),
        "H5Lmove", the_log);
}

void flush_file(const Location& file) {
  H5VL_file_specific_args_t args{};
  args.op_type = H5VL_FILE_FLUSH;
  args.args.flush = {file.type, H5F_SCOPE_GLOBAL};
  check(H5VLfile_specific(file.object, file.connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5Fflush", the_log);
}

void create_log_group(const Location& file) {
  const auto place = self(file.type);
  const UnderObject made(
      H5VLgroup_create(file.object, &place, file.connector, log_group.c_str(),
                       H5P_LINK_CREATE_DEFAULT, H5P_GROUP_CREATE_DEFAULT, H5P_GROUP_ACCESS_DEFAULT,
                       H5P_DATASET_XFER_DEFAULT, nullptr),
      file.connector, H5VLgroup_close, "H5Gcreate2");
}

void set_number(const Location& file, const std::string& object, const char* attribute,
                std::int64_t value) {
  const Owner owner(file, object);
  const hdf5::Space scalar(Extent{});
  const UnderObject made =
      attribute_exists(owner, file.connector, attribute)
          ? open_attribute(owner, file.connector, attribute)
          : UnderObject(
                H5VLattr_create(owner.object.get(), &owner.place, file.connector, attribute,
                                H5T_STD_I64LE, scalar.get(), H5P_ATTRIBUTE_CREATE_DEFAULT,
                                H5P_ATTRIBUTE_ACCESS_DEFAULT, H5P_DATASET_XFER_DEFAULT, nullptr),
                file.connector, H5VLattr_close, "H5Acreate2");
  check(H5VLattr_write(made.get(), file.connector, H5T_NATIVE_INT64, &value,
                       H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5Awrite", the_log);
}

std::optional<std::int64_t> number(const Location& file, const std::string& object,
                                   const char* attribute) {
  const Owner owner(file, object);
  if (!attribute_exists(owner, file.connector, attribute)) return std::nullopt;
  const auto found = open_attribute(owner, file.connector, attribute);
  std::int64_t value = 0;
  check(H5VLattr_read(found.get(), file.connector, H5T_NATIVE_INT64, &value,
                      H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5Aread", the_log);
  return value;
}

}  // namespace slabmark::slablog
