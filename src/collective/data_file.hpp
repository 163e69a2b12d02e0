#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "collective/engine.hpp"
#include "storage/mpiio/file.hpp"

namespace slabmark::rearrange {

/// The user's hints behind those that every data file is opened with: transfers are large and
/// contiguous, so what MPI-IO does for small ones is in the way.
mpiio::Hints with_own_hints(const mpiio::Hints& user);

/// A file for data alone: its header is the affair of whoever made it. Aggregators move its arrays
/// with independent calls; other ranks need not have it open. Failures throw IoError.
class DataFile {
 public:
  using Access = mpiio::File::Access;

  DataFile() = default;
  /// Collective over `ranks`, as are sync() and close(); MPI_COMM_SELF: this rank for itself.
  DataFile(MPI_Comm ranks, const std::string& path, Access access, const mpiio::Hints& user);

  std::map<std::string, std::string> hints() const { return file_.hints(); }
  std::uint64_t size() const { return file_.size(); }
  mpiio::File& file() { return file_; }

  /// To what lies before this byte something may have been written, so that holes there stay as
  /// they are; otherwise holes of arrays that were not written to are nobody's.
  void fresh_from(std::uint64_t byte) { fresh_from_ = byte; }
  /// What lies beyond the end of the file reads as zero; otherwise that is a failure.
  void end_is_zero() { end_is_zero_ = true; }

  /// What moves a flush through the exchange where not all arrays lie in one piece; `access` moves
  /// bytes of the file.
  using Mover = std::function<Rearranger::Tally(Rearranger&, const Rearranger::Flush&,
                                                const Rearranger::FileAccess& access)>;

  /// Collective: moves the arrays of `domain` between `buffers`, those of the items of the engine's
  /// plan in use, and the file. `swap`: the file has the other byte order. A rank that fails takes
  /// part to the end and throws then.
  Rearranger::Tally move(Engine& engine, const FileDomain& domain,
                         std::span<std::byte* const> buffers, bool writing, bool swap,
                         const Mover& mover = nullptr);

  void sync() { file_.sync(); }
  void close() { file_.close(); }

 private:
  bool take_fresh(const ArrayPlace& place);
  std::vector<bool> take_fresh(const FileDomain& domain, bool writing);

  mpiio::File file_;
  std::uint64_t fresh_from_ = 0;
  bool end_is_zero_ = false;
  /// Where arrays were written to that may have been fresh: end by beginning, with what little lies
  /// between them, so that records of many variables are one.
  std::map<std::uint64_t, std::uint64_t> written_;
};

}  // namespace slabmark::rearrange
