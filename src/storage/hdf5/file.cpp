#include "storage/hdf5/file.hpp"

#include <vector>

#include <fmt/format.h>

#include "parallel/comm.hpp"

namespace slabmark::hdf5 {

namespace {

Handle property_list(hid_t kind, const std::string& path) {
  return own(H5Pcreate(kind), H5Pclose, "H5Pcreate", path);
}

Handle parallel_access(MPI_Comm comm, MPI_Info info, const std::string& path,
                       const AccessSettings& settings) {
  silence();
  auto list = property_list(H5P_FILE_ACCESS, path);
  check(H5Pset_fapl_mpio(list.get(), comm, info), "H5Pset_fapl_mpio", path);
  check(H5Pset_libver_bounds(list.get(), settings.low, settings.high), "H5Pset_libver_bounds",
        path);
  check(H5Pset_all_coll_metadata_ops(list.get(), settings.collective_metadata),
        "H5Pset_all_coll_metadata_ops", path);
  check(H5Pset_coll_metadata_write(list.get(), settings.collective_metadata),
        "H5Pset_coll_metadata_write", path);
  if (settings.connector) check(settings.connector(list.get()), "H5Pset_vol", path);
  return list;
}

}  // namespace

std::string library_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

File File::create(MPI_Comm comm, MPI_Info info, const std::string& path,
                  const AccessSettings& settings) {
  const auto access = parallel_access(comm, info, path, settings);
  return {own(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get()), H5Fclose,
              "H5Fcreate", path),
          path};
}

File File::open(MPI_Comm comm, MPI_Info info, const std::string& path,
                const AccessSettings& settings) {
  const auto access = parallel_access(comm, info, path, settings);
  return {own(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose, "H5Fopen", path),
          path};
}

File File::open_serial(const std::string& path) {
  silence();
  return {own(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "H5Fopen", path), path};
}

Dataset File::create_dataset(const std::string& name, ElementType type, const Space& space,
                             const CreationSettings& settings) {
  const auto links = property_list(H5P_LINK_CREATE, path_);
  check(H5Pset_create_intermediate_group(links.get(), 1), "H5Pset_create_intermediate_group",
        path_);
  const auto creation = property_list(H5P_DATASET_CREATE, path_);
  check(H5Pset_fill_time(creation.get(), settings.fill), "H5Pset_fill_time", path_);
  check(H5Pset_alloc_time(creation.get(), settings.alloc), "H5Pset_alloc_time", path_);
  if (!settings.chunk.empty()) {
    const std::vector<hsize_t> chunk(settings.chunk.begin(), settings.chunk.end());
    check(H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()),
          "H5Pset_chunk", path_);
  }
  return {own(H5Dcreate2(handle_.get(), name.c_str(), native_type(type), space.get(), links.get(),
                         creation.get(), H5P_DEFAULT),
              H5Dclose, "H5Dcreate2", path_),
          type, path_};
}

Dataset File::open_dataset(const std::string& name, ElementType type) const {
  return {own(H5Dopen2(handle_.get(), name.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", path_),
          type, path_};
}

MPI_File File::mpi_file() const {
  void* handle = nullptr;
  check(H5Fget_vfd_handle(handle_.get(), H5P_DEFAULT, &handle), "H5Fget_vfd_handle", path_);
  return *static_cast<MPI_File*>(handle);
}

void File::flush() { check(H5Fflush(handle_.get(), H5F_SCOPE_GLOBAL), "H5Fflush", path_); }

void File::sync() {
  flush();
  check_mpi(MPI_File_sync(mpi_file()), "MPI_File_sync");
}

void File::close() {
  if (handle_.is_open()) check(H5Fclose(handle_.release()), "H5Fclose", path_);
}

}  // namespace slabmark::hdf5
