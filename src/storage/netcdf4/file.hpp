#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <mpi.h>

#include "core/geometry/element_type.hpp"

// No source beside file.cpp includes netcdf.h: pnetcdf.h has macros of the same names.

namespace slabmark::netcdf4 {

/// "4.9.3": the version of the library at run time.
std::string library_version();

/// An open netCDF-4 file, collective over the communicator it was opened with; closed with it. All
/// calls are collective but those of inquiries, and those that move data after set_collective() was
/// told otherwise. Starts and counts have one entry per dimension, slowest first.
class File {
 public:
  /// Variables that number as this one have the attributes of the file.
  static constexpr int global = -1;
  static constexpr std::uint64_t unlimited = 0;  ///< as the length of a dimension

  /// There must be no file yet. Elements that nobody writes are undefined.
  static File create(MPI_Comm comm, const std::string& path, MPI_Info info);
  static File open(MPI_Comm comm, const std::string& path, MPI_Info info);

  /// What is still open here was left by an error.
  ~File();
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

  const std::string& path() const { return path_; }
  void close();

  int def_dim(const std::string& name, std::uint64_t length);
  int def_var(const std::string& name, ElementType type, std::span<const int> dims);
  /// One length per dimension of the variable.
  void def_var_chunking(int variable, std::span<const std::size_t> lengths);
  void put_att_text(int variable, const std::string& name, const std::string& text);
  void enddef();
  int inq_varid(const std::string& name) const;

  /// Whether the calls that move data of the variable are collective.
  void set_collective(int variable, bool collective);

  /// Elements in memory have the variable's type. A count of 0 takes part and moves nothing.
  void put_vara(int variable, const std::size_t* starts, const std::size_t* counts,
                const void* data);
  void get_vara(int variable, const std::size_t* starts, const std::size_t* counts, void* data);

  void sync();

 private:
  File(MPI_Comm comm, std::string path);

  void check(int code, const char* call) const;

  std::string path_;
  int rank_ = 0;
  int id_ = -1;
  bool is_open_ = false;
};

}  // namespace slabmark::netcdf4
