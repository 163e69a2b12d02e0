#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <mpi.h>

#include "core/parallel/comm.hpp"

namespace slabmark::collective {

/// True if they have the same ranks, in the same order.
bool has_ranks_of(const Comm& comm, MPI_Comm other);

/// True if all ranks are of this MPI_COMM_WORLD, as far as this rank and its neighbor can tell.
bool are_of_one_world(const Comm& comm);

/// The numbers that the root proposes to the ranks of `comm`. Collective.
struct PoolProposal {
  std::uint64_t idle = 0;   ///< number of an idle one; 0: there is none
  std::uint64_t fresh = 0;  ///< number for a new one, which no other has on any rank
};
PoolProposal pool_proposal(MPI_Comm comm, std::uint64_t idle_on_root);

/// Keeps what the files of a group of ranks share, so that the next file of a run finds it. It
/// lives until clear(), which must come before MPI ends, unless it is to go with its last file:
/// closing that is collective, as giving back is. `Shared` is made of an MPI_Comm, of which it has
/// a duplicate as comm().
template <class Shared>
class ContextPool {
 public:
  /// The most contexts that a process keeps. The contexts of further groups end with their last
  /// files.
  static constexpr std::size_t most_kept = 16;

  /// Collective: that of the ranks of `comm`. All ranks of a group have it or none, since they make
  /// it together.
  std::shared_ptr<Shared> common(MPI_Comm comm) {
    const auto known = find(comm, [](const Entry&) { return true; });
    return known ? known : add(comm, 0);
  }

  /// Collective: the same where one thread calls MPI. Where several may it is one that nobody else
  /// uses, since a thread may wait for other ranks in each.
  std::shared_ptr<Shared> of(MPI_Comm comm) {
    int threads = MPI_THREAD_SINGLE;
    MPI_Query_thread(&threads);
    return threads == MPI_THREAD_MULTIPLE ? unused(comm) : common(comm);
  }

  /// True if this rank, for one, would keep it. Not where some of the ranks are of another
  /// MPI_COMM_WORLD: those may end before this one, and MPI_Finalize waits for all that share a
  /// communicator or a window.
  bool may_keep(const Shared& shared) {
    const std::lock_guard lock(mutex_);
    if (entry_of(shared).is_kept) return true;
    const auto kept = std::ranges::count(entries_, true, &Entry::is_kept);
    return kept < static_cast<std::ptrdiff_t>(most_kept) && are_of_one_world(shared.comm());
  }
  /// Records what all ranks agreed on.
  void keep(const Shared& shared, bool is_kept) {
    const std::lock_guard lock(mutex_);
    entry_of(shared).is_kept = is_kept;
  }
  /// A file lets go of it, and so do all ranks. Collective where it is not kept.
  void leave(std::shared_ptr<Shared> shared) {
    const std::lock_guard lock(mutex_);
    // The pool has it, too.
    if (entry_of(*shared).is_kept || shared.use_count() > 2) return;
    std::erase_if(entries_, [&](const Entry& entry) { return entry.shared == shared; });
  }

  void clear() { entries_.clear(); }

 private:
  struct Entry {
    std::shared_ptr<Shared> shared;
    std::uint64_t number = 0;  ///< the same on its ranks, and no other's there; 0: not needed
    bool is_kept = false;
  };

  static bool is_idle(const Entry& entry) { return entry.shared.use_count() == 1; }

  Entry& entry_of(const Shared& shared) {
    return *std::ranges::find_if(entries_,
                                 [&](const Entry& entry) { return entry.shared.get() == &shared; });
  }

  /// The first one of the ranks of `comm` that `suits`.
  template <class Suits>
  std::shared_ptr<Shared> find(MPI_Comm comm, const Suits& suits, std::uint64_t* number = nullptr) {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (!suits(entry) || !has_ranks_of(entry.shared->comm(), comm)) continue;
      if (number) *number = entry.number;
      return entry.shared;
    }
    return nullptr;
  }

  std::shared_ptr<Shared> add(MPI_Comm comm, std::uint64_t number) {
    auto made = std::make_shared<Shared>(comm);
    const std::lock_guard lock(mutex_);
    return entries_.emplace_back(std::move(made), number).shared;
  }

  // Threads of the ranks may come here in another order, with files of the same ranks: so the root
  // proposes one by its number, and it is a new one if that is in use on some rank.
  std::shared_ptr<Shared> unused(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    std::uint64_t idle = 0;
    std::shared_ptr<Shared> known;
    if (rank == 0) known = find(comm, is_idle, &idle);
    const PoolProposal proposal = pool_proposal(comm, idle);
    if (rank != 0 && proposal.idle != 0) {
      known = find(comm, [&](const Entry& entry) {
        return entry.number == proposal.idle && is_idle(entry);
      });
    }
    int have_it = known ? 1 : 0;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &have_it, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
    return have_it ? known : add(comm, proposal.fresh);
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace slabmark::collective
