#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "accel/hdf5_connector/api/slablog.h"
#include "core/parallel/comm.hpp"
#include "scratch.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::slablog {

/// Gives HDF5 a filter, in this process.
inline void register_filter(H5Z_filter_t number, const char* name, H5Z_func_t filter) {
  const H5Z_class2_t all = {H5Z_CLASS_T_VERS, number, 1, 1, name, nullptr, nullptr, filter};
  ASSERT_GE(H5Zregister(&all), 0);
}

/// Files in a folder of their own, which all ranks share and which lies in `parent`, through the
/// connector as a program loads it: a plugin, by path.
class LogFileTest : public ::testing::Test {
 protected:
  using Dims = std::vector<hsize_t>;

  explicit LogFileTest(const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : world_(MPI_COMM_WORLD), scratch_(world_, parent) {
    // SLABLOG_TEST_ERRORS=1 shows what HDF5 says, also where a test expects a failure.
    if (std::getenv("SLABLOG_TEST_ERRORS") == nullptr) H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLprepend(SLABLOG_PLUGINS);
  }

  int rank() const { return world_.rank(); }
  int ranks() const { return world_.size(); }
  std::string path(const std::string& name) const { return scratch_.file(name); }

  static hdf5::Handle handle(hid_t id, hdf5::Handle::Close close) {
    EXPECT_GE(id, 0);
    return {id, close};
  }

  /// An access list; `options` null: without the connector.
  hdf5::Handle access(const char* options, bool parallel = true) const {
    auto list = handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    if (parallel) H5Pset_fapl_mpio(list.get(), world_.get(), MPI_INFO_NULL);
    if (options != nullptr) {
      EXPECT_GE(slablog_set(list.get(), options), 0);
    }
    return list;
  }

  hdf5::Handle create(const std::string& name, const char* options = "") const {
    const auto list = access(options);
    return handle(H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), H5Fclose);
  }

  hdf5::Handle open(const std::string& name, unsigned flags = H5F_ACC_RDONLY,
                    const char* options = "") const {
    const auto list = access(options);
    return handle(H5Fopen(path(name).c_str(), flags, list.get()), H5Fclose);
  }

  /// By this rank alone, without the connector.
  hdf5::Handle open_plainly(const std::string& name) const {
    const auto list = access(nullptr, false);
    return handle(H5Fopen(path(name).c_str(), H5F_ACC_RDONLY, list.get()), H5Fclose);
  }

  static hdf5::Handle dataset(const hdf5::Handle& file, const char* name, const Dims& dims,
                              hid_t type = H5T_NATIVE_INT, hid_t creation = H5P_DEFAULT,
                              const Dims& most = {}) {
    const auto space = handle(H5Screate_simple(static_cast<int>(dims.size()), dims.data(),
                                               most.empty() ? nullptr : most.data()),
                              H5Sclose);
    return handle(
        H5Dcreate2(file.get(), name, type, space.get(), H5P_DEFAULT, creation, H5P_DEFAULT),
        H5Dclose);
  }

  static hdf5::Handle opened(const hdf5::Handle& file, const char* name) {
    return handle(H5Dopen2(file.get(), name, H5P_DEFAULT), H5Dclose);
  }

  /// The whole dataset.
  static std::vector<int> all(const hdf5::Handle& dataset) {
    const auto space = handle(H5Dget_space(dataset.get()), H5Sclose);
    std::vector<int> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())),
                            -7);
    EXPECT_GE(H5Dread(dataset.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
              0);
    return values;
  }

  std::vector<int> all_plainly(const std::string& name, const char* which) const {
    const auto file = open_plainly(name);
    return all(opened(file, which));
  }

  /// For calls that all ranks make together.
  static hdf5::Handle together() {
    auto list = handle(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
    H5Pset_dxpl_mpio(list.get(), H5FD_MPIO_COLLECTIVE);
    return list;
  }

  /// H5Dwrite_n of boxes.
  static herr_t write_n(const hdf5::Handle& dataset, std::vector<Dims> starts,
                        std::vector<Dims> counts, std::vector<int> values,
                        hid_t list = H5P_DEFAULT) {
    std::vector<hsize_t*> start;
    std::vector<hsize_t*> count;
    for (auto& one : starts) start.push_back(one.data());
    for (auto& one : counts) count.push_back(one.data());
    return H5Dwrite_n(dataset.get(), H5T_NATIVE_INT, static_cast<int>(starts.size()), start.data(),
                      count.data(), list, values.data());
  }

  static std::vector<int> read_n(const hdf5::Handle& dataset, std::vector<Dims> starts,
                                 std::vector<Dims> counts, std::size_t elements) {
    std::vector<hsize_t*> start;
    std::vector<hsize_t*> count;
    for (auto& one : starts) start.push_back(one.data());
    for (auto& one : counts) count.push_back(one.data());
    std::vector<int> values(elements, -7);
    EXPECT_GE(H5Dread_n(dataset.get(), H5T_NATIVE_INT, static_cast<int>(starts.size()),
                        start.data(), count.data(), H5P_DEFAULT, values.data()),
              0);
    return values;
  }

  /// What HDF5 says of the call that has just failed.
  static std::string reason() {
    std::string said;
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned, const H5E_error2_t* entry, void* text) -> herr_t {
          *static_cast<std::string*>(text) += entry->desc;
          return 0;
        },
        &said);
    return said;
  }

  hsize_t mine(hsize_t n = 0) const { return static_cast<hsize_t>(rank()) + n; }

  Comm world_;
  Scratch scratch_;
};

}  // namespace slabmark::slablog
