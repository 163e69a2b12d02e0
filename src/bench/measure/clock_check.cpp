#include "bench/measure/clock_check.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "core/base/host_name.hpp"

namespace slabmark {

namespace {

// Shorter times say nothing where a clock has steps of some milliseconds.
constexpr double shortest = 0.05;

template <class Clock>
double seconds_of(Clock duration) {
  return std::chrono::duration<double>(duration).count();
}

/// How far a rate is from 1, whether it is fast or slow.
double deviation(double rate) { return rate > 0 ? std::abs(std::log(rate)) : 0.0; }

}  // namespace

ClockCheck::ClockCheck(const Comm& comm) : first_(Reading::now()), met_(meet(comm)) {}

// The one of several that was interrupted the least.
ClockCheck::Reading ClockCheck::Reading::now() {
  Reading best;
  for (int i = 0; i < 10; ++i) {
    Reading one;
    one.before = std::chrono::steady_clock::now();
    one.realtime = std::chrono::system_clock::now();
    one.after = std::chrono::steady_clock::now();
    if (i == 0 || one.after - one.before < best.after - best.before) best = one;
  }
  return best;
}

// Ranks that have just met meet again at once, so that the second meeting is short.
ClockCheck::Meeting ClockCheck::meet(const Comm& comm) {
  comm.barrier();
  Meeting met;
  met.begin = std::chrono::steady_clock::now();
  comm.barrier();
  met.end = std::chrono::steady_clock::now();
  return met;
}

/// Of the monotonic clock, measured by the realtime clock; 1 where the difference may be due to
/// what lies between two readings.
double ClockCheck::rate_between(const Reading& first, const Reading& last) {
  const double realtime = seconds_of(last.realtime - first.realtime);
  const double least = seconds_of(last.before - first.after);
  const double most = seconds_of(last.after - first.before);
  if (realtime <= 0 || most <= 0) return 1.0;
  return least > realtime ? least / realtime : most < realtime ? most / realtime : 1.0;
}

Json ClockCheck::compare(const Comm& comm) const {
  const double limit = std::log1p(tolerance);
  const Meeting met = meet(comm);
  const double inner = seconds_of(met.begin - met_.end);
  const double outer = seconds_of(met.end - met_.begin);
  const bool is_long = comm.min(outer) >= shortest;
  double rate = rate_between(first_, Reading::now());
  // Somebody may have set the realtime clock meanwhile: a rate that is wrong is so now, too.
  if (deviation(rate) >= limit) {
    const Reading begin = Reading::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(shortest));
    const double now = rate_between(begin, Reading::now());
    if (deviation(now) < deviation(rate)) rate = now;
  }
  const std::vector<double> inners = comm.gather(inner);
  const std::vector<double> outers = comm.gather(outer);
  const std::vector<double> rates = comm.gather(rate);
  const std::vector<std::string> hosts = comm.gather(host_name());
  if (!comm.is_root()) return nullptr;
  Json found = {{"seconds", outer}, {"disagreement", nullptr}};
  if (!is_long) return found;
  const auto tell = [&](std::size_t rank, double how, const std::string& against) {
    found["disagreement"] = {
        {"rank", rank}, {"host", hosts[rank]}, {"rate", how}, {"against", against}};
  };
  const auto index = [](const auto& all, auto place) {
    return static_cast<std::size_t>(place - all.begin());
  };
  const std::size_t strangest = index(
      rates, std::max_element(rates.begin(), rates.end(),
                              [](double a, double b) { return deviation(a) < deviation(b); }));
  const std::size_t fastest = index(inners, std::max_element(inners.begin(), inners.end()));
  const std::size_t slowest = index(outers, std::min_element(outers.begin(), outers.end()));
  if (deviation(rates[strangest]) >= limit) {
    tell(strangest, rates[strangest], "its realtime clock");
  } else if (inners[fastest] >= (1.0 + tolerance) * outers[slowest]) {
    tell(fastest, inners[fastest] / outers[slowest],
         fmt::format("rank {} on {}", slowest, hosts[slowest]));
  }
  return found;
}

}  // namespace slabmark
