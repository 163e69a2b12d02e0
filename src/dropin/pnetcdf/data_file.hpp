#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include <mpi.h>

namespace slabmark::dropin {

/// A failure as PnetCDF would report it.
struct PnetcdfError : std::exception {
  explicit PnetcdfError(int error_code) : code(error_code) {}
  const char* what() const noexcept override { return "an error code of PnetCDF"; }
  int code;
};

/// Which file a name stands for.
struct FileIdentity {
  std::uint64_t device = 0, number = 0;
  bool operator==(const FileIdentity&) const = default;
};
std::optional<FileIdentity> identity_of(const std::string& path);

/// The same name wherever the program goes.
std::string absolute(const std::string& path);

/// The file beside PnetCDF's own handle of it: for the data that go there by plan. Each rank that
/// moves some opens it for itself. Failures to move throw PnetcdfError.
class DataFile {
 public:
  bool is_open() const { return file_ != MPI_FILE_NULL; }

  // They return PnetCDF's error codes.
  /// Refuses a file that has only the name of the one that is meant: programs rename and delete
  /// files, and make new ones, while they have them open.
  int open(const std::string& path, const std::optional<FileIdentity>& meant, bool writable);
  int sync();
  int close();

  void write(std::uint64_t offset, const std::byte* memory, std::uint64_t bytes);
  /// What lies beyond the end of the file reads as zero.
  void read(std::uint64_t offset, std::byte* memory, std::uint64_t bytes);

 private:
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace slabmark::dropin
