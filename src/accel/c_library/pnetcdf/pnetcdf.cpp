// Where the variables of a file of PnetCDF lie. PnetCDF is asked, on one rank or on all; the header
// stays its own, but for the number of records in a file that no rank has open there.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <pnetcdf.h>

#include "accel/c_library/api/rearrange_format.h"
#include "accel/c_library/api/rearrange_pnetcdf.h"
#include "accel/c_library/element_type.hpp"
#include "accel/c_library/format.hpp"
#include "collective/locator/netcdf_locator.hpp"
#include "storage/mpiio/element_type.hpp"
#include "storage/pnetcdf/types/element_type.hpp"

namespace slabmark::rearrange {

namespace {

using collective::NetcdfLocator;

int refused(const char* call, int error) {
  return slabmark_fail(error == NC_ENOTVAR ? SLABMARK_EVARIABLE : SLABMARK_EIO, "%s failed: %s.",
                       call, ncmpi_strerror(error));
}

// Plain memory, so that one rank can tell the others.

struct Variable {
  slabmark_array first;  ///< its first record, if it has records
  char name[NC_MAX_NAME + 1];
};

struct Header {
  std::int64_t record_bytes = 0, records = 0;
  std::int64_t padding = 0;
  int format = 0;  ///< as ncmpi_inq_format() says
  int count = 0;
};

class PnetcdfFile {
 public:
  PnetcdfFile(MPI_Comm comm, std::string path) : comm_(comm), path_(std::move(path)) {}

  int open_on_root(const char* path, const int* taken, MPI_Info info);
  int share(int system);
  int adopt(int ncid) {
    locator_.emplace(collective::NetcdfFunctions::linked(), ncid);
    ncid_ = ncid;
    return inquire_header(ncid);
  }
  slabmark_format format() const;

  int inq_varid(const char* name, int* number) const;
  int inq_array(int number, std::int64_t frame, bool writing, slabmark_array* array);
  std::int64_t records();
  int grow(std::int64_t records, int number, int rank, const slabmark_element* element);
  int sync(std::int64_t records, bool durable);

 private:
  int inquire_header(int ncid);
  int inquire_array(int number, slabmark_array* array);
  int inquire_all(int ncid);
  int enter_records(std::int64_t records, bool durable);
  bool is_adopted() const { return ncid_ >= 0; }

  Header header_;
  std::vector<Variable> variables_;  ///< of a file that no rank has open; else PnetCDF is asked
  std::int64_t records_ = 0;         ///< also those that the header does not know of yet
  int ncid_ = -1;                    ///< of a file that the program has open
  std::optional<NetcdfLocator> locator_;
  MPI_Comm comm_;
  std::string path_;
};

// A call that is refused for its variable, if not before for the mode.
bool is_in_define_mode(int ncid) {
  const MPI_Offset first = 0;
  signed char value = 0;
  return ncmpi_get_var1_schar(ncid, NC_GLOBAL, &first, &value) == NC_EINDEFINE;
}

// In a file that the program has open its variables may have moved, and records, or variables, come
// since it was asked for.
int PnetcdfFile::inquire_header(int ncid) {
  if (is_in_define_mode(ncid)) {
    return slabmark_fail(SLABMARK_EFORMAT,
                         "Nobody knows where variables of a file in define mode lie; call "
                         "ncmpi_enddef before.");
  }
  locator_->forget();
  header_.count = locator_->variables();
  header_.record_bytes = static_cast<std::int64_t>(locator_->record_bytes());
  header_.padding = static_cast<std::int64_t>(locator_->padding());
  header_.records = static_cast<std::int64_t>(locator_->records());
  int error = locator_->error();
  if (error == NC_NOERR) error = ncmpi_inq_format(ncid, &header_.format);
  if (error != NC_NOERR) return refused("ncmpi_inq", error);
  records_ = header_.records;
  if (header_.format == NC_FORMAT_CLASSIC || header_.format == NC_FORMAT_CDF2 ||
      header_.format == NC_FORMAT_CDF5) {
    return SLABMARK_OK;
  }
  return slabmark_fail(SLABMARK_EFORMAT,
                       "Only the classic formats of netCDF, CDF-1, 2 and 5, are rearranged.");
}

int PnetcdfFile::inquire_array(int number, slabmark_array* array) {
  const auto* const found = locator_->variable(number);
  if (!found) return refused("ncmpi_inq_var", locator_->error());
  const auto type = pnetcdf::element_type_of(found->type);
  if (!type) {
    return slabmark_fail(SLABMARK_EFORMAT, "Variable %d is of an unknown type.", number);
  }
  *array = {slabmark_type_of(*type), static_cast<std::int64_t>(found->shape.elements()),
            static_cast<std::int64_t>(found->offset), found->shape.has_records};
  return SLABMARK_OK;
}

/// Asks PnetCDF for all.
int PnetcdfFile::inquire_all(int ncid) {
  locator_.emplace(collective::NetcdfFunctions::linked(), ncid);
  int code = inquire_header(ncid);
  if (code != SLABMARK_OK) return code;
  variables_.resize(static_cast<std::size_t>(header_.count));
  for (int v = 0; code == SLABMARK_OK && v < header_.count; ++v) {
    Variable& its = variables_[static_cast<std::size_t>(v)];
    code = inquire_array(v, &its.first);
    if (code != SLABMARK_OK) return code;
    const int error = ncmpi_inq_varname(ncid, v, its.name);
    if (error != NC_NOERR) return refused("ncmpi_inq_var", error);
  }
  return code;
}

int PnetcdfFile::inq_varid(const char* name, int* number) const {
  if (is_adopted() && ncmpi_inq_varid(ncid_, name, number) == NC_NOERR) return SLABMARK_OK;
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    if (std::strcmp(variables_[v].name, name) != 0) continue;
    *number = static_cast<int>(v);
    return SLABMARK_OK;
  }
  return slabmark_fail(SLABMARK_EVARIABLE, "The file has no variable '%s'.", name);
}

int PnetcdfFile::inq_array(int number, std::int64_t frame, bool writing, slabmark_array* array) {
  if (is_adopted()) {
    int code = inquire_header(ncid_);
    if (code == SLABMARK_OK) code = inquire_array(number, array);
    if (code != SLABMARK_OK) return code;
  } else if (number < 0 || number >= header_.count) {
    return slabmark_fail(SLABMARK_EVARIABLE, "The file has no variable %d.", number);
  } else {
    *array = variables_[static_cast<std::size_t>(number)].first;
  }
  if (!array->has_records) return SLABMARK_OK;
  if (!writing && frame >= records_) {
    return slabmark_fail(SLABMARK_EFRAME, "The file has %lld records, so none of number %lld.",
                         static_cast<long long>(records_), static_cast<long long>(frame));
  }
  array->offset += frame * header_.record_bytes;
  return SLABMARK_OK;
}

std::int64_t PnetcdfFile::records() {
  return is_adopted() ? static_cast<std::int64_t>(locator_->records()) : records_;
}

// PnetCDF enters the number of records into the header, and into all that it knows, when one is
// written. One element does: one that the plan writes too, so that nobody's is changed, and it is
// all the same which of the two comes first. All ranks put it, for PnetCDF 1.15.0 does not count
// records with ranks that put nothing.
int PnetcdfFile::grow(std::int64_t records, int number, int rank, const slabmark_element* element) {
  if (!is_adopted()) {
    records_ = std::max(records_, records);
    return SLABMARK_OK;
  }
  struct {
    std::int64_t index;
    unsigned char value[8];
  } told = {};
  const auto* const variable = locator_->variable(number);
  const auto type = variable ? pnetcdf::element_type_of(variable->type) : std::nullopt;
  if (element && type) {
    told.index = element->index;
    std::memcpy(told.value, element->value, size_of(*type));
  }
  MPI_Bcast(&told, sizeof told, MPI_BYTE, rank, comm_);
  if (!type) return refused("ncmpi_inq_var", locator_->error());
  const auto& lengths = variable->shape.lengths;
  std::vector<MPI_Offset> start(lengths.size(), 0), count(lengths.size(), 1);
  MPI_Offset rest = told.index;
  for (std::size_t d = lengths.size(); d-- > 1; rest /= lengths[d]) start[d] = rest % lengths[d];
  start[0] = static_cast<MPI_Offset>(records) - 1;
  const int error = ncmpi_put_vara_all(ncid_, number, start.data(), count.data(), told.value, 1,
                                       mpiio::mpi_type_of(*type));
  return error == NC_NOERR ? SLABMARK_OK : refused("ncmpi_put_vara_all", error);
}

// For a file that no rank has open. After the four bytes of its kind the header has the number of
// records, big-endian, in 4 bytes, or in 8 in CDF-5.
int PnetcdfFile::enter_records(std::int64_t records, bool durable) {
  const int bytes = header_.format == NC_FORMAT_CDF5 ? 8 : 4;
  std::array<unsigned char, 8> number{};
  for (int b = 0; b < bytes; ++b) {
    number[static_cast<std::size_t>(b)] =
        static_cast<unsigned char>(static_cast<std::uint64_t>(records) >> (8 * (bytes - 1 - b)));
  }
  MPI_File file = MPI_FILE_NULL;
  MPI_Status status;
  int written = 0;
  int error = MPI_File_open(MPI_COMM_SELF, path_.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (error == MPI_SUCCESS) {
    error = MPI_File_write_at(file, 4, number.data(), bytes, MPI_BYTE, &status);
    if (error == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &written);
    if (error == MPI_SUCCESS && durable) error = MPI_File_sync(file);
    const int closed = MPI_File_close(&file);
    if (error == MPI_SUCCESS) error = closed;
  }
  if (error != MPI_SUCCESS || written != bytes) {
    return slabmark_fail(SLABMARK_EIO, "The number of records could not be written to '%s'.",
                         path_.c_str());
  }
  header_.records = records;
  return SLABMARK_OK;
}

int PnetcdfFile::sync(std::int64_t records, bool durable) {
  if (is_adopted() || !is_root(comm_) || records <= header_.records) return SLABMARK_OK;
  return enter_records(records, durable);
}

PnetcdfFile& file_of(void* context) { return *static_cast<PnetcdfFile*>(context); }

slabmark_format PnetcdfFile::format() const {
  slabmark_format format{};
  format.swaps_bytes = std::endian::native == std::endian::little;
  // Where PnetCDF has the file open the first variable with records may come yet.
  const bool may_come = is_adopted() && header_.record_bytes == 0;
  format.padding = may_come ? 0 : header_.padding;
  // The library does not see what the program writes through PnetCDF.
  format.fresh_from = is_adopted() ? INT64_MAX : -1;
  format.is_shared = is_adopted();
  format.inq_varid = [](void* its, const char* name, int* number) {
    return file_of(its).inq_varid(name, number);
  };
  format.inq_array = [](void* its, int number, std::int64_t frame, int writing,
                        slabmark_array* array) {
    return guarded([&] { return file_of(its).inq_array(number, frame, writing != 0, array); });
  };
  format.inq_records = [](void* its) { return file_of(its).records(); };
  format.grow = [](void* its, std::int64_t records, int number, int rank,
                   const slabmark_element* element) {
    return guarded([&] { return file_of(its).grow(records, number, rank, element); });
  };
  format.sync = [](void* its, std::int64_t records, int durable) {
    return file_of(its).sync(records, durable != 0);
  };
  format.close = [](void* its) {
    delete static_cast<PnetcdfFile*>(its);
    return static_cast<int>(SLABMARK_OK);
  };
  return format;
}

/// Rank 0 tells the others what it knows.
int PnetcdfFile::share(int system) {
  MPI_Bcast(&header_, sizeof header_, MPI_BYTE, 0, comm_);
  records_ = header_.records;
  const int resized = guarded([&] {
    variables_.resize(static_cast<std::size_t>(header_.count));
    return SLABMARK_OK;
  });
  const int code = slabmark_agree(system, resized);
  if (code != SLABMARK_OK) return code;
  // Many a variable has a long header, and MPI counts in int.
  for (int v = 0; v < header_.count; v += 1024) {
    const int some = std::min(header_.count - v, 1024);
    MPI_Bcast(variables_.data() + v, some * static_cast<int>(sizeof(Variable)), MPI_BYTE, 0, comm_);
  }
  return SLABMARK_OK;
}

int refuse_mode(int mode) {
  if (mode == SLABMARK_READ || mode == SLABMARK_WRITE) return SLABMARK_OK;
  return slabmark_fail(
      SLABMARK_EARGUMENT,
      "A file of PnetCDF is made by PnetCDF, and opened here with SLABMARK_READ or "
      "SLABMARK_WRITE.");
}

/// The path by which PnetCDF has the file open.
int inquire_path(int ncid, std::string& path) {
  int length = 0;
  const int error = ncmpi_inq_path(ncid, &length, nullptr);
  if (error != NC_NOERR) {
    return slabmark_fail(SLABMARK_EHANDLE, "PnetCDF knows no open file %d: %s.", ncid,
                         ncmpi_strerror(error));
  }
  std::vector<char> text(static_cast<std::size_t>(length) + 1);
  ncmpi_inq_path(ncid, nullptr, text.data());
  path = text.data();
  return SLABMARK_OK;
}

/// The file that a rank has defined becomes one to open.
int end_definition(int ncid, const char* path) {
  std::string own;
  const int code = inquire_path(ncid, own);
  if (code != SLABMARK_OK) return code;
  struct stat named {
  }, its{};
  if (stat(own.c_str(), &its) == 0 && stat(path, &named) == 0 &&
      (its.st_dev != named.st_dev || its.st_ino != named.st_ino)) {
    return slabmark_fail(SLABMARK_EARGUMENT, "PnetCDF's file %d is '%s', and not '%s'.", ncid,
                         own.c_str(), path);
  }
  const int error = ncmpi_enddef(ncid);
  return error == NC_NOERR || error == NC_ENOTINDEFINE ? static_cast<int>(SLABMARK_OK)
                                                       : refused("ncmpi_enddef", error);
}

/// Rank 0 asks PnetCDF, by `taken` if that is a file that it has open.
int PnetcdfFile::open_on_root(const char* path, const int* taken, MPI_Info info) {
  if (!is_root(comm_)) return SLABMARK_OK;
  int ncid = -1;
  if (taken) {
    ncid = *taken;
    const int code = end_definition(ncid, path);
    if (code != SLABMARK_OK) return code;
  } else {
    const int error = ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, info, &ncid);
    if (error != NC_NOERR) {
      return slabmark_fail(SLABMARK_EIO, "PnetCDF cannot open '%s': %s.", path,
                           ncmpi_strerror(error));
    }
  }
  const int code = inquire_all(ncid);
  const int error = ncmpi_close(ncid);
  locator_.reset();
  if (code == SLABMARK_OK && error != NC_NOERR) return refused("ncmpi_close", error);
  // The number of records is entered when the program may have gone elsewhere. A path that stands
  // for itself no more, but for a prefix of MPI-IO's, stays.
  const std::unique_ptr<char, decltype(&std::free)> there(realpath(path_.c_str(), nullptr),
                                                          std::free);
  if (there) path_ = there.get();
  return code;
}

/// Rank 0 opens the file, and tells the others.
int open_through_root(int system, const char* path, const int* taken, int mode, MPI_Info info,
                      int* file) {
  MPI_Comm comm = MPI_COMM_NULL;
  int code = slabmark_inq_comm(system, &comm);
  if (code != SLABMARK_OK) return code;
  std::unique_ptr<PnetcdfFile> its;
  code = guarded([&] {
    if (!path) return slabmark_fail(SLABMARK_EARGUMENT, "The path is a null pointer.");
    its = std::make_unique<PnetcdfFile>(comm, path);
    const int refused = refuse_mode(mode);
    return refused == SLABMARK_OK ? its->open_on_root(path, taken, info) : refused;
  });
  code = slabmark_agree(system, code);
  if (code == SLABMARK_OK) code = its->share(system);
  return code == SLABMARK_OK ? open_format(system, path, mode, info, std::move(its), file) : code;
}

}  // namespace

}  // namespace slabmark::rearrange

using namespace slabmark::rearrange;

int slabmark_open_pnetcdf(int system, const char* path, int mode, MPI_Info info, int* file) {
  return open_through_root(system, path, nullptr, mode, info, file);
}

int slabmark_take_pnetcdf(int system, const char* path, int ncid, MPI_Info info, int* file) {
  return open_through_root(system, path, &ncid, SLABMARK_WRITE, info, file);
}

int slabmark_adopt_pnetcdf(int system, int ncid, int mode, MPI_Info info, int* file) {
  MPI_Comm comm = MPI_COMM_NULL;
  int code = slabmark_inq_comm(system, &comm);
  if (code != SLABMARK_OK) return code;
  std::string path;
  std::unique_ptr<PnetcdfFile> its;
  code = guarded([&] {
    int found = inquire_path(ncid, path);
    if (found == SLABMARK_OK) found = refuse_mode(mode);
    if (found != SLABMARK_OK) return found;
    its = std::make_unique<PnetcdfFile>(comm, path);
    return its->adopt(ncid);
  });
  code = slabmark_agree(system, code);
  if (code == SLABMARK_OK) code = slabmark_check_adopted(system, path.c_str());
  if (code != SLABMARK_OK) return code;
  return open_format(system, path.c_str(), mode, info, std::move(its), file);
}

// For the Fortran module.
extern "C" {
int slabmark_fortran_open_pnetcdf(int system, const char* path, int mode, MPI_Fint info, int* file);
int slabmark_fortran_open_pnetcdf(int system, const char* path, int mode, MPI_Fint info,
                                  int* file) {
  return slabmark_open_pnetcdf(system, path, mode, MPI_Info_f2c(info), file);
}

int slabmark_fortran_take_pnetcdf(int system, const char* path, int ncid, MPI_Fint info, int* file);
int slabmark_fortran_take_pnetcdf(int system, const char* path, int ncid, MPI_Fint info,
                                  int* file) {
  return slabmark_take_pnetcdf(system, path, ncid, MPI_Info_f2c(info), file);
}

int slabmark_fortran_adopt_pnetcdf(int system, int ncid, int mode, MPI_Fint info, int* file);
int slabmark_fortran_adopt_pnetcdf(int system, int ncid, int mode, MPI_Fint info, int* file) {
  return slabmark_adopt_pnetcdf(system, ncid, mode, MPI_Info_f2c(info), file);
}
}
