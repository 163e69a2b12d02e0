// Where the datasets of a file of HDF5 lie: HDF5 is asked, on one rank or on all.

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "accel/c_library/api/rearrange_format.h"
#include "accel/c_library/api/rearrange_hdf5.h"
#include "accel/c_library/element_type.hpp"
#include "accel/c_library/format.hpp"
#include "storage/hdf5/element_type.hpp"
#include "storage/hdf5/location.hpp"

namespace slabmark::rearrange {

namespace {

// Plain memory, so that one rank can tell the others.
struct Layout {
  slabmark_array array{};
  std::int64_t records = 0;  ///< offsets; 1 where there are no records
};

struct Dataset {
  std::string name;
  Layout layout;
  std::vector<std::int64_t> offsets;  ///< of each record
};

int refused(const char* call, const std::string& name) {
  return slabmark_fail(SLABMARK_EIO, "%s failed for '%s'; H5Eprint2() has HDF5's own reason.", call,
                       name.c_str());
}

/// An object of HDF5, which is closed with this.
class Object {
 public:
  Object(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Object() {
    if (id_ >= 0) close_(id_);
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  hid_t get() const { return id_; }
  bool is_open() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

std::optional<ElementType> type_of(hid_t dataset) {
  const Object type(H5Dget_type(dataset), H5Tclose);
  if (!type.is_open()) return std::nullopt;
  if (H5Tget_class(type.get()) == H5T_STRING && H5Tget_size(type.get()) == 1) {
    return ElementType::character;
  }
  return hdf5::element_type_of(type.get());
}

/// The offsets of chunks that are a step of the first dimension each.
struct Chunks {
  std::vector<std::int64_t>& offsets;
  hsize_t left_out;  ///< of the addresses
  std::size_t found = 0;
};

int take_chunk(const hsize_t* first, unsigned, haddr_t address, hsize_t, void* given) {
  auto& all = *static_cast<Chunks*>(given);
  if (first[0] >= all.offsets.size() || address == HADDR_UNDEF) return H5_ITER_CONT;
  all.offsets[first[0]] = static_cast<std::int64_t>(address + all.left_out);
  ++all.found;
  return H5_ITER_CONT;
}

int inquire_chunks(hid_t dataset, hid_t creation, const std::vector<hsize_t>& extent,
                   Dataset& found, bool& has_space) {
  std::vector<hsize_t> chunk(extent.size());
  if (H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data()) < 0) {
    return refused("H5Pget_chunk", found.name);
  }
  bool is_step = chunk[0] == 1;
  for (std::size_t d = 1; d < chunk.size(); ++d) is_step = is_step && chunk[d] == extent[d];
  if (!is_step) {
    return slabmark_fail(SLABMARK_EFORMAT,
                         "A chunk of dataset '%s' is not one step of its first dimension.",
                         found.name.c_str());
  }
  Chunks all{found.offsets, 0};
  if (!hdf5::left_out_of_chunk_addresses(dataset, all.left_out)) {
    return refused("H5Pget_userblock", found.name);
  }
  if (H5Dchunk_iter(dataset, H5P_DEFAULT, take_chunk, &all) < 0) {
    return refused("H5Dchunk_iter", found.name);
  }
  has_space = all.found == found.offsets.size();
  return SLABMARK_OK;
}

int inquire_layout(hid_t dataset, hid_t creation, Dataset& found) {
  const Object space(H5Dget_space(dataset), H5Sclose);
  const int dims = space.is_open() ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (dims < 0) return refused("H5Dget_space", found.name);
  std::vector<hsize_t> extent(static_cast<std::size_t>(dims));
  H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  const H5D_layout_t layout = H5Pget_layout(creation);
  const bool is_chunked = layout == H5D_CHUNKED;
  slabmark_array& array = found.layout.array;
  array.has_records = is_chunked;
  array.elements = H5Sget_simple_extent_type(space.get()) == H5S_NULL ? 0 : 1;
  for (std::size_t d = is_chunked; d < extent.size(); ++d) {
    array.elements *= static_cast<std::int64_t>(extent[d]);
  }
  found.layout.records = is_chunked ? static_cast<std::int64_t>(extent[0]) : 1;
  if (H5Pget_nfilters(creation) != 0 || H5Pget_external_count(creation) != 0 ||
      (layout != H5D_CONTIGUOUS && !is_chunked)) {
    return slabmark_fail(SLABMARK_EFORMAT,
                         "Dataset '%s' is neither contiguous nor chunked, has filters, or lies in "
                         "other files.",
                         found.name.c_str());
  }
  found.offsets.resize(static_cast<std::size_t>(found.layout.records));
  bool has_space = true;
  if (is_chunked) {
    const int code = inquire_chunks(dataset, creation, extent, found, has_space);
    if (code != SLABMARK_OK) return code;
  } else {
    const haddr_t address = hdf5::allocated_address(dataset);
    found.offsets[0] = static_cast<std::int64_t>(address);
    has_space = address != HADDR_UNDEF || array.elements == 0;
  }
  if (has_space) return SLABMARK_OK;
  return slabmark_fail(SLABMARK_EFORMAT,
                       "Dataset '%s' has no space yet; create it with H5D_ALLOC_TIME_EARLY.",
                       found.name.c_str());
}

/// Not one that is mounted there, or that a link leads to.
bool lies_in(hid_t file, hid_t dataset) {
  H5O_info2_t of_root, of_dataset;
  return H5Oget_info3(file, &of_root, H5O_INFO_BASIC) >= 0 &&
         H5Oget_info3(dataset, &of_dataset, H5O_INFO_BASIC) >= 0 &&
         of_root.fileno == of_dataset.fileno;
}

/// `found` has the name.
int inquire(hid_t file, Dataset& found) {
  hid_t id = H5I_INVALID_HID;
  H5E_BEGIN_TRY { id = H5Dopen2(file, found.name.c_str(), H5P_DEFAULT); }
  H5E_END_TRY
  const Object dataset(id, H5Dclose);
  if (!dataset.is_open()) {
    return slabmark_fail(SLABMARK_EVARIABLE, "The file has no dataset '%s'.", found.name.c_str());
  }
  const Object creation(H5Dget_create_plist(id), H5Pclose);
  if (!creation.is_open()) return refused("H5Dget_create_plist", found.name);
  if (!lies_in(file, id)) {
    return slabmark_fail(SLABMARK_EFORMAT, "Dataset '%s' lies in another file; open that one.",
                         found.name.c_str());
  }
  const auto type = type_of(id);
  if (!type) {
    return slabmark_fail(SLABMARK_EFORMAT,
                         "Dataset '%s' does not hold numbers as this machine does, and nothing is "
                         "converted.",
                         found.name.c_str());
  }
  found.layout.array.type = slabmark_type_of(*type);
  return inquire_layout(id, creation.get(), found);
}

/// A file that the program has open, or that rank 0 has.
class Hdf5File {
 public:
  Hdf5File(int system, MPI_Comm comm) : system_(system), comm_(comm) {}
  ~Hdf5File() { close(); }
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  int open_on_root(const char* path);
  void adopt(hid_t file) {
    file_ = file;
    is_adopted_ = true;
  }
  slabmark_format format() const;

  int inq_varid(const char* name, int* number);
  int inq_array(int number, std::int64_t frame, slabmark_array* array) const;
  int close();

 private:
  int share(Dataset& found) const;

  int system_;
  MPI_Comm comm_;
  hid_t file_ = H5I_INVALID_HID;  ///< invalid where only rank 0 has it
  bool is_adopted_ = false;       ///< all ranks have it, and keep it
  std::vector<Dataset> datasets_;
};

int Hdf5File::open_on_root(const char* path) {
  if (!is_root(comm_)) return SLABMARK_OK;
  H5E_BEGIN_TRY { file_ = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT); }
  H5E_END_TRY
  return file_ >= 0 ? static_cast<int>(SLABMARK_OK)
                    : slabmark_fail(SLABMARK_EIO, "HDF5 cannot open '%s'.", path);
}

/// Rank 0 tells the others what it found.
int Hdf5File::share(Dataset& found) const {
  MPI_Bcast(&found.layout, sizeof found.layout, MPI_BYTE, 0, comm_);
  const int resized = guarded([&] {
    found.offsets.resize(static_cast<std::size_t>(found.layout.records));
    return SLABMARK_OK;
  });
  const int code = slabmark_agree(system_, resized);
  if (code == SLABMARK_OK) {
    MPI_Bcast(found.offsets.data(), static_cast<int>(found.offsets.size()), MPI_INT64_T, 0, comm_);
  }
  return code;
}

// Collective. Where the program has the file open, a dataset may have grown since it was asked for.
int Hdf5File::inq_varid(const char* name, int* number) {
  std::size_t known = 0;
  while (known < datasets_.size() && datasets_[known].name != name) ++known;
  if (known < datasets_.size() && !is_adopted_) {
    *number = static_cast<int>(known);
    return SLABMARK_OK;
  }
  Dataset found;
  int code = guarded([&] {
    found.name = name;
    datasets_.reserve(datasets_.size() + 1);
    return file_ >= 0 ? inquire(file_, found) : static_cast<int>(SLABMARK_OK);
  });
  code = slabmark_agree(system_, code);
  if (code == SLABMARK_OK && !is_adopted_) code = share(found);
  if (code != SLABMARK_OK) return code;
  if (known == datasets_.size()) datasets_.emplace_back();
  datasets_[known] = std::move(found);
  *number = static_cast<int>(known);
  return SLABMARK_OK;
}

int Hdf5File::inq_array(int number, std::int64_t frame, slabmark_array* array) const {
  if (number < 0 || static_cast<std::size_t>(number) >= datasets_.size()) {
    return slabmark_fail(SLABMARK_EVARIABLE,
                         "There is no variable %d; slabmark_inq_varid() gives the numbers.",
                         number);
  }
  const Dataset& its = datasets_[static_cast<std::size_t>(number)];
  *array = its.layout.array;
  if (array->has_records && frame >= its.layout.records) {
    return slabmark_fail(SLABMARK_EFRAME,
                         "Dataset '%s' has space for %lld records, so none for number %lld.",
                         its.name.c_str(), static_cast<long long>(its.layout.records),
                         static_cast<long long>(frame));
  }
  array->offset = its.offsets[array->has_records ? static_cast<std::size_t>(frame) : 0];
  return SLABMARK_OK;
}

int Hdf5File::close() {
  const hid_t file = std::exchange(file_, H5I_INVALID_HID);
  if (is_adopted_ || file < 0 || H5Fclose(file) >= 0) return SLABMARK_OK;
  return refused("H5Fclose", "the file");
}

Hdf5File& file_of(void* context) { return *static_cast<Hdf5File*>(context); }

slabmark_format Hdf5File::format() const {
  slabmark_format format{};
  // The library does not see what the program writes through HDF5.
  format.fresh_from = INT64_MAX;
  format.is_shared = is_adopted_;
  format.inq_varid = [](void* its, const char* name, int* number) {
    return file_of(its).inq_varid(name, number);
  };
  format.inq_array = [](void* its, int number, std::int64_t frame, int, slabmark_array* array) {
    return file_of(its).inq_array(number, frame, array);
  };
  format.close = [](void* its) {
    const std::unique_ptr<Hdf5File> file(static_cast<Hdf5File*>(its));
    return file ? file->close() : static_cast<int>(SLABMARK_OK);
  };
  return format;
}

int check(const char* path, int mode) {
  if (!path) return slabmark_fail(SLABMARK_EARGUMENT, "The path is a null pointer.");
  if (mode == SLABMARK_READ || mode == SLABMARK_WRITE) return SLABMARK_OK;
  return slabmark_fail(SLABMARK_EARGUMENT,
                       "A file of HDF5 is made by HDF5, and opened here with SLABMARK_READ or "
                       "SLABMARK_WRITE.");
}

// Other drivers keep the bytes of a file, or some of them, in memory or in places of their own, and
// without MPI-IO's HDF5 itself keeps chunks.
int check_driver(hid_t file) {
  const Object access(H5Fget_access_plist(file), H5Pclose);
  const hid_t driver = access.is_open() ? H5Pget_driver(access.get()) : H5I_INVALID_HID;
  if (driver >= 0 && driver == H5FD_MPIO) return SLABMARK_OK;
  return slabmark_fail(SLABMARK_EFORMAT,
                       "Only a file that HDF5 has open by MPI-IO can be rearranged beside it; "
                       "see H5Pset_fapl_mpio.");
}

int inquire_path(hid_t file, std::string& path) {
  const ssize_t length = H5Fget_name(file, nullptr, 0);
  if (length < 0) {
    return slabmark_fail(SLABMARK_EHANDLE, "HDF5 knows no open file of this number.");
  }
  path.resize(static_cast<std::size_t>(length));
  H5Fget_name(file, path.data(), path.size() + 1);
  return SLABMARK_OK;
}

}  // namespace

}  // namespace slabmark::rearrange

using namespace slabmark::rearrange;

int slabmark_open_hdf5(int system, const char* path, int mode, MPI_Info info, int* file) {
  MPI_Comm comm = MPI_COMM_NULL;
  int code = slabmark_inq_comm(system, &comm);
  if (code != SLABMARK_OK) return code;
  std::unique_ptr<Hdf5File> its;
  code = guarded([&] {
    its = std::make_unique<Hdf5File>(system, comm);
    const int checked = check(path, mode);
    return checked == SLABMARK_OK ? its->open_on_root(path) : checked;
  });
  code = slabmark_agree(system, code);
  return code == SLABMARK_OK ? open_format(system, path, mode, info, std::move(its), file) : code;
}

int slabmark_adopt_hdf5(int system, hid_t hdf5_file, int mode, MPI_Info info, int* file) {
  MPI_Comm comm = MPI_COMM_NULL;
  int code = slabmark_inq_comm(system, &comm);
  if (code != SLABMARK_OK) return code;
  std::unique_ptr<Hdf5File> its;
  std::string path;
  code = guarded([&] {
    its = std::make_unique<Hdf5File>(system, comm);
    const int found = inquire_path(hdf5_file, path);
    return found == SLABMARK_OK ? check(path.c_str(), mode) : found;
  });
  // All ranks or none: HDF5 duplicates the communicator.
  code = slabmark_agree(system, code);
  if (code == SLABMARK_OK) code = slabmark_agree(system, check_driver(hdf5_file));
  if (code == SLABMARK_OK) code = slabmark_check_adopted(system, path.c_str());
  if (code != SLABMARK_OK) return code;
  its->adopt(hdf5_file);
  return open_format(system, path.c_str(), mode, info, std::move(its), file);
}

// For the Fortran module.
extern "C" {
int slabmark_fortran_open_hdf5(int system, const char* path, int mode, MPI_Fint info, int* file);
int slabmark_fortran_open_hdf5(int system, const char* path, int mode, MPI_Fint info, int* file) {
  return slabmark_open_hdf5(system, path, mode, MPI_Info_f2c(info), file);
}

int slabmark_fortran_adopt_hdf5(int system, hid_t hdf5_file, int mode, MPI_Fint info, int* file);
int slabmark_fortran_adopt_hdf5(int system, hid_t hdf5_file, int mode, MPI_Fint info, int* file) {
  return slabmark_adopt_hdf5(system, hdf5_file, mode, MPI_Info_f2c(info), file);
}
}
