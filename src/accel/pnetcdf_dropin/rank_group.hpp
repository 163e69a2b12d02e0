#pragma once

#include <mpi.h>

#include "accel/pnetcdf_dropin/agreement_backoff.hpp"
#include "accel/pnetcdf_dropin/geometry.hpp"
#include "accel/pnetcdf_dropin/plan.hpp"
#include "collective/context.hpp"
#include "collective/context_pool.hpp"

namespace slabmark::dropin {

/// The common property of all files of a group of ranks. It lives until MPI_Finalize, so that the
/// next file of a run finds it.
class RankGroup {
 public:
  /// Plans that are kept, for puts and for gets: a model that writes several files in turn has one
  /// for each of them.
  static constexpr std::size_t most_plans = 8;

  /// Collective over `parent`.
  explicit RankGroup(MPI_Comm parent) : context(parent) {}

  const Comm& comm() const { return context.comm(); }

  /// Collective: makes the memory of the exchange if there is none, or if it is for other settings.
  void prepare(const RearrangerSettings& settings) {
    if (!context.prepare(settings)) return;
    put_plans.clear();
    get_plans.clear();
  }

  collective::Context context;
  GeometryTable geometries;
  PlanCache put_plans{most_plans}, get_plans{most_plans};
  AgreementBackoff backoff;
};

/// Collective: the lowest of all ranks' codes of PnetCDF, which are negative.
inline int lowest_code(const Comm& comm, int code) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MIN, comm.get()), "MPI_Allreduce");
  return code;
}

using RankGroupPool = collective::ContextPool<RankGroup>;

}  // namespace slabmark::dropin
