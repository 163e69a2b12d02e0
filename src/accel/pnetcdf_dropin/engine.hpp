#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>

#include <mpi.h>

#include "accel/pnetcdf_dropin/agreement_backoff.hpp"
#include "accel/pnetcdf_dropin/geometry.hpp"
#include "accel/pnetcdf_dropin/plan.hpp"
#include "collective/exchange/rearranger.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::dropin {

/// What the files of a group of ranks have in common: a communicator, the memory to exchange data
/// in, and the latest plans. It lives until MPI_Finalize, so that the next file of a run finds it,
/// unless it is to go with its last file: closing that is collective, as giving back is.
class Engine {
 public:
  /// Engines that a process keeps. Those of more groups go with their last files.
  static constexpr std::size_t most_kept = 16;

  /// Plans that are kept, for puts and for gets: a model that writes several files in turn has one
  /// for each of them.
  static constexpr std::size_t most_plans = 8;

  /// Collective over `comm`: the engine of its ranks. Where several threads may call MPI it is one
  /// that no other open file has: a thread may wait for other ranks in each.
  static std::shared_ptr<Engine> of(MPI_Comm comm);

  /// Whether this rank, for one, would keep it. Not where some of the ranks are of another
  /// MPI_COMM_WORLD: those may end before this one, and MPI_Finalize waits for all that share a
  /// communicator or a window.
  bool may_be_kept() const;
  /// What all ranks agreed on.
  void keep(bool is_kept) { is_kept_ = is_kept; }
  /// A file lets go of its engine, and so do all ranks. Collective where it is not kept.
  static void leave(std::shared_ptr<Engine> engine);

  explicit Engine(MPI_Comm other, std::uint64_t its_number = 0) : comm(other), number(its_number) {}

  /// Collective: makes the memory if there is none, or if it is for other settings.
  void prepare(const RearrangerSettings& settings);
  bool is_prepared(const RearrangerSettings& settings) const {
    return rearranger && settings == settings_;
  }

  using Plans = std::list<std::unique_ptr<RequestPlan>>;

  const Comm comm;
  const std::uint64_t number;  ///< the same on its ranks, and no other's there; 0: not needed
  std::unique_ptr<Rearranger> rearranger;
  GeometryTable geometries;
  Plans put_plans, get_plans;  ///< in the same order on all ranks, the latest first
  AgreementBackoff backoff;

 private:
  RearrangerSettings settings_;
  std::atomic<bool> is_kept_ = false;
};

}  // namespace slabmark::dropin
