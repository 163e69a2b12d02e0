#include "capture/record/streams/block.hpp"

#include <algorithm>

#include "capture/format/hash.hpp"

namespace slabmark::capture {

std::size_t Block::HashOfKey::operator()(const Key& key) const {
  HashOfPairs hash(0, 0);
  for (std::size_t i = 0; i < key_numbers; i += 2) hash.add(key[i], key[i + 1]);
  return HashOfHash()(hash.value());
}

void Block::add(const CodedEvent& coded) {
  const Event& event = *coded.event;
  const bool moves = (event.flags & (writes | reads)) != 0;
  const bool waits = event.requests.which != Requests::Which::none;
  const std::uint32_t flags =
      event.flags | (event.memory ? has_memory_flag : 0) | (waits ? names_requests_flag : 0);
  const Key key = {event.file,
                   event.dataset + 1,  // no_id becomes 0
                   event.call,
                   flags,
                   event.type + 1,
                   event.details + 1,
                   static_cast<std::uint32_t>(moves ? coded.rank : 0),
                   static_cast<std::uint32_t>(event.arguments.size())};
  const std::size_t before = track_;
  const bool is_new = (track_ = track_of(key, coded)) == tracks_.size();
  put_signed(body_, static_cast<std::int64_t>(track_) - static_cast<std::int64_t>(before));
  if (is_new) define_track(key, coded);
  if (before < tracks_.size()) tracks_[before].next = track_;

  Track& track = tracks_[track_];
  if (moves) {
    put_varint(body_, coded.selection);
    if (coded.selection == select_box_code) {
      for (std::size_t d = 0; d < track.rank; ++d) {
        put_varint(body_, static_cast<std::uint64_t>(coded.counts[d]));
      }
    }
    if (coded.selection >= select_box_code) {
      if (!track.has_origin) {
        std::copy_n(coded.origin, track.rank, track.first.begin());
        std::copy_n(coded.origin, track.rank, track.last.begin());
        track.has_origin = true;
      }
      for (std::size_t d = 0; d < track.rank; ++d) {
        put_signed(body_, difference(coded.origin[d], track.last[d]));
        track.last[d] = coded.origin[d];
      }
    }
  }
  for (std::size_t i = 0; i < event.arguments.size(); ++i) {
    std::int64_t& last = track.last[track.rank + i];
    put_signed(body_, difference(event.arguments[i], last));
    last = event.arguments[i];
  }
  if (event.memory) put_varint(body_, coded.memory);
  if (waits) add_requests(event.requests, coded.posted);
  ++events_;
}

std::size_t Block::track_of(const Key& key, const CodedEvent&) {
  if (track_ < tracks_.size()) {
    const std::size_t likely = tracks_[track_].next;
    if (tracks_[likely].key == key) return likely;
  }
  const auto found = track_numbers_.find(key);
  return found == track_numbers_.end() ? tracks_.size() : found->second;
}

void Block::define_track(const Key& key, const CodedEvent& coded) {
  const Event& event = *coded.event;
  const auto local = [](auto& numbers, std::vector<std::int64_t>& all, Id id) {
    const auto [place, is_new] = numbers.try_emplace(id, all.size());
    if (is_new) all.push_back(id);
    return place->second;
  };
  put_varint(body_, local(file_numbers_, files_, event.file));
  put_varint(body_,
             event.dataset == no_id ? 0 : local(dataset_numbers_, datasets_, event.dataset) + 1);
  for (std::size_t i = 2; i < key_numbers; ++i) put_varint(body_, key[i]);

  Track track{key, key[6], false, {}, {}, tracks_.size()};
  track.first.resize(track.rank);
  track.first.insert(track.first.end(), event.arguments.begin(), event.arguments.end());
  track.last = track.first;
  track_numbers_.emplace(key, tracks_.size());
  tracks_.push_back(std::move(track));
}

void Block::add_requests(const Requests& requests, std::uint64_t posted) {
  using Which = Requests::Which;
  if (requests.which != Which::listed) {
    put_varint(body_, requests.which == Which::all           ? all_requests
                      : requests.which == Which::all_writing ? writing_requests
                                                             : reading_requests);
    return;
  }
  put_varint(body_, listed_requests + requests.listed.size());
  ages_.clear();
  std::int64_t before = 0;
  for (const std::uint64_t request : requests.listed) {
    const auto age = static_cast<std::int64_t>(posted - request) + 1;
    ages_.push_back(age - before);
    before = age;
  }
  put_column(body_, ages_);
}

std::vector<std::int64_t> Block::parameters() const {
  std::vector<std::int64_t> all = files_;
  all.insert(all.end(), datasets_.begin(), datasets_.end());
  std::size_t most = 0;
  for (const Track& track : tracks_) most = std::max(most, track.first.size());
  for (std::size_t c = 0; c < most; ++c) {
    for (const Track& track : tracks_) {
      if (c < track.first.size()) all.push_back(track.first[c]);
    }
  }
  return all;
}

void Block::clear() {
  body_.clear();
  events_ = 0;
  track_ = 0;
  tracks_.clear();
  files_.clear();
  datasets_.clear();
  track_numbers_.clear();
  file_numbers_.clear();
  dataset_numbers_.clear();
}

}  // namespace slabmark::capture
