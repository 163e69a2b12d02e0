#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capture/record/recorder.hpp"
#include "capture/record/streams/call_times.hpp"
#include "capture/record/streams/definition_stream.hpp"
#include "capture/record/streams/event_stream.hpp"
#include "capture/record/streams/list_stream.hpp"

namespace slabmark::capture {

/// The recording of a process, as streams of bytes that the owner writes.
class Recording {
 public:
  DefinitionStream definitions;
  ListStream lists;
  EventStream events;
  CallTimes times;

  /// See record() of recorder.hpp.
  std::uint64_t record(const Event& event);
  void count_uncaptured(std::string_view name) {
    events.count_uncaptured(definitions.define_call(name, "uncaptured"));
  }
  /// True if a block should end with the call at hand.
  bool ends_block() const { return ends_block_; }
  void end_block();
  /// The process has come to its end.
  void finish();

  std::size_t unwritten_bytes() {
    return definitions.bytes().size() + lists.bytes().size() + events.bytes().size();
  }

 private:
  void code_selection(const Event& event, CodedEvent& coded);

  std::uint64_t posted_ = 0;
  bool ends_block_ = false;
};

}  // namespace slabmark::capture
