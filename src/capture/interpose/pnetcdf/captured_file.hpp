#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <mpi.h>
#include <pnetcdf.h>

#include "capture/record/recorder.hpp"

namespace slabmark::capture {

/// A variable, as far as calls depend on it.
struct CapturedVariable {
  Id dataset = no_id;
  nc_type type = NC_NAT;
  std::vector<MPI_Offset> lengths;  ///< of its dimensions; that of records is not used
  bool has_records = false;
};

/// A file that the program has open. All functions are called inside a Call.
class CapturedFile {
 public:
  /// Records the opening.
  CapturedFile(int ncid, MPI_Comm comm, const char* path, int mode, MPI_Info info, bool is_new);

  Id id() const { return id_; }
  /// A variable that may not be defined yet for PnetCDF to judge: null.
  const CapturedVariable* variable(int varid);
  MPI_Offset records() const;  ///< how many there are now
  MPI_Offset bytes_a_record() const;
  int variables() const;
  MPI_Offset begin_of(int varid) const;  ///< of a variable in the file, in bytes

  /// Records what was defined since the last time, and the call that ended it.
  void define(const char* call, std::span<const std::int64_t> arguments);
  /// Records a call about the file, or about a variable of it.
  void mark(const char* call, const char* effect, unsigned flags = 0,
            std::span<const std::int64_t> arguments = {}, Id dataset = no_id);

  /// What requests of the library are among those that were recorded.
  void posted(int native, std::uint64_t request) { requests_[native] = request; }
  std::vector<std::uint64_t> take_requests(std::span<const int> native);
  void forget_requests() { requests_.clear(); }

 private:
  CapturedVariable inquire(int varid) const;
  int count_attributes(int varid) const;
  void know_variables();

  int ncid_;
  Id id_ = no_id;
  int known_variables_ = 0;      ///< those that were there, or were defined and recorded
  std::vector<int> attributes_;  ///< how many each of these has
  std::vector<CapturedVariable> variables_;
  std::unordered_map<int, std::uint64_t> requests_;
};

/// Held by a thread that looks at what is known of files, or records a call: of several threads
/// each may have files of its own. Not while PnetCDF makes a call, which may wait for other ranks.
std::recursive_mutex& files_mutex();

/// Calls note(), which records a call that PnetCDF has made.
template <class Note>
void noted(const Note& note) noexcept {
  quietly([&] {
    const std::lock_guard lock(files_mutex());
    note();
  });
}

/// The file of that number, or null.
CapturedFile* captured_file(int ncid);
void add_captured_file(int ncid, MPI_Comm comm, const char* path, int mode, MPI_Info info,
                       bool is_new);
void remove_captured_file(int ncid);

/// Definitions, made once.
Id type_id(const std::string& type);
/// "float64", as the pattern file has it.
std::string name_of_type(nc_type type);

}  // namespace slabmark::capture
