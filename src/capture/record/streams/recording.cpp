#include "capture/record/streams/recording.hpp"

#include "capture/record/streams/list_coder.hpp"

namespace slabmark::capture {

std::uint64_t Recording::record(const Event& event) {
  CodedEvent coded{&event, event.rank};
  if (event.flags & (writes | reads)) code_selection(event, coded);
  if (event.memory) coded.memory = lists.number(ListCoder(*event.memory), true);
  coded.posted = posted_;
  events.add(coded);
  ends_block_ = ends_block_ || definitions.ends_block(event.call) || events.is_block_full();
  return event.flags & nonblocking ? ++posted_ : 0;
}

void Recording::code_selection(const Event& event, CodedEvent& coded) {
  if (!event.selection) return;
  coded.rank = event.selection->rank();
  coded.selection = select_none_code;
  if (event.selection->size() == 0) return;
  const ListCoder coder(*event.selection);
  coded.origin = coder.origin();
  if (coder.is_one_box()) {
    coded.selection = select_box_code;
    coded.counts = coder.counts();
    return;
  }
  coded.selection = first_list_code + lists.number(coder, false);
}

void Recording::end_block() {
  ends_block_ = false;
  events.end_block(times);
}

void Recording::finish() {
  end_block();
  definitions.put("{\"finished\":true,\"kind\":\"process\"}");
  events.put_uncaptured();
  events.put_end();
}

}  // namespace slabmark::capture
