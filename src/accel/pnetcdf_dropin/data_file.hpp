#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include <pnetcdf.h>

#include "collective/file.hpp"
#include "collective/file_identity.hpp"
#include "storage/mpiio/error.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark::dropin {

/// PnetCDF's code of a failure of MPI-IO; `default_code` where it has none of its own for that.
int code_of(const mpiio::Failure& failure, int default_code);

using collective::FileIdentity;
using collective::identity_of;

/// The file beside PnetCDF's own handle of it: for the data that go there by plan. Each rank that
/// moves some opens it for itself. Where the process runs short of descriptors those that are not
/// in use are closed, the one that was used least lately first: the program may open as many files
/// as without us.
class DataFile {
 public:
  /// `overlap`: the same on all ranks.
  explicit DataFile(const collective::Overlap& overlap) : overlap_(overlap), file_(overlap) {}
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

  bool is_open() const { return file_.is_open(); }
  collective::File& file() { return file_; }

  /// Where the file is, and how it is opened.
  struct Opening {
    std::string path;   ///< as the program names it
    std::string place;  ///< the same wherever the program goes
    std::optional<FileIdentity> identity;
    bool writable = false;
    mpiio::Hints hints;
  };
  /// Refuses a file that has only the name of the one that is meant: programs rename and delete
  /// files, and make new ones, while they have them open. Throws where it cannot be opened.
  void open(const Opening& opening);

  // They return PnetCDF's error codes.
  int sync();
  int close();
  /// Collective: waits until the pending writes of all ranks are in the file, or have failed.
  /// Returns this rank's code; other ranks may have another.
  int settle(const Comm& comm);
  bool has_pending() const { return file_.has_pending(); }
  /// The code of a pending write of this rank that has failed by now.
  int failed_write();

  /// To be called when what all ranks put before is in the file: what no rank of a wait puts is
  /// written over in arrays beyond its present end alone.
  void note_end();

 private:
  collective::Overlap overlap_;
  collective::File file_;
  int error_ = NC_NOERR;  ///< of closing it to make room
  std::list<DataFile*> seat_ = {
      this};                ///< in use; otherwise it is in the list of those that are not
  bool tells_end_ = false;  ///< as other machines left it, too
};

}  // namespace slabmark::dropin
