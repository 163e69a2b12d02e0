#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "capture/read/box_lists.hpp"
#include "capture/read/dataset_shapes.hpp"
#include "capture/read/events.hpp"
#include "capture/read/round_key.hpp"

namespace slabmark {

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

/// The elements that an event moves, record by record.
class CallPlacement {
 public:
  /// A part of memory: which of placed() it has, and how many elements.
  struct Fragment {
    std::size_t placed = 0;
    std::uint64_t elements = 0;
  };
  /// Where a dataset is.
  struct Target {
    std::uint64_t path = 0;
    std::uint64_t definition = 0;
  };

  explicit CallPlacement(const BoxLists& lists) : lists_(lists) {}

  void clear();
  /// Places what `event` moves of a dataset. `extent_now` is the dataset's if the event takes all
  /// of it. Throws InputError where the event does not fit the dataset.
  void place(const CapturedEvent& event, const Target& target, const DatasetShapes::Shape& shape,
             const std::vector<std::uint64_t>& extent_now);
  void set_round(const RoundKey& round) {
    for (PlacedBoxes& placed : placed_) placed.round = round;
  }

  /// In the order of memory.
  const std::vector<PlacedBoxes>& placed() const { return placed_; }
  /// The same as parts of memory, one after another.
  const std::vector<Fragment>& fragments() const { return fragments_; }
  const BoxArray& list(std::uint64_t number) { return known_list(number).boxes; }
  void append_boxes(const PlacedBoxes& placed, std::vector<std::int64_t>& numbers);

 private:
  struct KnownList {
    BoxArray boxes;
    bool one_record = false;  ///< its boxes are of one record
  };
  struct Box {
    std::vector<std::int64_t> start, count, stride, block;
  };

  const KnownList& known_list(std::uint64_t number);
  void place_list();
  void place_all(const std::vector<std::uint64_t>& extent_now);
  void place_box();
  /// Throws InputError for a start before the dataset.
  std::uint64_t checked(std::int64_t start) const;
  PlacedBoxes& at_time(std::uint64_t time);
  void add_fragment(const PlacedBoxes& placed, std::uint64_t elements);
  std::size_t skipped() const { return shape_->has_time ? 1 : 0; }  ///< dimensions of time

  const BoxLists& lists_;
  const CapturedEvent* event_ = nullptr;  ///< the one that is placed
  const DatasetShapes::Shape* shape_ = nullptr;
  Target target_;
  std::vector<PlacedBoxes> placed_;
  std::vector<Fragment> fragments_;
  std::map<std::uint64_t, KnownList> known_lists_;
  std::size_t held_ = 0;  ///< numbers in known_lists_
  Box box_;               ///< what place_box() places; kept for its memory
};

}  // namespace slabmark
