// Ranks that fail at different times and so end the job, each without the others, at the same.
#include <chrono>
#include <thread>

#include "core/parallel/abort.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/program.hpp"

int main(int argc, char** argv) {
  using std::chrono::milliseconds;
  return slabmark::run_program(argc, argv, "end_together", [](const slabmark::Comm& world) {
    world.barrier();
    // What abort_job() waits for lower ranks, taken off before.
    const milliseconds waits(world.is_root() ? 0 : 1000 + 500 * world.rank());
    std::this_thread::sleep_for(milliseconds(1000 + 500 * world.size()) - waits);
    slabmark::abort_job("the disk is full.");
    return slabmark::ExitStatus::good;
  });
}
