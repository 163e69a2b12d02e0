#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/parallel/comm.hpp"

namespace slabmark {

/// Collective: what any rank has, sorted, each once. Collected along a tree, so that nobody holds
/// all ranks' lists; where all have the same, one reduction tells. `Item` has no padding.
template <class Item>
std::vector<Item> union_of_ranks(const Comm& comm, std::vector<Item> mine) {
  static_assert(std::has_unique_object_representations_v<Item>);
  constexpr int tag = 2;
  const auto sort = [&] {
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  };
  const auto bytes = [](std::uint64_t items) { return static_cast<int>(items * sizeof(Item)); };
  sort();

  std::uint64_t hash = 14695981039346656037u + mine.size();
  const auto* const begin = reinterpret_cast<const unsigned char*>(mine.data());
  for (std::size_t i = 0; i < mine.size() * sizeof(Item); ++i)
    hash = (hash ^ begin[i]) * 1099511628211u;
  std::array<std::uint64_t, 2> range = {hash, ~hash};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, range.data(), 2, MPI_UINT64_T, MPI_MAX, comm.get()),
            "MPI_Allreduce");
  if (range[0] == ~range[1]) return mine;

  for (int step = 1; step < comm.size(); step *= 2) {
    if (comm.rank() & step) {
      check_mpi(
          MPI_Send(mine.data(), bytes(mine.size()), MPI_BYTE, comm.rank() - step, tag, comm.get()),
          "MPI_Send");
      break;
    }
    const int other = comm.rank() + step;
    if (other >= comm.size()) continue;
    MPI_Status status;
    int incoming = 0;
    check_mpi(MPI_Probe(other, tag, comm.get(), &status), "MPI_Probe");
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &incoming), "MPI_Get_count");
    const std::size_t before = mine.size();
    mine.resize(before + static_cast<std::size_t>(incoming) / sizeof(Item));
    check_mpi(MPI_Recv(mine.data() + before, incoming, MPI_BYTE, other, tag, comm.get(), &status),
              "MPI_Recv");
    sort();
  }
  mine.resize(comm.broadcast(static_cast<std::uint64_t>(mine.size())));
  check_mpi(MPI_Bcast(mine.data(), bytes(mine.size()), MPI_BYTE, 0, comm.get()), "MPI_Bcast");
  return mine;
}

}  // namespace slabmark
