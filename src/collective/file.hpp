#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/context.hpp"
#include "collective/exchange/file_domain.hpp"
#include "collective/exchange/flush_plan.hpp"
#include "collective/overlap.hpp"
#include "collective/pending_ranges.hpp"
#include "collective/pending_writes.hpp"
#include "storage/mpiio/file.hpp"

namespace slabmark::collective {

/// A file for data alone: its header is the affair of whoever made it. Aggregators move its arrays
/// with independent calls; other ranks need not have it open. Failures throw mpiio::Failure.
class File {
 public:
  using Access = mpiio::File::Access;

  File() = default;
  /// One that is not open on this rank. All ranks of a file name the same `overlap`.
  explicit File(const Overlap& overlap) : overlap_(overlap) {}
  /// Collective over `ranks`, as are sync() and close(); MPI_COMM_SELF: this rank for itself.
  /// With `overlap`, what a move writes may wait in memory: see PendingWrites.
  File(MPI_Comm ranks, const std::string& path, Access access, const mpiio::Hints& user,
       const Overlap& overlap = {});

  bool is_open() const { return file_.is_open(); }
  std::map<std::string, std::string> hints() const { return file_.hints(); }
  std::uint64_t size() const { return file_.size(); }
  /// They wait for what is pending here.
  void sync();
  void close();

  // Pending writes. Each rank learns of failures of its own alone, so callers agree on them.

  /// True if some rank may have writes pending: the same on all ranks.
  bool has_pending() const { return ranges_.any(); }
  /// Collective: returns when the writes of all ranks are in the file, or have failed. To be called
  /// before anything but move() reads or writes data of the file. A rank throws that failed.
  void settle(const Comm& comm);
  /// The failure of a pending write of this rank that is known by now.
  std::optional<mpiio::Failure> take_failure();
  /// Takes the place of a closed file: what ranks have pending stays known.
  void continue_from(const File& closed) { ranges_ = closed.ranges_; }

  // A hole is what no rank of a flush has of an array. Holes of fresh arrays are nobody's, so they
  // may be written over; in all others they stay as they are.

  /// Arrays from this byte on are fresh until this file writes to them. Until it is told so, none
  /// is.
  void fresh_from(std::uint64_t byte) { fresh_from_ = byte; }
  /// Arrays that begin beyond the present end of the file are fresh, whoever writes there and by
  /// whatever handle. To be called for each flush, when what all ranks wrote before is there.
  void fresh_from_end();
  static constexpr std::uint64_t nowhere = std::numeric_limits<std::uint64_t>::max();

  /// Bytes beyond the end of the file read as zero; otherwise reading them fails.
  void end_is_zero() { end_is_zero_ = true; }

  void write(std::uint64_t offset, const std::byte* memory, std::uint64_t bytes);
  void read(std::uint64_t offset, std::byte* memory, std::uint64_t bytes);

  /// Moves a flush where not all arrays lie in one piece; `access` moves bytes of the file.
  using Mover = std::function<Rearranger::Tally(Rearranger&, const Rearranger::Flush&,
                                                const Rearranger::FileAccess& access)>;

  /// How a flush is moved.
  struct Transfer {
    const FileDomain& domain;
    const FlushPlan& plan;
    std::span<std::byte* const> buffers;  ///< of the plan's items
    bool writing = false;
    bool swap = false;  ///< the file has the other byte order
  };
  /// Collective over the context. A rank that fails takes part to the end and throws then.
  Rearranger::Tally move(Context& context, const Transfer& transfer, const Mover& mover = nullptr);

 private:
  void read_at_once(std::uint64_t offset, std::byte* memory, std::uint64_t bytes);
  bool take_fresh(const ArrayPlace& place);
  void wait_here();
  bool prepare_to_move(Context& context, const Transfer& transfer);

  mpiio::File file_;
  Overlap overlap_;
  std::unique_ptr<PendingWrites> pending_;  ///< null: this rank writes at once
  std::uint64_t memory_to_wait_in_ = 0;
  PendingRanges ranges_;
  std::uint64_t fresh_from_ = nowhere;
  bool end_is_zero_ = false;
  /// Where arrays were written to that may have been fresh: end by beginning, with what little lies
  /// between them, so that records of many variables are one.
  std::map<std::uint64_t, std::uint64_t> written_;
};

}  // namespace slabmark::collective
