#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include <mpi.h>

#include "dropin/pnetcdf/plan.hpp"
#include "exchange/rearranger.hpp"
#include "parallel/comm.hpp"

namespace slabmark::dropin {

/// What the files of a group of ranks have in common: a communicator, the memory to exchange data
/// in, and the latest plans. It lives until MPI_Finalize, so that the next file of a run finds it.
class Engine {
 public:
  /// Plans that are kept, for puts and for gets: a model that writes several files in turn has one
  /// for each of them.
  static constexpr std::size_t most_plans = 8;

  /// Collective over `comm`: the engine of its ranks.
  static std::shared_ptr<Engine> of(MPI_Comm comm);

  explicit Engine(MPI_Comm other) : comm(other) {}

  /// Collective: makes the memory if there is none, or if it is for other settings.
  void prepare(const RearrangerSettings& settings);

  using Plans = std::list<std::unique_ptr<RequestPlan>>;

  const Comm comm;
  std::unique_ptr<Rearranger> rearranger;
  Plans put_plans, get_plans;  ///< in the same order on all ranks, the latest first

 private:
  RearrangerSettings settings_;
};

}  // namespace slabmark::dropin
