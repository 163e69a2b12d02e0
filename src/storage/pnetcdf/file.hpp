#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <mpi.h>
#include <pnetcdf.h>

#include "core/base/error.hpp"

namespace slabmark::pnetcdf {

/// A PnetCDF call that failed. The message names call, file, rank and reason; the code lets a
/// caller tell "no such attribute" from an I/O error.
class CallError : public IoError {
 public:
  CallError(const std::string& message, int code) : IoError(message), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

/// Throws CallError if `code` is not NC_NOERR.
inline void check(int code, const char* call, const std::string& path, int rank) {
  if (code == NC_NOERR) return;
  throw CallError(fmt::format("{} failed on \"{}\" on rank {}: {} ({}).", call, path, rank,
                              ncmpi_strerror(code), ncmpi_strerrno(code)),
                  code);
}

/// "1.12.3": the version of the library at run time.
inline std::string library_version() {
  const std::string text = ncmpi_inq_libvers();  // "version = 1.12.3 of 27 Oct 2022"
  const std::size_t first = text.find_first_of("0123456789");
  if (first == std::string::npos) return text;
  return text.substr(first, text.find(' ', first) - first);
}

/// True if it is of that major and minor version or newer.
inline bool library_is_since(std::pair<int, int> version) {
  int major = 0, minor = 0;
  std::sscanf(library_version().c_str(), "%d.%d", &major, &minor);
  return std::pair{major, minor} >= version;
}

/// Most heap memory that the library has held so far on this rank, in bytes. Nothing where it was
/// built without tracing, as Debian's is.
inline std::optional<std::uint64_t> largest_heap() {
  MPI_Offset bytes = 0;
  if (ncmpi_inq_malloc_max_size(&bytes) != NC_NOERR) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

/// A variable as the header describes it.
struct VariableInfo {
  nc_type type = NC_NAT;
  std::vector<int> dimensions;  ///< identifiers, slowest first
};

/// An open file, collective over the communicator it was opened with; closed with it. One inline
/// function per C call, named after it. Calls whose name ends in `_all`, those of define mode,
/// open, create and close are collective; i-calls and inquiries are not. Starts and counts have one
/// entry per dimension, in elements, slowest dimension first.
class File {
 public:
  /// `mode` as for ncmpi_create: NC_CLOBBER or NC_NOCLOBBER, with NC_64BIT_DATA for CDF-5.
  static File create(MPI_Comm comm, const std::string& path, int mode,
                     MPI_Info info = MPI_INFO_NULL) {
    File file(comm, path);
    file.check(ncmpi_create(comm, path.c_str(), mode, info, &file.id_), "ncmpi_create");
    file.is_open_ = true;
    return file;
  }

  static File open(MPI_Comm comm, const std::string& path, int mode = NC_NOWRITE,
                   MPI_Info info = MPI_INFO_NULL) {
    File file(comm, path);
    file.check(ncmpi_open(comm, path.c_str(), mode, info, &file.id_), "ncmpi_open");
    file.is_open_ = true;
    return file;
  }

  /// Requests still open here were left by an error: nothing more is written to them.
  ~File() {
    if (is_open_) ncmpi_abort(id_);
  }
  File(File&& other) noexcept
      : path_(std::move(other.path_)),
        rank_(other.rank_),
        id_(other.id_),
        is_open_(std::exchange(other.is_open_, false)) {}
  File& operator=(File&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(rank_, other.rank_);
    std::swap(id_, other.id_);
    std::swap(is_open_, other.is_open_);
    return *this;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int id() const { return id_; }
  /// The same; it is the caller's to close from now on.
  int release() {
    is_open_ = false;
    return id_;
  }
  const std::string& path() const { return path_; }

  void close() {
    is_open_ = false;  // the library frees the file even where closing fails
    check(ncmpi_close(id_), "ncmpi_close");
  }

  // Define mode.
  int def_dim(const std::string& name, std::uint64_t length) {
    return made<int>("ncmpi_def_dim", ncmpi_def_dim, name.c_str(), static_cast<MPI_Offset>(length));
  }
  int def_var(const std::string& name, nc_type type, std::span<const int> dims) {
    return made<int>("ncmpi_def_var", ncmpi_def_var, name.c_str(), type,
                     static_cast<int>(dims.size()), dims.data());
  }
  void put_att_text(int var, const std::string& name, const std::string& text) {
    check(ncmpi_put_att_text(id_, var, name.c_str(), static_cast<MPI_Offset>(text.size()),
                             text.c_str()),
          "ncmpi_put_att_text");
  }
  /// Stores the values as NC_INT or, in CDF-5 only, NC_INT64.
  void put_att(int var, const std::string& name, nc_type type, std::span<const long long> values) {
    check(ncmpi_put_att_longlong(id_, var, name.c_str(), type,
                                 static_cast<MPI_Offset>(values.size()), values.data()),
          "ncmpi_put_att_longlong");
  }
  /// Values in memory of that type.
  void put_att(int var, const std::string& name, nc_type type, std::uint64_t count,
               const void* values) {
    check(ncmpi_put_att(id_, var, name.c_str(), type, static_cast<MPI_Offset>(count), values),
          "ncmpi_put_att");
  }
  void enddef() { check(ncmpi_enddef(id_), "ncmpi_enddef"); }

  // Inquiries.
  /// NC_FORMAT_CLASSIC, NC_FORMAT_CDF2 or NC_FORMAT_CDF5.
  int inq_format() const { return made<int>("ncmpi_inq_format", ncmpi_inq_format); }
  int inq_dimid(const std::string& name) const {
    return made<int>("ncmpi_inq_dimid", ncmpi_inq_dimid, name.c_str());
  }
  bool has_dim(const std::string& name) const {
    int dim = -1;
    return ncmpi_inq_dimid(id_, name.c_str(), &dim) == NC_NOERR;
  }
  std::uint64_t inq_dimlen(int dim) const {
    return size("ncmpi_inq_dimlen", ncmpi_inq_dimlen, dim);
  }
  int inq_varid(const std::string& name) const {
    return made<int>("ncmpi_inq_varid", ncmpi_inq_varid, name.c_str());
  }
  int inq_ndims() const { return made<int>("ncmpi_inq_ndims", ncmpi_inq_ndims); }
  int inq_nvars() const { return made<int>("ncmpi_inq_nvars", ncmpi_inq_nvars); }
  /// -1: there is none.
  int inq_unlimdim() const { return made<int>("ncmpi_inq_unlimdim", ncmpi_inq_unlimdim); }
  std::string inq_dimname(int dim) const {
    return name("ncmpi_inq_dimname", ncmpi_inq_dimname, dim);
  }
  std::string inq_varname(int var) const {
    return name("ncmpi_inq_varname", ncmpi_inq_varname, var);
  }
  bool has_var(const std::string& name) const {
    int var = -1;
    return ncmpi_inq_varid(id_, name.c_str(), &var) == NC_NOERR;
  }
  VariableInfo inq_var(int var) const {
    int count = made<int>("ncmpi_inq_varndims", ncmpi_inq_varndims, var);
    VariableInfo info;
    info.dimensions.resize(static_cast<std::size_t>(count));
    check(ncmpi_inq_var(id_, var, nullptr, &info.type, &count, info.dimensions.data(), nullptr),
          "ncmpi_inq_var");
    return info;
  }
  /// Byte offset of the variable's first element in the file.
  std::uint64_t inq_varoffset(int var) const {
    return size("ncmpi_inq_varoffset", ncmpi_inq_varoffset, var);
  }
  /// Bytes of one record of all variables with the unlimited dimension; 0 without them.
  std::uint64_t inq_recsize() const { return size("ncmpi_inq_recsize", ncmpi_inq_recsize); }
  std::uint64_t inq_header_size() const {
    return size("ncmpi_inq_header_size", ncmpi_inq_header_size);
  }
  /// The number of attributes; NC_GLOBAL: those of the file.
  int inq_natts(int var) const {
    if (var == NC_GLOBAL) return made<int>("ncmpi_inq_natts", ncmpi_inq_natts);
    return made<int>("ncmpi_inq_varnatts", ncmpi_inq_varnatts, var);
  }
  std::string inq_attname(int var, int number) const {
    return name("ncmpi_inq_attname", ncmpi_inq_attname, var, number);
  }
  nc_type inq_atttype(int var, const std::string& name) const {
    return made<nc_type>("ncmpi_inq_atttype", ncmpi_inq_atttype, var, name.c_str());
  }
  /// Number of values (or characters), nothing if there is no such attribute.
  std::optional<std::uint64_t> inq_attlen(int var, const std::string& name) const {
    MPI_Offset length = 0;
    const int code = ncmpi_inq_attlen(id_, var, name.c_str(), &length);
    if (code == NC_ENOTATT) return std::nullopt;
    check(code, "ncmpi_inq_attlen");
    return static_cast<std::uint64_t>(length);
  }
  std::vector<long long> get_att(int var, const std::string& name) const {
    std::vector<long long> values(inq_attlen(var, name).value_or(0));
    check(ncmpi_get_att_longlong(id_, var, name.c_str(), values.data()), "ncmpi_get_att_longlong");
    return values;
  }
  /// The values in their own type, where there is room for all.
  void get_att(int var, const std::string& name, void* values) const {
    check(ncmpi_get_att(id_, var, name.c_str(), values), "ncmpi_get_att");
  }
  /// The hints in effect; the caller frees them.
  MPI_Info inq_file_info() const {
    return made<MPI_Info>("ncmpi_inq_file_info", ncmpi_inq_file_info);
  }
  /// Bytes that this rank has written through the library, as the library counts them.
  std::uint64_t inq_put_size() const { return size("ncmpi_inq_put_size", ncmpi_inq_put_size); }
  std::uint64_t inq_get_size() const { return size("ncmpi_inq_get_size", ncmpi_inq_get_size); }

  // Data mode. `count` elements of `type` in memory, as in the C interface.
  void begin_indep_data() { check(ncmpi_begin_indep_data(id_), "ncmpi_begin_indep_data"); }
  void sync() { check(ncmpi_sync(id_), "ncmpi_sync"); }

  void put_vara_all(int var, const MPI_Offset* starts, const MPI_Offset* counts, const void* data,
                    MPI_Offset count, MPI_Datatype type) {
    check(ncmpi_put_vara_all(id_, var, starts, counts, data, count, type), "ncmpi_put_vara_all");
  }
  void get_vara(int var, const MPI_Offset* starts, const MPI_Offset* counts, void* data,
                MPI_Offset count, MPI_Datatype type) const {
    check(ncmpi_get_vara(id_, var, starts, counts, data, count, type), "ncmpi_get_vara");
  }
  void get_vara_all(int var, const MPI_Offset* starts, const MPI_Offset* counts, void* data,
                    MPI_Offset count, MPI_Datatype type) const {
    check(ncmpi_get_vara_all(id_, var, starts, counts, data, count, type), "ncmpi_get_vara_all");
  }
  void put_varn_all(int var, int requests, MPI_Offset* const* starts, MPI_Offset* const* counts,
                    const void* data, MPI_Offset count, MPI_Datatype type) {
    check(ncmpi_put_varn_all(id_, var, requests, starts, counts, data, count, type),
          "ncmpi_put_varn_all");
  }
  void get_varn_all(int var, int requests, MPI_Offset* const* starts, MPI_Offset* const* counts,
                    void* data, MPI_Offset count, MPI_Datatype type) {
    check(ncmpi_get_varn_all(id_, var, requests, starts, counts, data, count, type),
          "ncmpi_get_varn_all");
  }
  void put_vard_all(int var, MPI_Datatype filetype, const void* data, MPI_Offset count,
                    MPI_Datatype type) {
    check(ncmpi_put_vard_all(id_, var, filetype, data, count, type), "ncmpi_put_vard_all");
  }
  void get_vard_all(int var, MPI_Datatype filetype, void* data, MPI_Offset count,
                    MPI_Datatype type) {
    check(ncmpi_get_vard_all(id_, var, filetype, data, count, type), "ncmpi_get_vard_all");
  }

  // Nonblocking calls: data stays untouched until the wait that completes the returned request.
  int iput_vara(int var, const MPI_Offset* starts, const MPI_Offset* counts, const void* data,
                MPI_Offset count, MPI_Datatype type) {
    return made<int>("ncmpi_iput_vara", ncmpi_iput_vara, var, starts, counts, data, count, type);
  }
  int iget_vara(int var, const MPI_Offset* starts, const MPI_Offset* counts, void* data,
                MPI_Offset count, MPI_Datatype type) {
    return made<int>("ncmpi_iget_vara", ncmpi_iget_vara, var, starts, counts, data, count, type);
  }
  int iput_varn(int var, int requests, MPI_Offset* const* starts, MPI_Offset* const* counts,
                const void* data, MPI_Offset count, MPI_Datatype type) {
    return made<int>("ncmpi_iput_varn", ncmpi_iput_varn, var, requests, starts, counts, data, count,
                     type);
  }
  int iget_varn(int var, int requests, MPI_Offset* const* starts, MPI_Offset* const* counts,
                void* data, MPI_Offset count, MPI_Datatype type) {
    return made<int>("ncmpi_iget_varn", ncmpi_iget_varn, var, requests, starts, counts, data, count,
                     type);
  }
  /// Completes all pending requests of all ranks.
  void wait_all() { check(ncmpi_wait_all(id_, NC_REQ_ALL, nullptr, nullptr), "ncmpi_wait_all"); }

 private:
  File(MPI_Comm comm, const std::string& path) : path_(path) { MPI_Comm_rank(comm, &rank_); }

  void check(int code, const char* call) const { pnetcdf::check(code, call, path_, rank_); }

  /// The value that a C function stores behind its last argument.
  template <class Value, class Function, class... Arguments>
  Value made(const char* call, Function function, Arguments... arguments) const {
    Value value{};
    check(function(id_, arguments..., &value), call);
    return value;
  }
  template <class Function, class... Arguments>
  std::string name(const char* call, Function function, Arguments... arguments) const {
    std::string text(NC_MAX_NAME + 1, '\0');
    check(function(id_, arguments..., text.data()), call);
    return text.c_str();
  }
  template <class Function, class... Arguments>
  std::uint64_t size(const char* call, Function function, Arguments... arguments) const {
    return static_cast<std::uint64_t>(made<MPI_Offset>(call, function, arguments...));
  }

  std::string path_;
  int rank_ = 0;
  int id_ = -1;
  bool is_open_ = false;
};

}  // namespace slabmark::pnetcdf
