#include "dropin/pnetcdf/engine.hpp"

#include <utility>
#include <vector>

#include "dropin/pnetcdf/open_file.hpp"
#include "parallel/end_of_mpi.hpp"

namespace slabmark::dropin {

namespace {

/// Never destroyed but in MPI_Finalize: later there is no MPI to give anything back to.
std::vector<std::shared_ptr<Engine>>& engines() {
  static auto& all = *new std::vector<std::shared_ptr<Engine>>;
  return all;
}

}  // namespace

// All ranks of a group have its engine or none, since they make it together.
std::shared_ptr<Engine> Engine::of(MPI_Comm comm) {
  static bool is_forgotten_at_end = false;
  if (!std::exchange(is_forgotten_at_end, true)) {
    at_end_of_mpi([] {
      forget_open_files();
      engines().clear();
    });
  }
  for (const auto& known : engines()) {
    int same = MPI_UNEQUAL;
    MPI_Comm_compare(known->comm.get(), comm, &same);
    if (same == MPI_IDENT || same == MPI_CONGRUENT) return known;
  }
  return engines().emplace_back(std::make_shared<Engine>(comm));
}

void Engine::prepare(const RearrangerSettings& settings) {
  if (rearranger && settings == settings_) return;
  put_plans.clear();
  get_plans.clear();
  rearranger.reset();
  settings_ = settings;
  rearranger = std::make_unique<Rearranger>(comm, settings);
}

}  // namespace slabmark::dropin
