#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <string>

#include <mpi.h>

namespace slabmark::dropin {

/// A failure as PnetCDF would report it.
struct PnetcdfError : std::exception {
  explicit PnetcdfError(int error_code) : code(error_code) {}
  const char* what() const noexcept override { return "an error code of PnetCDF"; }
  int code;
};

/// The file beside PnetCDF's own handle of it: for the data that go there by plan. Opened by all
/// ranks; transfers are independent. Failures throw PnetcdfError.
class DataFile {
 public:
  bool is_open() const { return file_ != MPI_FILE_NULL; }

  // Collective; they return PnetCDF's error codes.
  int open(MPI_Comm comm, const std::string& path, bool writable);
  int sync();
  int close();

  void write(std::uint64_t offset, const std::byte* memory, std::uint64_t bytes);
  /// What lies beyond the end of the file reads as zero.
  void read(std::uint64_t offset, std::byte* memory, std::uint64_t bytes);

  std::map<std::string, std::string> hints() const;

 private:
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace slabmark::dropin
