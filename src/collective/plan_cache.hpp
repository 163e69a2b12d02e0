#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <optional>
#include <utility>

#include "collective/plan.hpp"

namespace slabmark::collective {

/// The latest plans, each with a key of the caller's own that tells for which flushes it serves.
/// All ranks keep them in the same order, the latest first. A program that writes several files in
/// turn has a plan for each of them.
template <class Key>
class PlanCache {
 public:
  struct Entry {
    Key key;
    Plan plan;
  };

  /// `most`: plans that are kept, up to 64.
  explicit PlanCache(std::size_t most) : most_(most) {}

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  /// Bit i tells whether `fits` plan i, on this rank. Ranks must choose a plan that fits on all.
  template <class Fits>
  std::uint64_t fitting(const Fits& fits) const {
    std::uint64_t mask = 0;
    std::uint64_t bit = 1;
    for (const Entry& entry : entries_) {
      if (fits(entry)) mask |= bit;
      bit *= 2;
    }
    return mask;
  }
  /// The plan to use where these fit on all ranks; nothing: a new one is needed.
  static std::optional<std::size_t> chosen(std::uint64_t fitting) {
    if (fitting == 0) return std::nullopt;
    return static_cast<std::size_t>(std::countr_zero(fitting));
  }

  Entry& latest() { return entries_.front(); }
  const Entry& latest() const { return entries_.front(); }
  /// Makes the plan the latest one.
  Entry& use(std::size_t plan) {
    entries_.splice(entries_.begin(), entries_,
                    std::next(entries_.begin(), static_cast<std::ptrdiff_t>(plan)));
    return entries_.front();
  }
  /// Makes room for a plan, before it takes memory.
  void drop_oldest_if_full() {
    if (entries_.size() == most_) entries_.pop_back();
  }
  Entry& add(Key key, Plan plan) {
    drop_oldest_if_full();
    entries_.push_front({std::move(key), std::move(plan)});
    return entries_.front();
  }
  void clear() { entries_.clear(); }

 private:
  std::size_t most_;
  std::list<Entry> entries_;
};

}  // namespace slabmark::collective
