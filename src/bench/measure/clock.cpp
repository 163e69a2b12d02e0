#include "bench/measure/clock.hpp"

#include <exception>
#include <utility>

#include "core/parallel/abort.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

double seconds_between(std::chrono::steady_clock::time_point a,
                       std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

std::exception_ptr failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

RankTimes& RankTimes::operator+=(const RankTimes& more) {
  for (std::size_t i = 0; i < phase.size(); ++i) phase[i] += more.phase[i];
  for (const auto& [name, seconds] : more.spans) spans[name] += seconds;
  open_to_close += more.open_to_close;
  parts.insert(parts.end(), more.parts.begin(), more.parts.end());
  return *this;
}

void PhaseClock::watch(std::string_view work) {
  if (deadline_ != nullptr) deadline_->watch(std::string(work));
}

// Closing files on the way out may hang where ranks have failed at different places.
void PhaseClock::agree_or_end_soon(std::exception_ptr failure) const {
  try {
    agree(comm_, failure);
  } catch (const Error& error) {
    end_soon(error.what(), error.status());
    throw;
  }
}

void PhaseClock::time(Phase phase, const std::function<void()>& work) {
  watch(name_of(phase));
  current_ = phase;
  if (!running_) {
    comm_.barrier();
    running_ = true;
    resumed_ = steady::now();
  }
  const auto start = steady::now();
  const std::exception_ptr failure = failure_of(work);
  const double seconds = seconds_between(start, steady::now());
  times_.phase[static_cast<std::size_t>(phase)] += seconds;
  // One reduction serves twice: it tells of failures, and no rank leaves it before the slowest has
  // come, so it is the barrier that the next phase starts from.
  agree_or_end_soon(failure);
  const auto end = steady::now();
  times_.parts.push_back({phase, seconds, seconds_between(start, end)});
  times_.open_to_close = before_pause_ + seconds_between(resumed_, end);
  watch("The time between two phases");  // a rank may be stopped, or hang, in a user's function
}

void PhaseClock::pause(const std::function<void()>& work) {
  running_ = false;
  before_pause_ = times_.open_to_close;
  watch("Filling or checking buffers");
  agree_or_end_soon(failure_of(work));
}

RankTimes PhaseClock::take_times() {
  running_ = false;
  before_pause_ = 0.0;
  return std::exchange(times_, {});
}

void PhaseClock::span(const std::string& name, const std::function<void()>& work) {
  const auto start = steady::now();
  work();
  add_to_span(name, seconds_between(start, steady::now()));
}

void PhaseClock::add_to_span(const std::string& name, double seconds) {
  times_.spans[std::string(name_of(current_)) + "." + name] += seconds;
}

}  // namespace slabmark
