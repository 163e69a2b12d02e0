#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "capture/format/coding.hpp"
#include "capture/record/recorder.hpp"

namespace slabmark::capture {

/// An event whose lists have numbers.
struct CodedEvent {
  const Event* event;
  std::size_t rank = 0;
  std::uint64_t selection = select_all_code;  ///< as it is coded; only with reads or writes
  const std::int64_t* origin = nullptr;       ///< of a box and of lists
  const std::int64_t* counts = nullptr;       ///< of a box
  std::uint64_t memory = 0;                   ///< number of the list
  std::uint64_t posted = 0;                   ///< requests so far
};

/// A block of events as it is being made: what is the same wherever it is made again, and the
/// parameters that tell where this one lies.
class Block {
 public:
  bool empty() const { return events_ == 0; }
  std::size_t events() const { return events_; }
  const Bytes& body() const { return body_; }
  void add(const CodedEvent& coded);
  /// In the order of the file.
  std::vector<std::int64_t> parameters() const;
  void clear();

 private:
  static constexpr std::size_t key_numbers = 8;
  using Key = std::array<std::uint32_t, key_numbers>;
  struct HashOfKey {
    std::size_t operator()(const Key& key) const;
  };
  struct Track {
    Key key;
    std::size_t rank = 0;
    bool has_origin = false;
    std::vector<std::int64_t> first, last;  ///< origin, then arguments
    std::size_t next = 0;                   ///< the track that came after it the last time
  };

  std::size_t track_of(const Key& key, const CodedEvent& coded);
  void define_track(const Key& key, const CodedEvent& coded);
  void add_requests(const Requests& requests, std::uint64_t posted);

  Bytes body_;
  std::size_t events_ = 0;
  std::size_t track_ = 0;
  std::vector<Track> tracks_;
  std::vector<std::int64_t> files_, datasets_;
  std::unordered_map<Key, std::size_t, HashOfKey> track_numbers_;
  std::unordered_map<Id, std::size_t> file_numbers_, dataset_numbers_;
  std::vector<std::int64_t> ages_;
};

}  // namespace slabmark::capture
