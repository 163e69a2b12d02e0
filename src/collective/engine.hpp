#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "collective/exchange/rearranger.hpp"
#include "collective/plan.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::rearrange {

/// What serves all files of a group of ranks: a communicator, the memory of the exchange, and the
/// latest plans. No plan and no memory is made for a file that looks like one before.
class Engine {
 public:
  /// Collective over `parent`, of which nothing is kept. `plans`: most that are kept; a program
  /// that writes several files in turn has one for each of them.
  Engine(const Comm& parent, const RearrangerSettings& settings, std::size_t plans);

  const Comm& comm() const { return comm_; }
  const RearrangerSettings& settings() const { return settings_; }
  const Rearranger& rearranger() const { return rearranger_; }
  Rearranger& rearranger() { return rearranger_; }

  /// Which of the plans that are kept this rank, for one, could use; the latest comes first. There
  /// are as many on all ranks, and they must choose the same.
  std::vector<bool> fitting(const Layout& layout) const;

  /// Collective: the plan becomes the one in use.
  void use(std::size_t plan);
  /// Collective: makes a plan, which becomes the one in use. Every rank throws InputError where
  /// elements are had twice, see FlushPlan, and std::bad_alloc where one lacks memory for it.
  void make(const Layout& layout);

  const FlushPlan& plan() const { return plans_.front().flush(); }  ///< the one in use
  std::uint64_t plan_bytes() const;  ///< of this rank's memory, for the one in use; 0: none yet

  /// Collective: moves by the plan in use.
  Rearranger::Tally write(const Rearranger::Flush& flush, const Rearranger::FileAccess& access) {
    return rearranger_.write(flush, access);
  }
  Rearranger::Tally read(const Rearranger::Flush& flush, const Rearranger::FileAccess& access) {
    return rearranger_.read(flush, access);
  }

 private:
  Comm comm_;  // outlives that of a file
  RearrangerSettings settings_;
  Rearranger rearranger_;
  std::size_t most_plans_;
  std::list<Plan> plans_;  ///< in the same order on all ranks, the latest first
};

}  // namespace slabmark::rearrange
