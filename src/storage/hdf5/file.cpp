#include "storage/hdf5/file.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"
#include "storage/hdf5/attribute.hpp"
#include "storage/hdf5/placeholder.hpp"

namespace slabmark::hdf5 {

namespace {

Handle property_list(hid_t kind, const std::string& path) {
  return own(H5Pcreate(kind), H5Pclose, "H5Pcreate", path);
}

Handle access_list(const std::string& path, const AccessSettings& settings) {
  silence();
  auto list = without_locks(path);
  check(H5Pset_libver_bounds(list.get(), settings.low, settings.high), "H5Pset_libver_bounds",
        path);
  if (settings.metadata_block > 0) {
    check(H5Pset_meta_block_size(list.get(), settings.metadata_block), "H5Pset_meta_block_size",
          path);
  }
  if (!settings.chunk_cache) {
    check(H5Pset_cache(list.get(), 0, 0, 0, 0), "H5Pset_cache", path);
  }
  return list;
}

#ifdef H5_HAVE_SUBFILING_VFD
void use_subfiling(hid_t list, MPI_Comm comm, MPI_Info info, const std::string& path,
                   std::uint64_t subfiles) {
  check(H5Pset_mpi_params(list, comm, info), "H5Pset_mpi_params", path);
  H5FD_subfiling_config_t config;
  check(H5Pget_fapl_subfiling(list, &config), "H5Pget_fapl_subfiling", path);
  const Handle io_concentrator(config.ioc_fapl_id, H5Pclose);
  if (subfiles > 0) config.shared_cfg.stripe_count = static_cast<std::int32_t>(subfiles);
  check(H5Pset_fapl_subfiling(list, &config), "H5Pset_fapl_subfiling", path);
}
#else
void use_subfiling(hid_t, MPI_Comm, MPI_Info, const std::string& path, std::uint64_t) {
  fail("H5Pset_fapl_subfiling", path);
}
#endif

unsigned creation_flags(const AccessSettings& settings) {
  return settings.replace ? H5F_ACC_TRUNC : H5F_ACC_EXCL;
}

unsigned flags_of(Access access) { return access == Access::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR; }

Handle parallel_access(MPI_Comm comm, MPI_Info info, const std::string& path,
                       const AccessSettings& settings) {
  auto list = access_list(path, settings);
  if (settings.subfiling) {
    use_subfiling(list.get(), comm, info, path, settings.subfiles);
  } else {
    check(H5Pset_fapl_mpio(list.get(), comm, info), "H5Pset_fapl_mpio", path);
  }
  check(H5Pset_all_coll_metadata_ops(list.get(), settings.collective_metadata),
        "H5Pset_all_coll_metadata_ops", path);
  check(H5Pset_alignment(list.get(), settings.align_threshold, settings.alignment),
        "H5Pset_alignment", path);
  check(H5Pset_coll_metadata_write(list.get(), settings.collective_metadata),
        "H5Pset_coll_metadata_write", path);
  if (settings.connector) check(settings.connector(list.get()), "H5Pset_vol", path);
  return list;
}

// Version 1.8 has compact groups; 1.10 would mark the file as open for writing, which tools take
// for broken after a crash.
const AccessSettings compact_groups = {.low = H5F_LIBVER_V18};

using Image = std::unique_ptr<void, decltype(&std::free)>;

// Hands the memory of the driver "core" to the Image that is the callbacks' user data when the
// file is closed.
H5FD_file_image_callbacks_t keep_at_close(Image& memory) {
  using Op = H5FD_file_image_op_t;
  return {.image_malloc = [](std::size_t bytes, Op, void*) { return std::malloc(bytes); },
          .image_memcpy = [](void* to, const void* from, std::size_t bytes, Op,
                             void*) { return std::memcpy(to, from, bytes); },
          .image_realloc = [](void* old, std::size_t bytes, Op,
                              void*) { return std::realloc(old, bytes); },
          .image_free = [](void* bytes, Op op, void* keeper) -> herr_t {
            Image all(bytes, &std::free);
            if (op == H5FD_FILE_IMAGE_OP_FILE_CLOSE) static_cast<Image*>(keeper)->swap(all);
            return 0;
          },
          .udata_copy = [](void* keeper) { return keeper; },
          .udata_free = [](void*) -> herr_t { return 0; },
          .udata = &memory};
}

}  // namespace

Handle without_locks(const std::string& path) {
  auto list = property_list(H5P_FILE_ACCESS, path);
  check(H5Pset_file_locking(list.get(), false, true), "H5Pset_file_locking", path);
  return list;
}

bool is_hdf5(const std::string& path) {
  silence();
  return H5Fis_accessible(path.c_str(), H5P_DEFAULT) > 0;
}

std::string library_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

void start() {
  if (H5open() >= 0) return;
  const auto setting = [](const char* variable) {
    const char* value = std::getenv(variable);
    return value == nullptr ? "not set" : fmt::format("'{}'", value);
  };
  throw InputError(
      fmt::format("HDF5 does not start: HDF5_VOL_CONNECTOR is {}, HDF5_DRIVER is {}; correct or "
                  "unset them.",
                  setting("HDF5_VOL_CONNECTOR"), setting("HDF5_DRIVER")));
}

File File::create_with(const std::string& path, unsigned flags, const Handle& creation,
                       const Handle& access, bool subfiled) {
  const hid_t how = creation.is_open() ? creation.get() : H5P_DEFAULT;
  return {own(H5Fcreate(path.c_str(), flags, how, access.get()), H5Fclose, "H5Fcreate", path), path,
          subfiled};
}

File File::create(MPI_Comm comm, MPI_Info info, const std::string& path,
                  const AccessSettings& settings) {
  return create_with(path, creation_flags(settings), {},
                     parallel_access(comm, info, path, settings), settings.subfiling);
}

File File::open(MPI_Comm comm, MPI_Info info, const std::string& path,
                const AccessSettings& settings, Access access) {
  const auto list = parallel_access(comm, info, path, settings);
  return {own(H5Fopen(path.c_str(), flags_of(access), list.get()), H5Fclose, "H5Fopen", path), path,
          settings.subfiling};
}

File File::create_serial(const std::string& path, const AccessSettings& settings) {
  const auto access = access_list(path, settings);
  if (settings.placeholders) leave_out_placeholders(access.get());
  const auto creation = property_list(H5P_FILE_CREATE, path);
  if (settings.index_node > 0) {
    check(H5Pset_istore_k(creation.get(), (settings.index_node + 1) / 2), "H5Pset_istore_k", path);
  }
  if (settings.creation_order) {
    constexpr unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    check(H5Pset_link_creation_order(creation.get(), order), "H5Pset_link_creation_order", path);
    check(H5Pset_attr_creation_order(creation.get(), order), "H5Pset_attr_creation_order", path);
  }
  return create_with(path, creation_flags(settings), creation, access);
}

File File::create_serial(const std::string& path) {
  // Half a node of a chunk index. With 32, the default, each dataset takes 3.6 KiB before it has
  // data.
  const auto creation = property_list(H5P_FILE_CREATE, path);
  check(H5Pset_istore_k(creation.get(), chunks_a_node / 2), "H5Pset_istore_k", path);
  return create_with(path, H5F_ACC_EXCL, creation, access_list(path, compact_groups));
}

std::vector<std::byte> File::image(const std::function<void(File&)>& build) {
  constexpr std::size_t growth = 64 << 10;
  const std::string name = "an image in memory";
  Image memory(nullptr, &std::free);
  auto callbacks = keep_at_close(memory);
  const auto access = access_list(name, compact_groups);
  check(H5Pset_fapl_core(access.get(), growth, false), "H5Pset_fapl_core", name);
  check(H5Pset_file_image_callbacks(access.get(), &callbacks), "H5Pset_file_image_callbacks", name);
  auto file = create_with(name, H5F_ACC_TRUNC, {}, access);
  build(file);
  file.flush();
  const auto bytes = H5Fget_file_image(file.get(), nullptr, 0);
  if (bytes < 0) fail("H5Fget_file_image", name);
  // Not what H5Fget_file_image copies: that of HDF5 1.14 has a superblock with a wrong checksum.
  file.close();
  const auto* begin = static_cast<const std::byte*>(memory.get());
  return {begin, begin + bytes};
}

File File::open_serial(const std::string& path, Access access) {
  silence();
  return {own(H5Fopen(path.c_str(), flags_of(access), without_locks(path).get()), H5Fclose,
              "H5Fopen", path),
          path};
}

Dataset File::create_dataset(const std::string& name, ElementType type, const Space& space,
                             const CreationSettings& settings) {
  Handle links;
  if (name.find('/') != std::string::npos) {
    links = property_list(H5P_LINK_CREATE, path_);
    check(H5Pset_create_intermediate_group(links.get(), 1), "H5Pset_create_intermediate_group",
          path_);
  }
  return {own(H5Dcreate2(handle_.get(), name.c_str(), native_type(type), space.get(),
                         links.is_open() ? links.get() : H5P_DEFAULT, creation_list(settings).get(),
                         H5P_DEFAULT),
              H5Dclose, "H5Dcreate2", path_),
          type, path_};
}

const Handle& File::creation_list(const CreationSettings& settings) {
  Handle& list = creation_lists_[settings];
  if (!list.is_open()) list = hdf5::creation_list(settings, path_);
  return list;
}

void File::put_attributes(std::span<const Attribute> attributes) {
  hdf5::put_attributes(handle_.get(), attributes, path_);
}

Dataset File::open_dataset(const std::string& name, ElementType type) const {
  return {own(H5Dopen2(handle_.get(), name.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", path_),
          type, path_};
}

bool File::has(const std::string& name) const {
  return H5Lexists(handle_.get(), name.c_str(), H5P_DEFAULT) > 0;
}

bool File::has_attribute(const std::string& name) const {
  return H5Aexists(handle_.get(), name.c_str()) > 0;
}

bool File::reads_metadata_collectively() const {
  const auto list = own(H5Fget_access_plist(handle_.get()), H5Pclose, "H5Fget_access_plist", path_);
  hbool_t is_collective = false;
  check(H5Pget_all_coll_metadata_ops(list.get(), &is_collective), "H5Pget_all_coll_metadata_ops",
        path_);
  return is_collective;
}

void File::link(const std::string& name, const std::string& other) {
  check(H5Lcreate_hard(handle_.get(), name.c_str(), handle_.get(), other.c_str(), H5P_DEFAULT,
                       H5P_DEFAULT),
        "H5Lcreate_hard", path_);
}

Handle File::open_group(const std::string& name) {
  const auto exists = name == "/" ? 1 : H5Lexists(handle_.get(), name.c_str(), H5P_DEFAULT);
  check(exists, "H5Lexists", path_);
  if (exists > 0) {
    return own(H5Gopen2(handle_.get(), name.c_str(), H5P_DEFAULT), H5Gclose, "H5Gopen2", path_);
  }
  return own(H5Gcreate2(handle_.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
             H5Gclose, "H5Gcreate2", path_);
}

MPI_File File::mpi_file() const {
  void* handle = nullptr;
  check(H5Fget_vfd_handle(handle_.get(), H5P_DEFAULT, &handle), "H5Fget_vfd_handle", path_);
  return *static_cast<MPI_File*>(handle);
}

void File::flush() { check(H5Fflush(handle_.get(), H5F_SCOPE_GLOBAL), "H5Fflush", path_); }

void File::sync() {
  if (!subfiled_) check_mpi(MPI_File_sync(mpi_file()), "MPI_File_sync");
}

void File::close() {
  if (handle_.is_open()) check(H5Fclose(handle_.release()), "H5Fclose", path_);
}

}  // namespace slabmark::hdf5
