#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/measure/clock.hpp"
#include "bench/measure/order.hpp"
#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"
#include "programs/probe/options.hpp"
#include "programs/probe/topology.hpp"

namespace slabmark::probe {

/// Files of their own that nodes write, one a rank.
class NodeFiles {
 public:
  NodeFiles(const Comm& comm, const Options& options, const Topology& topology);

  /// Of all nodes.
  std::uint64_t bytes() const;

  /// Throws IoError if this rank may not write its part, or the parts of all do not fit.
  void require_room(const std::string& folder) const;

  /// Collective: writes, checks and removes them; on root the seconds of each node. Throws IoError.
  Json write(PhaseClock& clock, std::uint64_t trial, const std::string& folder);

 private:
  std::uint64_t bytes_of(std::size_t node, std::size_t number) const;
  std::uint64_t own_bytes() const;
  void write_file(const std::string& path, std::uint64_t trial) const;
  void check_file(const std::string& folder, std::uint64_t trial) const;
  template <class Move>
  void each_part(int rank, std::uint64_t bytes, std::uint64_t trial, const Move& move) const;

  const Comm& comm_;
  const Options& options_;
  const Topology& topology_;
  TrialOrder order_;
};

}  // namespace slabmark::probe
