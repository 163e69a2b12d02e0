#include "dropin/pnetcdf/engine.hpp"

#include <vector>

#include "dropin/pnetcdf/open_file.hpp"

namespace slabmark::dropin {

namespace {

/// Never destroyed but in MPI_Finalize: later there is no MPI to give anything back to.
std::vector<std::shared_ptr<Engine>>& engines() {
  static auto& all = *new std::vector<std::shared_ptr<Engine>>;
  return all;
}

int end_of_mpi(MPI_Comm, int, void*, void*) {
  forget_open_files();
  engines().clear();
  return MPI_SUCCESS;
}

/// MPI_Finalize first frees what hangs on MPI_COMM_SELF, while MPI still works.
void call_at_end_of_mpi() {
  static bool done = false;
  if (done) return;
  done = true;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_mpi, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

}  // namespace

// All ranks of a group have its engine or none, since they make it together.
std::shared_ptr<Engine> Engine::of(MPI_Comm comm) {
  call_at_end_of_mpi();
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
