#include "programs/probe/topology.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "core/base/host_name.hpp"

namespace slabmark::probe {

Topology::Topology(const Comm& comm, std::uint64_t ranks_per_node) : rank_(comm.rank()) {
  int key = comm.rank();
  if (ranks_per_node > 0) {
    key = static_cast<int>(static_cast<std::uint64_t>(comm.rank()) / ranks_per_node);
  } else {
    MPI_Comm shared = MPI_COMM_NULL;
    check_mpi(
        MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &shared),
        "MPI_Comm_split_type");
    const std::unique_ptr<Comm> node = Comm::taking_over(shared);
    check_mpi(MPI_Bcast(&key, 1, MPI_INT, 0, node->get()), "MPI_Bcast");
  }
  std::vector<int> keys(static_cast<std::size_t>(comm.size()));
  check_mpi(MPI_Allgather(&key, 1, MPI_INT, keys.data(), 1, MPI_INT, comm.get()), "MPI_Allgather");
  const std::vector<std::string> hosts = comm.gather(host_name());
  std::map<int, std::size_t> places;
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    const auto [place, is_new] = places.emplace(keys[rank], nodes_.size());
    if (is_new) {
      Node& node = nodes_.emplace_back();
      if (comm.is_root()) node.name = hosts[rank];
      if (comm.is_root() && ranks_per_node > 0) node.name += fmt::format(", rank {}", rank);
    }
    auto& ranks = nodes_[place->second].ranks;
    if (static_cast<int>(rank) == rank_) {
      node_ = place->second;
      number_ = ranks.size();
    }
    ranks.push_back(static_cast<int>(rank));
  }
}

int Topology::rank_to_look_at() const {
  std::vector<int> ranks;  // node by node
  std::size_t largest = 0;
  for (const Node& node : nodes_) {
    ranks.insert(ranks.end(), node.ranks.begin(), node.ranks.end());
    largest = std::max(largest, node.ranks.size());
  }
  const auto mine = std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin();
  return ranks[(static_cast<std::size_t>(mine) + largest) % ranks.size()];
}

double slowest(const std::vector<int>& ranks, std::size_t count,
               const std::vector<double>& seconds) {
  double found = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    found = std::max(found, seconds[static_cast<std::size_t>(ranks[i])]);
  }
  return found;
}

}  // namespace slabmark::probe
