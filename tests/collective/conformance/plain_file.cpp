#include "collective/conformance/plain_file.hpp"

#include <fstream>

#include "collective/conformance/hdf5.hpp"
#include "storage/hdf5/element_type.hpp"
#if SLABMARK_WITH_PNETCDF
#include <pnetcdf.h>

#include "collective/conformance/netcdf.hpp"
#include "storage/mpiio/element_type.hpp"
#endif

namespace slabmark::conformance {

namespace {

class RawFile : public PlainFile {
 public:
  RawFile(const std::string& path, RawOffset offset)
      : file_(path, std::ios::binary), offset_(std::move(offset)) {}

  std::vector<std::byte> read(const Array& array, std::uint64_t record, Run run) override {
    const std::size_t size = size_of(array.type);
    std::vector<std::byte> bytes(run.length * size);
    file_.clear();  // beyond the end are zeros
    file_.seekg(static_cast<std::streamoff>(offset_(array, record) + run.offset * size));
    file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }

 private:
  std::ifstream file_;
  RawOffset offset_;
};

class Hdf5File : public PlainFile {
 public:
  explicit Hdf5File(const std::string& path)
      : path_(path),
        file_(hdf5::own(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "H5Fopen",
                        path)) {}

  std::vector<std::byte> read(const Array& array, std::uint64_t record, Run run) override {
    const auto dataset = open_dataset(file_.get(), array, path_);
    const auto space = hdf5::own(H5Dget_space(dataset.get()), H5Sclose, "H5Dget_space", path_);
    std::vector<std::byte> bytes(run.length * size_of(array.type));
    std::byte* next = bytes.data();
    const Hyperslabs slabs(array, record, {run});
    for (std::size_t i = 0; i < slabs.starts.size(); ++i) {
      const hsize_t length = slabs.counts[i].back();
      const auto memory =
          hdf5::own(H5Screate_simple(1, &length, nullptr), H5Sclose, "H5Screate_simple", path_);
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, slabs.starts[i].data(), nullptr,
                          slabs.counts[i].data(), nullptr);
      hdf5::check(H5Dread(dataset.get(), hdf5::native_type(array.type), memory.get(), space.get(),
                          H5P_DEFAULT, next),
                  "H5Dread", path_);
      next += length * size_of(array.type);
    }
    return bytes;
  }

 private:
  std::string path_;
  hdf5::Handle file_;
};

#if SLABMARK_WITH_PNETCDF
class NetcdfFile : public PlainFile {
 public:
  explicit NetcdfFile(const std::string& path) {
    check_netcdf(ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &ncid_),
                 "ncmpi_open");
  }
  ~NetcdfFile() override { ncmpi_close(ncid_); }

  std::vector<std::byte> read(const Array& array, std::uint64_t record, Run run) override {
    int variable = -1;
    check_netcdf(ncmpi_inq_varid(ncid_, array.name.c_str(), &variable), "ncmpi_inq_varid");
    std::vector<std::byte> bytes(run.length * size_of(array.type));
    std::size_t done = 0;
    const Boxes boxes = boxes_of(array, record, {run});
    for (std::size_t b = 0; b < boxes.starts.size(); ++b) {
      const std::vector<MPI_Offset> start(boxes.starts[b].begin(), boxes.starts[b].end());
      const std::vector<MPI_Offset> count(boxes.counts[b].begin(), boxes.counts[b].end());
      check_netcdf(
          ncmpi_get_vara_all(ncid_, variable, start.data(), count.data(), bytes.data() + done,
                             count.back(), mpiio::mpi_type_of(array.type)),
          "ncmpi_get_vara_all");
      done += boxes.counts[b].back() * size_of(array.type);
    }
    return bytes;
  }

 private:
  int ncid_ = -1;
};
#endif

}  // namespace

std::unique_ptr<PlainFile> open_raw(const std::string& path, RawOffset offset) {
  return std::make_unique<RawFile>(path, std::move(offset));
}

std::unique_ptr<PlainFile> open_hdf5(const std::string& path) {
  return std::make_unique<Hdf5File>(path);
}

#if SLABMARK_WITH_PNETCDF
std::unique_ptr<PlainFile> open_netcdf(const std::string& path) {
  return std::make_unique<NetcdfFile>(path);
}
#endif

Boxes boxes_of(const Array& array, std::uint64_t record, const RunList& runs) {
  Boxes boxes;
  const auto add = [&](Run run) {
    std::vector<std::uint64_t> start(array.extent.size());
    std::uint64_t rest = run.offset;
    for (std::size_t d = array.extent.size(); d-- > 1; rest /= array.extent[d]) {
      start[d] = rest % array.extent[d];
    }
    start[0] = rest;  // also where it leaves the array
    std::vector<std::uint64_t> count(array.extent.size(), 1);
    count.back() = run.length;
    if (array.has_records) {
      start.insert(start.begin(), record);
      count.insert(count.begin(), 1);
    }
    boxes.starts.push_back(std::move(start));
    boxes.counts.push_back(std::move(count));
  };
  for (const Run run : runs) {
    if (run.length == 0) add(run);
    for (const Run part : split_at_rows({&run, 1}, array.extent.back())) add(part);
  }
  return boxes;
}

}  // namespace slabmark::conformance
