#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <list>
#include <optional>
#include <string>

#include <mpi.h>
#include <pnetcdf.h>

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

/// The file beside PnetCDF's own handle of it: for the data that go there by plan. Each rank that
/// moves some opens it for itself. Failures to move throw PnetcdfError. Where the process runs
/// short of descriptors those that are not in use are closed, the one that was used least lately
/// first: the program may open as many files as without us.
class DataFile {
 public:
  DataFile() = default;
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  /// While it lives, the file stays open. All below is for one that is in use.
  class InUse {
   public:
    explicit InUse(DataFile& file);
    ~InUse();
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    DataFile& file_;
  };

  /// Closes files where a few descriptors more would be too many.
  static void make_room();

  bool is_open() const { return file_ != MPI_FILE_NULL; }

  // They return PnetCDF's error codes.
  /// Refuses a file that has only the name of the one that is meant: programs rename and delete
  /// files, and make new ones, while they have them open.
  int open(const std::string& path, const std::optional<FileIdentity>& meant, bool writable);
  int sync();
  int close();

  /// Takes the present end of the file for is_untouched().
  void note_end();
  /// Whether the file had nothing from `offset` on, whoever writes there and by whatever handle:
  /// what no rank of a wait puts is written over there alone.
  bool is_untouched(std::uint64_t offset) const { return offset >= end_; }

  void write(std::uint64_t offset, const std::byte* memory, std::uint64_t bytes);
  /// What lies beyond the end of the file reads as zero.
  void read(std::uint64_t offset, std::byte* memory, std::uint64_t bytes);

 private:
  static constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();

  MPI_File file_ = MPI_FILE_NULL;
  int error_ = NC_NOERR;  ///< of closing it to make room
  std::list<DataFile*> seat_ = {
      this};                ///< in use; otherwise it is in the list of those that are not
  bool tells_end_ = false;  ///< as other machines left it, too
  std::uint64_t end_ = unknown;
};

}  // namespace slabmark::dropin
