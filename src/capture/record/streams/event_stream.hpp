#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "capture/format/coding.hpp"
#include "capture/format/hash.hpp"
#include "capture/record/streams/block.hpp"
#include "capture/record/streams/call_times.hpp"

namespace slabmark::capture {

/// The events of a process: the block that is being made, and the bytes of the stream that are not
/// written yet.
class EventStream {
 public:
  Bytes& bytes() { return bytes_; }

  void add(const CodedEvent& event) { block_.add(event); }
  std::size_t block_bytes() const { return block_.body().size(); }
  bool is_block_full() const;
  /// Ends the block, which is coded by its number where the same one was before.
  void end_block(CallTimes& times);
  /// The block as it would be coded if it ended here.
  void put_pending(Bytes& to, const CallTimes& times) const;

  void count_uncaptured(Id call) { ++uncaptured_[call]; }
  /// Codes the counts that are not coded yet.
  void put_uncaptured();
  void put_end() { put_varint(bytes_, Token::end); }

 private:
  struct KnownBlock {
    std::uint64_t number;
    std::vector<std::int64_t> parameters;
  };

  void put_block(Bytes& to, std::span<const std::int64_t> parameters, const CallTimes& times) const;

  Bytes bytes_;
  Block block_;
  std::unordered_map<Hash, KnownBlock, HashOfHash> blocks_;
  std::uint64_t block_count_ = 0;
  std::size_t known_parameters_ = 0;
  std::map<Id, std::uint64_t> uncaptured_;  ///< calls, by definition
};

}  // namespace slabmark::capture
