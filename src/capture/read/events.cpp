#include "capture/read/events.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "capture/format/event_flags.hpp"

namespace slabmark {

using capture::Token;

namespace {

constexpr std::uint64_t most_event_numbers = 4096;  // dimensions or arguments of an event
constexpr std::uint64_t most_requests = std::uint64_t{1} << 32;
constexpr std::uint64_t most_definitions = ~std::uint32_t{0};

}  // namespace

bool CapturedEvent::moves() const { return (flags & (capture::writes | capture::reads)) != 0; }

EventReader::EventReader(std::span<const std::uint8_t> bytes, std::string place)
    : place_(std::move(place)), tokens_(bytes, place_), bytes_(bytes), cursor_{{{}, place_}} {}

bool EventReader::next(CapturedEvent& event) {
  while (cursor_.body.at_end()) {
    if (!next_block()) return false;
  }
  read_event(event);
  event.begins_block = std::exchange(begins_block_, false);
  if (event.begins_block) {
    event.think_time = think_time_;
    event.inside = inside_;
  }
  return true;
}

bool EventReader::next_block() {
  while (!tokens_.at_end()) {
    const auto token = static_cast<Token>(tokens_.varint());
    if (finished_) tokens_.refuse("something follows the end");
    switch (token) {
      case Token::block: {
        think_time_ = tokens_.varint();
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
        begin(blocks_.back(), false);
        return begins_block_ = true;
      }
      case Token::again: {
        const std::uint64_t number = tokens_.varint();
        if (number >= blocks_.size()) tokens_.refuse("a block is used before it is there");
        think_time_ = tokens_.varint();
        inside_ = tokens_.varint();
        Layout& layout = blocks_[number];
        tokens_.column(layout.parameters.size(), [&](std::uint64_t i, std::int64_t value) {
          layout.parameters[i] = capture::sum(layout.parameters[i], value);
        });
        begin(layout, false);
        return begins_block_ = true;
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

std::size_t EventReader::survey(Layout& layout) {
  const std::uint64_t posted = posted_;
  begin(layout, true);
  for (CapturedEvent event; !cursor_.body.at_end();) read_event(event);
  layout.files = cursor_.files;
  layout.datasets = cursor_.datasets;
  posted_ = posted;
  // Parameters stand by number and then by track.
  std::size_t parameters = cursor_.files + cursor_.datasets;
  layout.places.resize(cursor_.tracks.size());
  std::vector<std::size_t> with_more(cursor_.tracks.size());
  std::iota(with_more.begin(), with_more.end(), std::size_t{0});
  for (std::size_t c = 0; !with_more.empty(); ++c) {
    std::erase_if(with_more, [&](std::size_t t) { return cursor_.tracks[t].last.size() <= c; });
    for (const std::size_t t : with_more) layout.places[t].push_back(parameters++);
  }
  return parameters;
}

void EventReader::begin(const Layout& block, bool is_surveyed) {
  cursor_.layout = is_surveyed ? nullptr : &block;
  cursor_.tracks.clear();
  cursor_.track = cursor_.files = cursor_.datasets = 0;
  cursor_.body = ByteReader(bytes_.subspan(block.begin, block.bytes), place_);
}

void EventReader::define_track() {
  ByteReader& body = cursor_.body;
  Track track;
  CapturedEvent& common = track.common;
  common.file = body.varint_up_to(cursor_.files, "number of a file");
  cursor_.files = std::max<std::size_t>(cursor_.files, common.file + 1);
  const std::uint64_t dataset = body.varint_up_to(cursor_.datasets + 1, "number of a dataset");
  cursor_.datasets = std::max<std::size_t>(cursor_.datasets, dataset);
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
  if (cursor_.layout) {
    const auto& places = cursor_.layout->places[cursor_.tracks.size()];
    for (std::size_t c = 0; c < track.last.size(); ++c) {
      track.last[c] = cursor_.layout->parameters[places[c]];
    }
    const auto id = [&](std::size_t parameter) {
      const std::int64_t number = cursor_.layout->parameters[parameter];
      if (number < 0 || static_cast<std::uint64_t>(number) > most_definitions) {
        body.refuse("a file or dataset has a number that cannot be");
      }
      return static_cast<std::uint64_t>(number);
    };
    common.file = id(common.file);
    if (dataset > 0) common.dataset = id(cursor_.layout->files + common.dataset);
  }
  cursor_.tracks.push_back(std::move(track));
}

void EventReader::read_event(CapturedEvent& event) {
  ByteReader& body = cursor_.body;
  const std::int64_t step = body.signed_varint();
  const auto number =
      static_cast<std::uint64_t>(capture::sum(static_cast<std::int64_t>(cursor_.track), step));
  if (number > cursor_.tracks.size()) body.refuse("a track is used before it is there");
  cursor_.track = number;
  if (cursor_.track == cursor_.tracks.size()) define_track();
  Track& track = cursor_.tracks[cursor_.track];

  event.file = track.common.file;
  event.dataset = track.common.dataset;
  event.call = track.common.call;
  event.flags = track.common.flags;
  event.type = track.common.type;
  event.details = track.common.details;
  event.rank = track.common.rank;
  if (event.moves()) read_selection(track, event);
  event.arguments.resize(track.arguments);
  for (std::size_t i = 0; i < track.arguments; ++i) {
    std::int64_t& last = track.last[event.rank + i];
    event.arguments[i] = last = capture::sum(last, body.signed_varint());
  }
  event.memory.reset();
  if (event.flags & capture::has_memory_flag) event.memory = body.varint();
  event.requests = CapturedEvent::Requests::none;
  event.listed.clear();
  if (event.flags & capture::names_requests_flag) read_requests(event);
  event.request = (event.flags & capture::nonblocking) ? ++posted_ : 0;
}

void EventReader::read_selection(Track& track, CapturedEvent& event) {
  ByteReader& body = cursor_.body;
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
    if (cursor_.layout && !is_near(track.last[d])) body.refuse("a box lies further than any array");
  }
}

void EventReader::read_requests(CapturedEvent& event) {
  ByteReader& body = cursor_.body;
  using Requests = CapturedEvent::Requests;
  const std::uint64_t code = body.varint();
  event.requests = code == capture::all_requests       ? Requests::all
                   : code == capture::writing_requests ? Requests::all_writing
                   : code == capture::reading_requests ? Requests::all_reading
                                                       : Requests::listed;
  if (code < capture::listed_requests) return;
  std::int64_t age = 0;
  // A block that is surveyed is not counted with what was posted before.
  const bool counts = cursor_.layout != nullptr;
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
