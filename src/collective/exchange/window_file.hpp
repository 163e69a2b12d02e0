#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "collective/exchange/flush.hpp"
#include "collective/exchange/move_elements.hpp"
#include "collective/exchange/shared_staging.hpp"
#include "collective/exchange/window_schedule.hpp"

namespace slabmark {

/// Moves windows of an aggregator to and from the file, in as few calls as the file allows.
class WindowFile {
 public:
  /// Holes up to `bridged_hole` bytes are moved along where that is allowed. At most `writers`
  /// aggregators of a node write at the same time.
  WindowFile(std::uint64_t bridged_hole, std::uint64_t writers)
      : bridged_hole_(bridged_hole), writers_(writers) {}

  std::uint64_t writers() const { return writers_; }

  /// How the windows of a flush are moved. `writing` counts those of the node that write at
  /// present.
  struct Transfer {
    Flow flow;
    const FileAccess& access;
    const UnitAccess& units;
    WindowCounts::Count& writing;
  };

  /// Moves a window, which is full at `memory` or is to be read there. False where others of the
  /// node write: then the caller does something else and tries again.
  bool move(const ArrayFlush& flush, const Window& window, std::byte* memory,
            const Transfer& transfer, FlushTally& tally);

  /// The first failure of a flush, after which nothing was moved any more; then there is none.
  std::exception_ptr take_failure() { return std::exchange(failure_, nullptr); }

 private:
  struct Extent {
    std::uint64_t begin, end;  ///< positions
  };

  std::vector<Extent> extents(const ArrayFlush& flush, const Window& window, std::byte* memory,
                              Flow flow) const;
  bool may_join(const ArrayFlush& flush, Extent before, std::size_t its_array, Extent after,
                std::size_t array) const;
  bool starts_writing(WindowCounts::Count& writing) const;

  std::uint64_t bridged_hole_, writers_;
  std::vector<Extent> extents_;  ///< of the window that goes to the file next, once it is full
  bool is_prepared_ = false;     ///< they are known
  std::exception_ptr failure_;
};

}  // namespace slabmark
