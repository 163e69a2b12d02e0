#include "parallel/program.hpp"

#include <csignal>
#include <cstdio>

#include <fmt/format.h>

#include "parallel/abort.hpp"
#include "parallel/agree.hpp"

namespace slabmark {

namespace {

ExitStatus run_and_agree(const char* name, const Comm& world,
                         const std::function<ExitStatus(const Comm&)>& body) {
  try {
    ExitStatus status = ExitStatus::good;
    agreed(world, [&] { status = body(world); });
    return static_cast<ExitStatus>(world.max(static_cast<std::uint64_t>(status)));
  } catch (const Error& error) {
    std::fflush(stdout);
    if (world.is_root()) fmt::print(stderr, "{}: error: {}\n", name, error.what());
    return error.status();
  }
}

}  // namespace

int run_program(int argc, char** argv, const char* name,
                const std::function<ExitStatus(const Comm& world)>& body, int thread_level) {
  // Without this a write beyond the file size limit kills the process before it can say why.
  std::signal(SIGXFSZ, SIG_IGN);
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, thread_level, &provided) != MPI_SUCCESS) {
    fmt::print(stderr, "{}: error: MPI could not be initialised.\n", name);
    return static_cast<int>(ExitStatus::failed);
  }
  remove_guarded_files_on_signals();
  int status = 0;
  {
    const Comm world(MPI_COMM_WORLD);
    status = static_cast<int>(run_and_agree(name, world, body));
    std::fflush(nullptr);
  }
  MPI_Finalize();
  return status;
}

}  // namespace slabmark
