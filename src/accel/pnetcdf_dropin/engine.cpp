#include "accel/pnetcdf_dropin/engine.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "accel/pnetcdf_dropin/open_files.hpp"
#include "core/parallel/end_of_mpi.hpp"

namespace slabmark::dropin {

namespace {

/// Never destroyed but in MPI_Finalize: later there is no MPI to give anything back to.
struct Engines {
  std::mutex mutex;
  std::vector<std::shared_ptr<Engine>> all;

  /// The first one of the ranks of `comm` that `suits`.
  template <class Suits>
  std::shared_ptr<Engine> find(MPI_Comm comm, const Suits& suits) {
    const std::lock_guard lock(mutex);
    for (const auto& known : all) {
      if (!suits(known)) continue;
      int same = MPI_UNEQUAL;
      MPI_Comm_compare(known->comm.get(), comm, &same);
      if (same == MPI_IDENT || same == MPI_CONGRUENT) return known;
    }
    return nullptr;
  }

  std::shared_ptr<Engine> add(MPI_Comm comm, std::uint64_t number) {
    const auto made = std::make_shared<Engine>(comm, number);
    const std::lock_guard lock(mutex);
    return all.emplace_back(made);
  }
};

Engines& engines() {
  static auto& all = *new Engines;
  return all;
}

// All ranks of a group have its engine or none, since they make it together.
std::shared_ptr<Engine> shared_one(MPI_Comm comm) {
  const auto known = engines().find(comm, [](const auto&) { return true; });
  return known ? known : engines().add(comm, 0);
}

// Threads of the ranks may come here in another order, with files of the same ranks: so the root
// proposes one by its number, and it is a new one if that is in use on some rank.
std::shared_ptr<Engine> idle_one(MPI_Comm comm) {
  static std::atomic<std::uint64_t> made = 0;
  const auto is_idle = [](const auto& engine) { return engine.use_count() == 1; };
  int rank = 0, in_world = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_rank(MPI_COMM_WORLD, &in_world);
  std::shared_ptr<Engine> known;
  std::uint64_t numbers[] = {0, 0};  // of the one proposed, and of a new one
  if (rank == 0) {
    known = engines().find(comm, is_idle);
    numbers[0] = known ? known->number : 0;
    numbers[1] = (static_cast<std::uint64_t>(in_world) << 32) + ++made;
  }
  check_mpi(MPI_Bcast(numbers, 2, MPI_UINT64_T, 0, comm), "MPI_Bcast");
  if (rank != 0 && numbers[0] != 0) {
    known = engines().find(
        comm, [&](const auto& engine) { return engine->number == numbers[0] && is_idle(engine); });
  }
  int have_it = known ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &have_it, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  return have_it ? known : engines().add(comm, numbers[1]);
}

}  // namespace

bool Engine::may_be_kept() const {
  if (is_kept_) return true;
  const std::lock_guard lock(engines().mutex);
  if (std::ranges::count(engines().all, true, [](const auto& one) {
        return one->is_kept_.load();
      }) >= static_cast<std::ptrdiff_t>(most_kept)) {
    return false;
  }
  // Each rank looks at the next one, since to look for all takes some MPIs the square of the ranks:
  // where there are several worlds, some rank has a neighbour from another one.
  MPI_Group ours = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  MPI_Comm_group(comm.get(), &ours);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int next = (comm.rank() + 1) % comm.size();
  int in_world = MPI_UNDEFINED;
  MPI_Group_translate_ranks(ours, 1, &next, world, &in_world);
  MPI_Group_free(&ours);
  MPI_Group_free(&world);
  return in_world != MPI_UNDEFINED;
}

void Engine::leave(std::shared_ptr<Engine> engine) {
  {
    const std::lock_guard lock(engines().mutex);
    // The list has it, too.
    if (engine->is_kept_ || engine.use_count() > 2) return;
    std::erase(engines().all, engine);
  }
}

std::shared_ptr<Engine> Engine::of(MPI_Comm comm) {
  static std::once_flag is_forgotten_at_end;
  std::call_once(is_forgotten_at_end, [] {
    at_end_of_mpi([] {
      forget_open_files();
      engines().all.clear();
    });
  });
  int threads = MPI_THREAD_SINGLE;
  MPI_Query_thread(&threads);
  return threads == MPI_THREAD_MULTIPLE ? idle_one(comm) : shared_one(comm);
}

void Engine::prepare(const RearrangerSettings& settings) {
  if (is_prepared(settings)) return;
  put_plans.clear();
  get_plans.clear();
  rearranger.reset();
  settings_ = settings;
  rearranger = std::make_unique<Rearranger>(comm, settings);
}

}  // namespace slabmark::dropin
