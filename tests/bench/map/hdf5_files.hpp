#pragma once

#include <hdf5_hl.h>
#include <string>
#include <vector>

#include <hdf5.h>

#include "bench/map/map_files.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark {

/// How a hand-made map is stored.
struct Hdf5Flavor {
  bool is_netcdf = false;  ///< dimensions as scales; otherwise as E3SM-IO's attributes
  hid_t type = H5T_STD_I32LE;
  hsize_t chunk = 0;  ///< with gzip; 0: contiguous
};

/// Dimensions, variables and attributes of a file that the calling process makes by itself.
class Hdf5MapFile {
 public:
  Hdf5MapFile(const std::string& path, Hdf5Flavor flavor)
      : flavor_(flavor),
        file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose) {}

  hid_t get() const { return file_.get(); }

  void add_dimension(const std::string& name, std::size_t length) {
    if (!flavor_.is_netcdf) {
      const hdf5::Handle space(H5Screate(H5S_SCALAR), H5Sclose);
      put_attribute("-DIM_" + name, H5T_STD_U64LE, space, {static_cast<long long>(length)});
      return;
    }
    const std::vector<hsize_t> dims = {length};
    const hdf5::Handle space(H5Screate_simple(1, dims.data(), nullptr), H5Sclose);
    const hdf5::Handle scale(H5Dcreate2(get(), name.c_str(), H5T_IEEE_F32BE, space.get(),
                                        H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                             H5Dclose);
    H5DSset_scale(scale.get(), "This is a netCDF dimension but not a netCDF variable.");
  }

  void add_attribute(const std::string& name, const std::vector<long long>& values) {
    const hsize_t length = values.size();
    const hdf5::Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    put_attribute(name, flavor_.type, space, values);
  }

  /// With `shape` empty, a line of the values; without values, a variable that is never written.
  void add_variable(const std::string& name, const std::vector<long long>& values,
                    std::vector<hsize_t> shape = {}) {
    if (shape.empty()) shape = {values.size()};
    const hdf5::Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (flavor_.chunk > 0) {
      const std::vector<hsize_t> chunk(shape.size(), flavor_.chunk);
      H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data());
      H5Pset_deflate(list.get(), 1);
    }
    const hdf5::Handle space(
        H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
    const hdf5::Handle dataset(H5Dcreate2(get(), name.c_str(), flavor_.type, space.get(),
                                          H5P_DEFAULT, list.get(), H5P_DEFAULT),
                               H5Dclose);
    if (values.empty()) return;
    H5Dwrite(dataset.get(), H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }

  void remove(const std::string& name) { H5Ldelete(get(), name.c_str(), H5P_DEFAULT); }

 private:
  void put_attribute(const std::string& name, hid_t type, const hdf5::Handle& space,
                     const std::vector<long long>& values) {
    const hdf5::Handle attribute(
        H5Acreate2(get(), name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    H5Awrite(attribute.get(), H5T_NATIVE_LLONG, values.data());
  }

  Hdf5Flavor flavor_;
  hdf5::Handle file_;
};

inline Hdf5MapFile begin_hdf5_map(const std::string& path, const HandMadeMap& map,
                                  Hdf5Flavor flavor) {
  Hdf5MapFile file(path, flavor);
  file.add_dimension("num_decomp", 1);
  file.add_dimension("decomp_nprocs", map.nreqs.size());
  file.add_dimension("D1.total_nreqs", map.offsets.size());
  file.add_attribute("D1.ndims", {static_cast<long long>(map.dims.size())});
  file.add_attribute("D1.dims", map.dims);
  file.add_variable("D1.nreqs", map.nreqs);
  if (map.fill_starts) file.add_variable("D1.fill_starts", *map.fill_starts);
  file.add_variable("D1.offsets", map.offsets);
  file.add_variable("D1.lengths", map.lengths);
  return file;
}

/// Makes the file by the calling process alone, with whatever faults the map has.
inline void make_hdf5_map(const std::string& path, const HandMadeMap& map, Hdf5Flavor flavor = {}) {
  begin_hdf5_map(path, map, flavor);
}

}  // namespace slabmark
