// Ranks that fail at different times and so end the job, each without the others, at the same.
#include <chrono>
#include <thread>

#include "core/parallel/abort.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/program.hpp"

int main(int argc, char** argv) {
  using std::chrono::milliseconds;
  const auto fail = [](const slabmark::Comm& world) {
    world.barrier();
    // abort_job() waits for lower ranks; this subtracts that time, so that all ranks end at once.
    const milliseconds waits(world.is_root() ? 0 : 1000 + 500 * world.rank());
    std::this_thread::sleep_for(milliseconds(1000 + 500 * world.size()) - waits);
    slabmark::abort_job("the disk is full.");
    return slabmark::ExitStatus::good;
  };
  const auto parse = [fail](int, const char* const*) { return slabmark::ProgramRun{fail}; };
  return slabmark::run_program(argc, argv, {"end_together", parse});
}
