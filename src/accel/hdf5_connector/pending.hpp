#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "accel/hdf5_connector/log/log_run.hpp"
#include "accel/hdf5_connector/request.hpp"
#include "accel/hdf5_connector/strided_runs.hpp"

namespace slabmark::slablog {

/// Writes one over another: lists of runs, and between them writes whose runs are strided.
class Pending {
 public:
  explicit Pending(std::size_t element_bytes) : element_bytes_(element_bytes) { clear(); }

  /// Puts runs (ascending, without overlap) above all others.
  void add(LogRuns newest) { levels_.back().above.add(std::move(newest)); }
  void add(StridedWrite newest);
  /// All in one list, which takes its place.
  const LogRuns& merged();
  /// The same of some elements only, and nothing takes its place.
  LogRuns within(Run elements) const;
  /// The first element that is pending and not before `element`.
  std::optional<std::uint64_t> next(std::uint64_t element) const;

  void clear();
  bool empty() const;
  std::uint64_t runs() const { return below_.runs + of_newest().runs; }     ///< written over, too
  std::uint64_t bytes() const { return below_.bytes + of_newest().bytes; }  ///< of memory for them

  /// Calls `visit(cursor)` for the cursor of each list and write, the newest first, while `more()`.
  template <class More, class Visit>
  void for_each_from_newest(const More& more, const Visit& visit) const {
    for (auto level = levels_.rbegin(); level != levels_.rend() && more(); ++level) {
      const auto lists = level->above.lists();
      for (auto list = lists.rbegin(); list != lists.rend() && more(); ++list) {
        visit(ListCursor(*list));
      }
      if (level->write && more()) visit(StridedWrite::Cursor(*level->write, element_bytes_));
    }
  }

  /// Calls `visit(place, elements)` for what lies together; it may change the place.
  void for_each_place(const std::function<void(LogRun&, std::uint64_t)>& visit);

 private:
  struct Level {
    std::optional<StridedWrite> write;  ///< all but the first have one
    Layers above;
  };

  struct Size {
    std::uint64_t runs = 0;
    std::uint64_t bytes = 0;
  };
  Size of_newest() const;

  std::size_t element_bytes_;
  std::vector<Level> levels_;  ///< the oldest first
  Size below_;                 ///< of all levels but the newest
};

}  // namespace slabmark::slablog
