#include "accel/hdf5_connector/to_canonical/copy_file.hpp"

#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "accel/hdf5_connector/log/find_datasets.hpp"
#include "accel/hdf5_connector/to_canonical/object_map.hpp"
#include "accel/hdf5_connector/to_canonical/references.hpp"
#include "accel/hdf5_connector/under.hpp"
#include "core/base/error.hpp"
#include "storage/hdf5/handle.hpp"
#include "storage/hdf5/space.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slablog {

namespace {

using hdf5::check;
using hdf5::Handle;
using hdf5::own;

struct Link {
  std::string name;
  H5L_info2_t info;
};

herr_t note_link(hid_t, const char* name, const H5L_info2_t* info, void* links) {
  static_cast<std::vector<Link>*>(links)->push_back({name, *info});
  return 0;
}

herr_t note_name(hid_t, const char* name, const H5A_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->push_back(name);
  return 0;
}

H5_index_t order_of(unsigned creation_order) {
  return (creation_order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
}

std::vector<Link> links_of(hid_t group, const std::string& path) {
  const auto list = own(H5Gget_create_plist(group), H5Pclose, "H5Gget_create_plist", path);
  unsigned order = 0;
  check(H5Pget_link_creation_order(list.get(), &order), "H5Pget_link_creation_order", path);
  std::vector<Link> links;
  check(H5Literate2(group, order_of(order), H5_ITER_INC, nullptr, note_link, &links), "H5Literate2",
        path);
  return links;
}

std::vector<std::string> attributes_of(hid_t object, const std::string& path) {
  // Nobody but the object's creation list knows the order, and each kind has another call for it.
  Handle list;
  const auto kind = H5Iget_type(object);
  if (kind == H5I_GROUP) list = {H5Gget_create_plist(object), H5Pclose};
  if (kind == H5I_DATASET) list = {H5Dget_create_plist(object), H5Pclose};
  if (kind == H5I_DATATYPE) list = {H5Tget_create_plist(object), H5Pclose};
  unsigned order = 0;
  check(H5Pget_attr_creation_order(list.get(), &order), "H5Pget_attr_creation_order", path);
  std::vector<std::string> names;
  check(H5Aiterate2(object, order_of(order), H5_ITER_INC, nullptr, note_name, &names),
        "H5Aiterate2", path);
  return names;
}

std::string joined(const std::string& group, const std::string& name) {
  return group == "/" ? "/" + name : group + "/" + name;
}

class Copy {
 public:
  Copy(hid_t from, hid_t to) : from_(from), to_(to) {}

  std::map<std::uint64_t, std::uint64_t> run() {
    const auto from = opened(from_, "/");
    objects_.add(token_of(from.get()), "/");
    describe(from.get(), opened(to_, "/").get(), "/");
    copy_links("/");
    // Only now everything is there that a reference may lead to.
    const References references(from_, to_, objects_);
    for (const auto& [path, attribute] : attributes_) {
      references.copy_attribute(opened(from_, path).get(), opened(to_, path).get(), attribute);
    }
    for (const auto& path : datasets_) {
      references.copy_elements(opened(from_, path).get(), opened(to_, path).get());
    }
    return std::move(addresses_);
  }

 private:
  static Handle opened(hid_t file, const std::string& path) {
    return own(H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose, "H5Oopen", path);
  }

  void copy_links(const std::string& group) {
    for (const auto& link : links_of(opened(from_, group).get(), group)) {
      const auto path = joined(group, link.name);
      if (path != log_group) copy_link(path, link.info);
    }
  }

  void copy_link(const std::string& path, const H5L_info2_t& info) {
    const auto list = own(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "H5Pcreate", path);
    check(H5Pset_char_encoding(list.get(), info.cset), "H5Pset_char_encoding", path);
    if (info.type != H5L_TYPE_HARD) {
      copy_value(path, info, list.get());
    } else if (const auto* known = objects_.path(info.u.token)) {
      check(H5Lcreate_hard(to_, known->c_str(), to_, path.c_str(), list.get(), H5P_DEFAULT),
            "H5Lcreate_hard", path);
    } else {
      objects_.add(info.u.token, path);
      copy_object(path, list.get());
    }
  }

  /// Of a link that holds where it leads to.
  void copy_value(const std::string& path, const H5L_info2_t& info, hid_t list) {
    std::vector<char> value(info.u.val_size + 1);
    check(H5Lget_val(from_, path.c_str(), value.data(), info.u.val_size, H5P_DEFAULT), "H5Lget_val",
          path);
    if (info.type == H5L_TYPE_SOFT) {
      check(H5Lcreate_soft(value.data(), to_, path.c_str(), list, H5P_DEFAULT), "H5Lcreate_soft",
            path);
    } else {
      check(H5Lcreate_ud(to_, path.c_str(), info.type, value.data(), info.u.val_size, list,
                         H5P_DEFAULT),
            "H5Lcreate_ud", path);
    }
  }

  void copy_object(const std::string& path, hid_t links) {
    const auto from = opened(from_, path);
    const auto kind = H5Iget_type(from.get());
    if (kind == H5I_GROUP) {
      copy_group(from.get(), path, links);
    } else if (kind == H5I_DATATYPE) {
      const auto type = committed(from.get());
      check(H5Olink(type, to_, path.c_str(), links, H5P_DEFAULT), "H5Olink", path);
      describe(from.get(), type, path);
    } else if (kind == H5I_DATASET) {
      copy_dataset(from.get(), path, links);
    } else {
      throw IoError(fmt::format(
          "'{}' is neither a group, a dataset nor a type; remove it and convert again.", path));
    }
  }

  void copy_group(hid_t from, const std::string& path, hid_t links) {
    const auto list = own(H5Gget_create_plist(from), H5Pclose, "H5Gget_create_plist", path);
    const auto made = own(H5Gcreate2(to_, path.c_str(), links, list.get(), H5P_DEFAULT), H5Gclose,
                          "H5Gcreate2", path);
    describe(from, made.get(), path);
    copy_links(path);
  }

  void copy_dataset(hid_t from, const std::string& path, hid_t links) {
    const auto list = own(H5Dget_create_plist(from), H5Pclose, "H5Dget_create_plist", path);
    if (const auto number = number_of(list.get())) {
      addresses_[*number] = make_contiguous(from, path, links, list.get());
      return;
    }
    const auto copying = own(H5Pcreate(H5P_OBJECT_COPY), H5Pclose, "H5Pcreate", path);
    check(H5Pset_copy_object(copying.get(), H5O_COPY_MERGE_COMMITTED_DTYPE_FLAG),
          "H5Pset_copy_object", path);
    check(H5Ocopy(from_, path.c_str(), to_, path.c_str(), copying.get(), links), "H5Ocopy", path);
    // HDF5 copies references as they are or as nothing.
    for (const auto& name : attributes_of(from, path)) {
      const auto attribute =
          own(H5Aopen(from, name.c_str(), H5P_DEFAULT), H5Aclose, "H5Aopen", path);
      const auto type = own(H5Aget_type(attribute.get()), H5Tclose, "H5Aget_type", path);
      if (holds_references(type.get())) attributes_.push_back({path, name});
    }
    const auto type = own(H5Dget_type(from), H5Tclose, "H5Dget_type", path);
    if (holds_references(type.get())) datasets_.push_back(path);
  }

  std::uint64_t make_contiguous(hid_t from, const std::string& path, hid_t links, hid_t list) {
    // Every element will be written.
    check(H5Pset_layout(list, H5D_CONTIGUOUS), "H5Pset_layout", path);
    check(H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time", path);
    check(H5Pset_fill_time(list, H5D_FILL_TIME_NEVER), "H5Pset_fill_time", path);
    const hdf5::Space old(own(H5Dget_space(from), H5Sclose, "H5Dget_space", path));
    const hdf5::Space space(old.extent());
    const auto type = own(H5Dget_type(from), H5Tclose, "H5Dget_type", path);
    const auto made = own(
        H5Dcreate2(to_, path.c_str(), in_output(type.get()), space.get(), links, list, H5P_DEFAULT),
        H5Dclose, "H5Dcreate2", path);
    describe(from, made.get(), path);
    return H5Dget_offset(made.get());
  }

  /// A type of the input, as it is called in the output.
  hid_t in_output(hid_t type) { return H5Tcommitted(type) > 0 ? committed(type) : type; }

  /// The copy of a committed type, which may be used before the walk comes to its name.
  hid_t committed(hid_t type) {
    const auto token = token_of(type);
    auto& known = types_[{reinterpret_cast<const char*>(&token), sizeof token}];
    if (!known.is_open()) {
      known = own(H5Tcopy(type), H5Tclose, "H5Tcopy", "a committed type");
      const auto list =
          own(H5Tget_create_plist(type), H5Pclose, "H5Tget_create_plist", "a committed type");
      check(H5Tcommit_anon(to_, known.get(), list.get(), H5P_DEFAULT), "H5Tcommit_anon",
            "a committed type");
    }
    return known.get();
  }

  /// Comment and attributes; what holds references gets its value later.
  void describe(hid_t from, hid_t to, const std::string& path) {
    const auto length = H5Oget_comment(from, nullptr, 0);
    if (length > 0) {
      std::vector<char> comment(static_cast<std::size_t>(length) + 1);
      H5Oget_comment(from, comment.data(), comment.size());
      check(H5Oset_comment(to, comment.data()), "H5Oset_comment", path);
    }
    for (const auto& name : attributes_of(from, path)) copy_attribute(from, to, path, name);
  }

  void copy_attribute(hid_t from, hid_t to, const std::string& path, const std::string& name) {
    const auto old = own(H5Aopen(from, name.c_str(), H5P_DEFAULT), H5Aclose, "H5Aopen", path);
    const auto type = own(H5Aget_type(old.get()), H5Tclose, "H5Aget_type", path);
    const auto space = own(H5Aget_space(old.get()), H5Sclose, "H5Aget_space", path);
    const auto list = own(H5Aget_create_plist(old.get()), H5Pclose, "H5Aget_create_plist", path);
    const auto made = own(
        H5Acreate2(to, name.c_str(), in_output(type.get()), space.get(), list.get(), H5P_DEFAULT),
        H5Aclose, "H5Acreate2", path);
    if (holds_references(type.get())) {
      attributes_.push_back({path, name});
      return;
    }
    const auto count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get()));
    if (count == 0) return;
    const auto memory = own(H5Tcopy(type.get()), H5Tclose, "H5Tcopy", path);
    std::vector<char> value(count * H5Tget_size(memory.get()));
    check(H5Aread(old.get(), memory.get(), value.data()), "H5Aread", path);
    const auto status = H5Awrite(made.get(), memory.get(), value.data());
    H5Treclaim(memory.get(), space.get(), H5P_DEFAULT, value.data());
    check(status, "H5Awrite", path);
  }

  struct Attribute {
    std::string path;
    std::string name;
  };

  hid_t from_;
  hid_t to_;
  ObjectMap objects_;
  std::map<std::string, Handle> types_;  ///< committed ones, by the token of the original
  std::map<std::uint64_t, std::uint64_t> addresses_;
  std::vector<Attribute> attributes_;  ///< that hold references
  std::vector<std::string> datasets_;  ///< whose elements hold references
};

/// The bytes that an application keeps in front of HDF5's own.
void copy_user_block(hid_t creation, const std::string& path, const std::string& output) {
  hsize_t bytes = 0;
  check(H5Pget_userblock(creation, &bytes), "H5Pget_userblock", path);
  if (bytes == 0) return;
  std::vector<std::byte> block(bytes);
  posix::File::open(path, posix::File::Access::read).read_at(0, block.data(), bytes);
  auto target = posix::File::open(output, posix::File::Access::write);
  target.write_at(0, block.data(), bytes);
  target.close();
}

}  // namespace

std::map<std::uint64_t, std::uint64_t> copy_without_log(hid_t input, const std::string& path,
                                                        const std::string& output) {
  const auto creation = own(H5Fget_create_plist(input), H5Pclose, "H5Fget_create_plist", path);
  const auto access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", output);
  check(H5Pset_vol(access.get(), H5VL_NATIVE, nullptr), "H5Pset_vol", output);
  check(H5Pset_fapl_sec2(access.get()), "H5Pset_fapl_sec2", output);
  // The oldest format that holds each object; one of the input may need a new one.
  check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST),
        "H5Pset_libver_bounds", output);
  auto file = own(H5Fcreate(output.c_str(), H5F_ACC_EXCL, creation.get(), access.get()), H5Fclose,
                  "H5Fcreate", output);
  auto addresses = Copy(input, file.get()).run();
  check(H5Fclose(file.release()), "H5Fclose", output);
  copy_user_block(creation.get(), path, output);
  return addresses;
}

}  // namespace slabmark::slablog
