#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capture/read/byte_reader.hpp"

namespace slabmark {

/// One call of a recorded rank, or a part of one; docs/reference/pattern-file.md explains the
/// fields. Numbers of files and definitions are the rank's own.
struct CapturedEvent {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  enum class Selection { all, nothing, box, list };
  enum class Requests { none, all, all_writing, all_reading, listed };

  std::uint64_t file = 0;
  std::uint64_t dataset = none;
  std::uint64_t call = 0;
  std::uint32_t flags = 0;  ///< capture::writes and so on
  std::uint64_t type = none;
  std::uint64_t details = none;
  std::size_t rank = 0;

  Selection selection = Selection::all;
  std::uint64_t list = 0;
  std::vector<std::uint64_t> counts;  ///< of a box
  std::vector<std::int64_t> origin;   ///< of a box or list
  std::vector<std::int64_t> arguments;
  std::optional<std::uint64_t> memory;  ///< number of a list
  Requests requests = Requests::none;
  std::vector<std::uint64_t> listed;  ///< numbers of requests
  std::uint64_t request = 0;          ///< of a nonblocking call, from 1; else 0

  bool begins_block = false;
  std::uint64_t think_time = 0;  ///< where a block begins: microseconds outside of calls
  std::uint64_t inside = 0;      ///< and inside, over the whole block

  bool has(unsigned flag) const { return (flags & flag) != 0; }
  bool moves() const;
};

/// Goes through the events of a recorded rank.
class EventReader {
 public:
  /// `bytes` live as long; `place` is what messages call them.
  EventReader(std::span<const std::uint8_t> bytes, std::string place);
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  /// Stores the next event, whose storage is reused, and returns true; false after the last. Throws
  /// InputError for damaged ones.
  bool next(CapturedEvent& event);

  /// After the last: whether the process came to its end.
  bool finished() const { return finished_; }
  /// Calls that are not captured: how many, by the number of the definition.
  const std::map<std::uint64_t, std::uint64_t>& uncaptured() const { return uncaptured_; }

 private:
  struct Track {
    CapturedEvent common;  ///< with what all its events have; file and dataset the block's own
    std::size_t arguments = 0;
    std::vector<std::int64_t> last;
  };
  /// The part of a block that is the same each time.
  struct Layout {
    std::size_t begin = 0, bytes = 0;
    std::size_t files = 0, datasets = 0;
    std::vector<std::vector<std::size_t>> places;  ///< of each track's numbers among the parameters
    std::vector<std::int64_t> parameters;
  };

  /// Where in a block the events are read.
  struct Cursor {
    ByteReader body;
    const Layout* layout = nullptr;  ///< null while the block is surveyed
    std::size_t track = 0;
    std::vector<Track> tracks = {};
    std::size_t files = 0, datasets = 0;
  };

  bool next_block();
  void begin(const Layout& block, bool is_surveyed);
  /// Returns how many parameters the block needs.
  std::size_t survey(Layout& layout);
  void read_event(CapturedEvent& event);
  void read_selection(Track& track, CapturedEvent& event);
  void read_requests(CapturedEvent& event);
  void define_track();

  std::string place_;
  ByteReader tokens_;
  std::span<const std::uint8_t> bytes_;
  std::vector<Layout> blocks_;
  std::map<std::uint64_t, std::uint64_t> uncaptured_;
  bool finished_ = false;
  Cursor cursor_;
  bool begins_block_ = false;
  std::uint64_t think_time_ = 0, inside_ = 0;  ///< of the block at hand
  std::uint64_t posted_ = 0;
};

}  // namespace slabmark
