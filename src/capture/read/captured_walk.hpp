#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "capture/read/pattern_file.hpp"

namespace slabmark {

/// What a program did between two points at which all ranks of a file meet (a wait, a flush, a
/// close, a step), or to one record of a dataset in blocking calls. Ranks have equal keys for what
/// they did together.
struct RoundKey {
  /// Number of the file. Files that ranks have for themselves share one: the first of each rank,
  /// the second of each, and so on.
  std::uint64_t file = 0;
  std::uint64_t phase = 0;  ///< such points passed
  std::uint64_t time = 0;   ///< 1 + the record, of blocking calls; else 0

  /// The time of the call that closes the file, which comes after all others of its phase.
  static constexpr std::uint64_t closing = ~std::uint64_t{0};

  auto operator<=>(const RoundKey&) const = default;
};

/// The boxes of a call in one record, or in a dataset without records. Without the dimension of
/// records.
struct PlacedBoxes {
  RoundKey round;
  std::uint64_t path = 0;        ///< number of the file
  std::uint64_t definition = 0;  ///< the dataset, in the header
  std::uint64_t time = 0;
  bool is_all = false;
  /// The list that it is a part of as a whole, or CapturedEvent::none.
  std::uint64_t list = CapturedEvent::none;
  std::vector<std::int64_t> origin;  ///< of the list
  /// Otherwise: start, count, stride, block of each box, `rank` numbers each.
  std::vector<std::int64_t> numbers;
  std::size_t rank = 0;
  std::uint64_t elements = 0;
};

/// What all ranks must know of the datasets before the calls can be placed.
struct DatasetShapes {
  struct Shape {
    bool has_time = false;
    std::vector<std::uint64_t> extent;  ///< without time
  };
  std::map<std::uint64_t, Shape> of_definition;
  /// Points at which ranks of a file met, by path and number, while requests of some were pending:
  /// no round ends there, since their memory is still in use.
  std::set<std::pair<std::uint64_t, std::uint64_t>> passed_through;
  bool records_are_rounds =
      true;  ///< of blocking calls; else it cannot be told which rounds are whose
  std::set<std::uint64_t> moved_paths;  ///< in the direction asked for
  /// Rounds between which ranks went to and fro: they are one, the first of them.
  std::map<RoundKey, RoundKey> united;
};

/// Of the libraries through which a program opened files, the one that stands above the others: by
/// those below it may have looked at the same files. Empty: no program made the calls.
std::string highest_level(const PatternFile& file);

/// Whether a call of that effect is a point at which the ranks of a file meet.
bool ranks_meet(const std::string& effect, bool collective);

/// The files of a header by path and level: a file that is opened again is the same, but not
/// through another library.
class Paths {
 public:
  struct Path {
    std::string name;
    std::string level;
    bool is_unasked = true;         ///< all its openings are
    std::set<std::uint64_t> ranks;  ///< that opened it together
  };

  explicit Paths(const PatternFile& file);
  std::uint64_t number(std::uint32_t file) const { return numbers_[file]; }
  const std::vector<Path>& all() const { return all_; }
  /// Whether no rank opened it together with others, where there are others.
  bool is_private(std::uint64_t path) const {
    return recorded_ranks_ > 1 && all_[path].ranks == std::set<std::uint64_t>{1};
  }
  /// Whether a rank opened by itself what ranks open together as well: closing that is no step of
  /// all.
  bool is_aside(std::uint64_t path, const nlohmann::json& file) const {
    return recorded_ranks_ > 1 && file.value("ranks", std::uint64_t{1}) == 1 && !is_private(path);
  }
  /// Whether what is moved to or from it is left out, in the directions of `flags`: nobody asked
  /// for it, and other calls say more.
  bool is_left_out(std::uint64_t path, std::uint32_t flags) const {
    return all_[path].is_unasked && (flags & say_more_);
  }
  /// Directions in which others moved anything. Until that is known, both.
  void set_others(std::uint32_t directions) { say_more_ = directions; }

 private:
  std::uint64_t recorded_ranks_;
  std::uint32_t say_more_ = ~std::uint32_t{0};
  std::vector<std::uint64_t> numbers_;
  std::vector<Path> all_;
};

/// The definitions of a header by what they define: a dataset that is opened again may be described
/// in other words, with more attributes or a larger extent.
class DatasetNumbers {
 public:
  explicit DatasetNumbers(const PatternFile& file);
  /// The first definition of the same dataset.
  std::uint64_t operator[](std::uint64_t definition) const { return first_[definition]; }

 private:
  std::vector<std::uint64_t> first_;
};

/// Goes through the calls of a recorded rank, and says where what each moves belongs.
class CapturedWalk {
 public:
  CapturedWalk(const PatternFile& file, const Paths& paths, const DatasetNumbers& datasets,
               const DatasetShapes& shapes, std::uint64_t recorded_rank, std::uint32_t direction);

  /// Goes on to the next call, or part of one. False after the last.
  bool next();

  const CapturedEvent& event() const { return event_; }
  const RankReader& rank() const { return rank_; }
  std::uint64_t path() const { return paths_.number(rank_.file_number(event_.file)); }
  const std::string& effect() const;
  /// Of an event that moves in the direction asked for: what, in the order of memory.
  const std::vector<PlacedBoxes>& placed() const { return placed_; }
  /// The same as pieces of memory, one after another: which of placed(), and how many elements.
  struct Fragment {
    std::size_t placed = 0;
    std::uint64_t elements = 0;
  };
  const std::vector<Fragment>& fragments() const { return fragments_; }
  /// Elements that the event moves, whether placed or not.
  std::uint64_t elements();
  /// What it belongs to: of an event that is not placed, what of its file was placed last.
  const RoundKey& round() const { return round_; }
  /// Whether all recorded ranks make this call, each in the same place among such calls.
  bool is_made_by_all() const;
  /// Whether the order of rounds is that of such events.
  bool orders_rounds() const {
    return event_.moves() || is_made_by_all() || (effect() == "close" && !is_aside());
  }

 private:
  void find_cancelled(const PatternFile& file, std::uint64_t recorded_rank);
  void place();
  bool is_aside() const { return paths_.is_aside(path(), rank_.file(event_.file)); }
  RoundKey united(const RoundKey& round) const;
  std::uint64_t file_of_round();
  /// Of the dataset of the event, as it is now.
  std::vector<std::uint64_t> extent_now() const;
  void place_in(const DatasetShapes::Shape& shape, std::uint64_t definition);
  void place_all(const DatasetShapes::Shape& shape, std::uint64_t definition);
  void place_list(const DatasetShapes::Shape& shape, std::uint64_t definition);
  void place_box(const DatasetShapes::Shape& shape, std::uint64_t definition);
  /// Throws InputError for a start before the dataset.
  std::uint64_t place_of(std::int64_t start) const;
  PlacedBoxes& at_time(std::uint64_t definition, std::uint64_t time, bool has_time);
  void add_fragment(const PlacedBoxes& placed, std::uint64_t elements);

  RankReader rank_;
  std::uint64_t recorded_ranks_;
  const Paths& paths_;
  const DatasetNumbers& datasets_;
  const DatasetShapes& shapes_;
  std::uint32_t direction_;
  CapturedEvent event_;
  std::vector<PlacedBoxes> placed_;
  std::vector<Fragment> fragments_;
  std::map<std::uint64_t, std::uint64_t> phases_, meetings_;  ///< by path
  std::map<std::uint64_t, std::uint64_t> private_files_;      ///< RoundKey::file by path
  std::map<std::uint64_t, RoundKey> last_rounds_;             ///< by path
  RoundKey round_;
  std::set<std::uint64_t> cancelled_;  ///< requests whose elements are not moved
  /// Of datasets whose extent was set, by path and dataset.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint64_t>> extents_;
  std::map<std::uint64_t, std::string> effects_;  ///< by the rank's number of the call
  struct ListShape {
    BoxArray boxes;
    bool one_record = false;  ///< its boxes are of one record
  };
  const ListShape& list(std::uint64_t number);
  std::map<std::uint64_t, ListShape> lists_;
  struct Box {
    std::vector<std::int64_t> start, count, stride, block;
  };
  Box box_;               ///< what place_box() places; kept for its memory
  std::size_t held_ = 0;  ///< numbers in lists_
};

}  // namespace slabmark
