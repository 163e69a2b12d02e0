#include "capture/read/events.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "capture/format/recorder.hpp"

namespace slabmark {

using capture::Token;

namespace {

constexpr std::uint64_t most_event_numbers = 4096;  // dimensions or arguments of an event
constexpr std::uint64_t most_requests = std::uint64_t{1} << 32;
constexpr std::uint64_t most_definitions = ~std::uint32_t{0};

}  // namespace

bool CapturedEvent::moves() const { return (flags & (capture::writes | capture::reads)) != 0; }

EventReader::EventReader(std::span<const std::uint8_t> bytes, std::string place)
    : place_(std::move(place)), tokens_(bytes, place_), bytes_(bytes), body_({}, place_) {}

bool EventReader::next(CapturedEvent& event) {
  while (!in_block_ || body_.at_end()) {
    if (!next_block()) return false;
  }
  read_event(body_, event);
  event.begins_block = std::exchange(at_begin_, false);
  if (event.begins_block) {
    event.thought = thought_;
    event.inside = inside_;
  }
  return true;
}

bool EventReader::next_block() {
  in_block_ = false;
  while (!tokens_.at_end()) {
    const auto token = static_cast<Token>(tokens_.varint());
    if (finished_) tokens_.refuse("something follows the end");
    switch (token) {
      case Token::block: {
        thought_ = tokens_.varint();
        inside_ = tokens_.varint();
        Layout layout;
        layout.bytes = tokens_.varint();
        layout.begin = tokens_.position();
        tokens_.part(layout.bytes);
        const std::size_t expected = survey(layout);
        if (tokens_.varint() != expected) {
          tokens_.refuse("a block has other parameters than it needs");
        }
        layout.parameters.resize(expected);
        tokens_.column(expected,
                       [&](std::uint64_t i, std::int64_t value) { layout.parameters[i] = value; });
        blocks_.push_back(std::move(layout));
        begin_block(blocks_.back());
        return true;
      }
      case Token::again: {
        const std::uint64_t number = tokens_.varint();
        if (number >= blocks_.size()) tokens_.refuse("a block is used before it is there");
        thought_ = tokens_.varint();
        inside_ = tokens_.varint();
        Layout& layout = blocks_[number];
        tokens_.column(layout.parameters.size(), [&](std::uint64_t i, std::int64_t value) {
          layout.parameters[i] = capture::sum(layout.parameters[i], value);
        });
        begin_block(layout);
        return true;
      }
      case Token::uncaptured: {
        const std::uint64_t call = tokens_.varint();
        uncaptured_[call] += tokens_.varint();
        break;
      }
      case Token::end:
        finished_ = true;
        break;
      default:
        tokens_.refuse("there is no such token");
    }
  }
  return false;
}

/// Returns how many parameters the block needs.
std::size_t EventReader::survey(Layout& layout) {
  const std::uint64_t posted = posted_;
  layout_ = nullptr;
  tracks_.clear();
  track_ = files_ = datasets_ = 0;
  ByteReader body(bytes_.subspan(layout.begin, layout.bytes), place_);
  for (CapturedEvent event; !body.at_end();) read_event(body, event);
  layout.files = files_;
  layout.datasets = datasets_;
  posted_ = posted;
  // Parameters stand by number and then by track.
  std::size_t parameters = files_ + datasets_;
  layout.places.resize(tracks_.size());
  std::vector<std::size_t> with_more(tracks_.size());
  std::iota(with_more.begin(), with_more.end(), std::size_t{0});
  for (std::size_t c = 0; !with_more.empty(); ++c) {
    std::erase_if(with_more, [&](std::size_t t) { return tracks_[t].last.size() <= c; });
    for (const std::size_t t : with_more) layout.places[t].push_back(parameters++);
  }
  return parameters;
}

void EventReader::begin_block(Layout& layout) {
  layout_ = &layout;
  tracks_.clear();
  track_ = files_ = datasets_ = 0;
  body_ = ByteReader(bytes_.subspan(layout.begin, layout.bytes), place_);
  in_block_ = at_begin_ = true;
}

void EventReader::define_track(ByteReader& body) {
  Track track;
  CapturedEvent& common = track.common;
  common.file = body.varint_up_to(files_, "number of a file");
  files_ = std::max<std::size_t>(files_, common.file + 1);
  const std::uint64_t dataset = body.varint_up_to(datasets_ + 1, "number of a dataset");
  datasets_ = std::max<std::size_t>(datasets_, dataset);
  common.dataset = dataset == 0 ? CapturedEvent::none : dataset - 1;
  common.call = body.varint_up_to(most_definitions, "number of a call");
  common.flags = static_cast<std::uint32_t>(body.varint_up_to(~std::uint32_t{0}, "flags"));
  const auto optional = [&](const char* what) {
    const std::uint64_t number = body.varint_up_to(most_definitions, what);
    return number == 0 ? CapturedEvent::none : number - 1;
  };
  common.type = optional("number of a type");
  common.details = optional("number of details");
  common.rank = body.varint_up_to(most_event_numbers, "number of dimensions");
  track.arguments = body.varint_up_to(most_event_numbers, "number of arguments");
  track.last.resize(common.rank + track.arguments);
  if (layout_) {
    const auto& places = layout_->places[tracks_.size()];
    for (std::size_t c = 0; c < track.last.size(); ++c) {
      track.last[c] = layout_->parameters[places[c]];
    }
    const auto id = [&](std::size_t parameter) {
      const std::int64_t number = layout_->parameters[parameter];
      if (number < 0 || static_cast<std::uint64_t>(number) > most_definitions) {
        body.refuse("a file or dataset has a number that cannot be");
      }
      return static_cast<std::uint64_t>(number);
    };
    common.file = id(common.file);
    if (dataset > 0) common.dataset = id(layout_->files + common.dataset);
  }
  tracks_.push_back(std::move(track));
}

void EventReader::read_event(ByteReader& body, CapturedEvent& event) {
  const std::int64_t step = body.signed_varint();
  const auto number =
      static_cast<std::uint64_t>(capture::sum(static_cast<std::int64_t>(track_), step));
  if (number > tracks_.size()) body.refuse("a track is used before it is there");
  track_ = number;
  if (track_ == tracks_.size()) define_track(body);
  Track& track = tracks_[track_];

  event.file = track.common.file;
  event.dataset = track.common.dataset;
  event.call = track.common.call;
  event.flags = track.common.flags;
  event.type = track.common.type;
  event.details = track.common.details;
  event.rank = track.common.rank;
  if (event.moves()) read_selection(body, track, event);
  event.arguments.resize(track.arguments);
  for (std::size_t i = 0; i < track.arguments; ++i) {
    std::int64_t& last = track.last[event.rank + i];
    event.arguments[i] = last = capture::sum(last, body.signed_varint());
  }
  event.memory.reset();
  if (event.flags & capture::has_memory_flag) event.memory = body.varint();
  event.requests = CapturedEvent::Requests::none;
  event.listed.clear();
  if (event.flags & capture::names_requests_flag) read_requests(body, event);
  event.request = (event.flags & capture::nonblocking) ? ++posted_ : 0;
}

void EventReader::read_selection(ByteReader& body, Track& track, CapturedEvent& event) {
  using Selected = CapturedEvent::Selection;
  const std::uint64_t code = body.varint();
  event.counts.clear();
  event.origin.clear();
  event.selection = code == capture::select_all_code    ? Selected::all
                    : code == capture::select_none_code ? Selected::nothing
                    : code == capture::select_box_code  ? Selected::box
                                                        : Selected::list;
  if (code < capture::select_box_code) return;
  if (event.selection == Selected::box) {
    for (std::size_t d = 0; d < event.rank; ++d) {
      event.counts.push_back(body.varint());
      if (!is_near(static_cast<std::int64_t>(event.counts.back())) ||
          static_cast<std::int64_t>(event.counts.back()) < 0) {
        body.refuse("a box is longer than any array");
      }
    }
  } else {
    event.list = code - capture::first_list_code;
  }
  for (std::size_t d = 0; d < event.rank; ++d) {
    track.last[d] = capture::sum(track.last[d], body.signed_varint());
    event.origin.push_back(track.last[d]);
    // A block that is surveyed has no parameters yet.
    if (layout_ && !is_near(track.last[d])) body.refuse("a box lies further than any array");
  }
}

void EventReader::read_requests(ByteReader& body, CapturedEvent& event) {
  using Requests = CapturedEvent::Requests;
  const std::uint64_t code = body.varint();
  event.requests = code == capture::all_requests       ? Requests::all
                   : code == capture::writing_requests ? Requests::all_writing
                   : code == capture::reading_requests ? Requests::all_reading
                                                       : Requests::listed;
  if (code < capture::listed_requests) return;
  std::int64_t age = 0;
  // A block that is surveyed is not counted with what was posted before.
  const bool counts = layout_ != nullptr;
  if (code > most_requests) body.refuse("more requests are waited for than can be");
  body.column(code - capture::listed_requests, [&](std::uint64_t, std::int64_t difference) {
    age = capture::sum(age, difference);
    if (!counts) return;
    if (age < 1 || static_cast<std::uint64_t>(age) > posted_)
      body.refuse("a request is waited for that was not made");
    event.listed.push_back(posted_ - static_cast<std::uint64_t>(age) + 1);
  });
}

}  // namespace slabmark
