#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

namespace slabmark::mpiio {

/// Bounds of what check_hints() accepts: a smaller buffer is a call for each of its bytes, minutes
/// for what takes a second, and MPI-IO keeps numbers in an int.
inline constexpr std::uint64_t least_buffer_bytes = 4096;
inline constexpr std::uint64_t largest_number = std::numeric_limits<int>::max();

using Hints = std::vector<std::pair<std::string, std::string>>;

/// Throws InputError for a hint that MPI refuses, or with whose value MPI-IO is known to crash or
/// to crawl: no number where it takes one, none of something, or a buffer below 4 KiB.
void check_hints(const Hints& hints);

/// An owned MPI_Info with the given hints; a later one of the same key wins.
class Info {
 public:
  explicit Info(const Hints& hints);  ///< see check_hints()
  ~Info();
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;

  MPI_Info get() const { return info_; }  ///< MPI_INFO_NULL where there are no hints

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Keys and values of `info`, for example of what MPI_File_get_info returned.
std::map<std::string, std::string> entries_of(MPI_Info info);

}  // namespace slabmark::mpiio
