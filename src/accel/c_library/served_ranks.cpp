#include "accel/c_library/served_ranks.hpp"

#include <algorithm>

#include "collective/exchange/shared_staging.hpp"

namespace slabmark::rearrange {

namespace {

/// By rank, the index of its I/O rank; their number where its node has none.
std::vector<std::size_t> find_servers(const Comm& all, const std::vector<int>& servers,
                                      std::uint64_t node_ranks) {
  std::vector<std::size_t> server_of(static_cast<std::size_t>(all.size()), servers.size());
  for (const std::vector<int>& ranks : SharedStaging(all, node_ranks).ranks_by_node()) {
    std::vector<std::size_t> here;
    std::vector<int> served;
    for (const int rank : ranks) {
      const auto found = std::ranges::lower_bound(servers, rank);
      if (found != servers.end() && *found == rank) {
        here.push_back(static_cast<std::size_t>(found - servers.begin()));
        server_of[static_cast<std::size_t>(rank)] = here.back();
      } else {
        served.push_back(rank);
      }
    }
    for (std::size_t i = 0; i < served.size() && !here.empty(); ++i) {
      server_of[static_cast<std::size_t>(served[i])] = here[i * here.size() / served.size()];
    }
  }
  return server_of;
}

}  // namespace

ServedRanks::ServedRanks(const Comm& all, const IoRanks& io_ranks, std::uint64_t node_ranks) {
  const std::vector<int>& io = io_ranks.ranks();
  const auto server_of = find_servers(all, io, node_ranks);
  for (int rank = 0; rank < all.size(); ++rank) {
    if (std::ranges::binary_search(io, rank)) continue;
    of_program_.push_back(rank);
    servers_.push_back(server_of[static_cast<std::size_t>(rank)]);
  }
  for (std::size_t s = 0; s < io.size(); ++s) {
    most_served_ =
        std::max(most_served_, static_cast<std::uint64_t>(std::ranges::count(servers_, s)));
  }
  server_ = server_of[static_cast<std::size_t>(all.rank())];
  are_all_served_ = std::ranges::find(servers_, io.size()) == servers_.end();
}

std::vector<int> ServedRanks::served() const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < of_program_.size(); ++i) {
    if (servers_[i] == server_) ranks.push_back(of_program_[i]);
  }
  return ranks;
}

}  // namespace slabmark::rearrange
