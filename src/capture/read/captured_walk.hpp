#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/read/call_placement.hpp"
#include "capture/read/dataset_shapes.hpp"
#include "capture/read/pattern_file.hpp"
#include "capture/read/program_files.hpp"
#include "capture/read/round_key.hpp"

namespace slabmark {

/// True if a call of that effect is a point at which the ranks of a file meet.
bool ranks_meet(const std::string& effect, bool collective);

/// Goes through the calls of a recorded rank, and says where what each moves belongs.
class CapturedWalk {
 public:
  using Fragment = CallPlacement::Fragment;

  CapturedWalk(const PatternFile& file, const Paths& paths, const DatasetNumbers& datasets,
               const DatasetShapes& shapes, std::uint64_t recorded_rank, std::uint32_t direction);

  /// Goes on to the next call, or part of one. False after the last.
  bool next();

  const CapturedEvent& event() const { return event_; }
  const RankReader& rank() const { return rank_; }
  std::uint64_t path() const { return paths_.number(rank_.file_number(event_.file)); }
  const std::string& effect() const { return rank_.call(event_.call).effect; }
  /// The elements that the event moves, in the order of memory. Empty if the event does not move in
  /// the direction asked for.
  const std::vector<PlacedBoxes>& placed() const { return placement_.placed(); }
  /// The elements of placed() as parts of memory.
  const std::vector<Fragment>& fragments() const { return placement_.fragments(); }
  /// Adds start, count, stride and block of each box of `placed`, which is not all of its dataset.
  void append_boxes(const PlacedBoxes& placed, std::vector<std::int64_t>& numbers) {
    placement_.append_boxes(placed, numbers);
  }
  /// Elements that the event moves, whether placed or not.
  std::uint64_t elements();
  /// The round of the event. An event that is not placed belongs to the latest round of its file.
  const RoundKey& round() const { return round_; }
  /// True if all recorded ranks make this call, each in the same place among such calls.
  bool is_made_by_all() const;
  /// True if the order of rounds is that of such events.
  bool orders_rounds() const {
    return event_.moves() || is_made_by_all() || (effect() == "close" && !is_aside());
  }

 private:
  /// How far the calls on a file have come.
  struct FileState {
    std::uint64_t phase = 0, meetings = 0;
    std::optional<std::uint64_t> private_number;  ///< RoundKey::file of one that ranks do not share
    std::optional<RoundKey> last;
  };

  void find_cancelled(const PatternFile& file, std::uint64_t recorded_rank);
  bool is_aside() const { return paths_.is_aside(path(), rank_.file(event_.file)); }
  bool is_played() const;
  void place();
  RoundKey round_of_event();
  RoundKey united(const RoundKey& round) const;
  std::uint64_t file_of_round();
  /// Returns the current extent of the dataset of the event.
  std::vector<std::uint64_t> extent_now() const;
  std::uint64_t dataset() const { return datasets_[rank_.definition_number(event_.dataset)]; }

  RankReader rank_;
  std::uint64_t recorded_ranks_;
  const Paths& paths_;
  const DatasetNumbers& datasets_;
  const DatasetShapes& shapes_;
  std::uint32_t direction_;
  CapturedEvent event_;
  CallPlacement placement_;
  RoundKey round_;
  std::map<std::uint64_t, FileState> files_;  ///< by path
  std::uint64_t private_files_ = 0;           ///< how many have a private_number
  std::set<std::uint64_t> cancelled_;         ///< requests whose elements are not moved
  /// The extents that calls have set, by path and dataset.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint64_t>> extents_;
};

}  // namespace slabmark
