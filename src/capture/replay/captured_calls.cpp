#include "capture/replay/captured_calls.hpp"

#include <algorithm>
#include <utility>

namespace slabmark {

bool CapturedCall::has_elements() const {
  return std::any_of(parts.begin(), parts.end(),
                     [](const Part& part) { return part.elements > 0; });
}

bool CapturedCall::is_left_out() const {
  if (!event().has(capture::failed)) return false;
  const bool waits = event().requests != CapturedEvent::Requests::none;
  return !waits && !(moves() && event().has(capture::collective));
}

CapturedCalls::CapturedCalls(const RecordedProgram& program, std::set<std::uint64_t> paths)
    : walk_(program.walk(program.recorded_rank.value())), paths_(std::move(paths)) {
  has_event_ = find_event();
}

const CapturedCall* CapturedCalls::ahead() {
  if (!ahead_ && has_event_) ahead_ = read();
  return ahead_ ? &*ahead_ : nullptr;
}

CapturedCall CapturedCalls::take() {
  ahead();
  CapturedCall call = std::move(ahead_).value();
  ahead_.reset();
  return call;
}

bool CapturedCalls::find_event() {
  while (walk_.next()) {
    if (paths_.contains(walk_.path())) return true;
  }
  return false;
}

CapturedCall CapturedCalls::read() {
  CapturedCall call;
  call.effect = walk_.effect();
  call.round = walk_.round();
  call.orders_rounds = walk_.orders_rounds();
  call.is_made_by_all = walk_.is_made_by_all();
  call.name = walk_.rank().call(walk_.event().call).name;
  do {
    const CapturedEvent& event = walk_.event();
    call.parts.push_back(
        {event, walk_.placed(), walk_.fragments(), event.moves() ? walk_.elements() : 0});
    has_event_ = find_event();
  } while (has_event_ && walk_.event().has(capture::one_more_part));
  return call;
}

}  // namespace slabmark
