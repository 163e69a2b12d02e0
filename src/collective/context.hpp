#pragma once

#include <cstdint>
#include <memory>

#include "collective/exchange/rearranger.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::collective {

/// Serves all files of a group of ranks with a communicator and the memory of the exchange. Their
/// plans are kept beside it, each kind in a PlanCache.
class Context {
 public:
  /// Collective over `parent`, of which nothing is kept.
  explicit Context(MPI_Comm parent) : comm_(parent) {}

  const Comm& comm() const { return comm_; }

  /// Collective: makes the memory if there is none, or if it is for other settings. Returns true
  /// where plans that were made before are of no more use, since other ranks aggregate.
  [[nodiscard]] bool prepare(const RearrangerSettings& settings) {
    if (is_prepared(settings)) return false;
    rearranger_.reset();
    settings_ = settings;
    rearranger_ = std::make_unique<Rearranger>(comm_, settings);
    return true;
  }
  bool is_prepared(const RearrangerSettings& settings) const {
    return rearranger_ && settings == settings_;
  }

  // All below need a context that is prepared.

  const RearrangerSettings& settings() const { return settings_; }
  Rearranger& rearranger() { return *rearranger_; }
  const Rearranger& rearranger() const { return *rearranger_; }
  bool is_aggregator() const { return rearranger_->aggregates(); }

 private:
  Comm comm_;  // outlives that of a file
  RearrangerSettings settings_;
  std::unique_ptr<Rearranger> rearranger_;
};

}  // namespace slabmark::collective
