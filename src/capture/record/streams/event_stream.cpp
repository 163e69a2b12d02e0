#include "capture/record/streams/event_stream.hpp"

#include <utility>

namespace slabmark::capture {

bool EventStream::is_block_full() const {
  constexpr std::size_t most_bytes = 256 * 1024;
  constexpr std::size_t most_events = 65536;
  return block_.body().size() > most_bytes || block_.events() >= most_events;
}

void EventStream::end_block(CallTimes& times) {
  if (block_.empty()) return;
  std::vector<std::int64_t> parameters = block_.parameters();
  const Hash hash = Hash::of(block_.body());
  const auto known = blocks_.find(hash);
  if (known != blocks_.end()) {
    put_varint(bytes_, Token::again);
    put_varint(bytes_, known->second.number);
    times.put(bytes_);
    std::vector<std::int64_t>& before = known->second.parameters;
    put_column(bytes_, parameters.size(),
               [&](std::size_t i) { return difference(parameters[i], before[i]); });
    before.swap(parameters);
  } else {
    put_block(bytes_, parameters, times);
    // Beyond this many all are forgotten, and stored anew where they come again.
    constexpr std::size_t most_parameters = std::size_t{1} << 20;
    if (known_parameters_ > most_parameters) {
      blocks_.clear();
      known_parameters_ = 0;
    }
    known_parameters_ += parameters.size() + sizeof(KnownBlock) / sizeof(std::int64_t);
    blocks_.emplace(hash, KnownBlock{block_count_++, std::move(parameters)});
  }
  times.end_block();
  block_.clear();
}

void EventStream::put_pending(Bytes& to, const CallTimes& times) const {
  if (!block_.empty()) put_block(to, block_.parameters(), times);
}

void EventStream::put_block(Bytes& to, std::span<const std::int64_t> parameters,
                            const CallTimes& times) const {
  put_varint(to, Token::block);
  times.put(to);
  put_varint(to, block_.body().size());
  to.insert(to.end(), block_.body().begin(), block_.body().end());
  put_varint(to, parameters.size());
  put_column(to, parameters);
}

void EventStream::put_uncaptured() {
  for (const auto& [call, more] : uncaptured_) {
    put_varint(bytes_, Token::uncaptured);
    put_varint(bytes_, call);
    put_varint(bytes_, more);
  }
  uncaptured_.clear();
}

}  // namespace slabmark::capture
