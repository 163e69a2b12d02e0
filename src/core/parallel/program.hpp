#pragma once

#include <functional>
#include <string>

#include <fmt/format.h>
#include <mpi.h>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// The edge of every program: initialises MPI, runs `body` on all ranks, prints the message of an
/// Error once (rank 0, on standard error, as "NAME: error: MESSAGE"), and returns the exit status,
/// the same on every rank. An exception on some ranks only ends the job with MPI_Abort, so that no
/// rank is left waiting. A write beyond RLIMIT_FSIZE becomes an error instead of a signal.
/// `thread_level` is what MPI is asked for; MPI_Query_thread tells what it gave. With the argument
/// `--version` it prints the versions instead of running `body`.
int run_program(int argc, char** argv, const char* name,
                const std::function<ExitStatus(const Comm& world)>& body,
                int thread_level = MPI_THREAD_FUNNELED);

/// MPI_Get_library_version without the blanks and line ends around it.
std::string mpi_library_version();

/// The edge of a program whose `parse` makes a Parsed of its command line, and whose `run` is
/// called with the options; where there are none the help is printed. It parses before MPI starts,
/// since MPI with threads slows some MPI libraries down: the member `thread_level` of the options,
/// if there is one, says what they need.
template <class Parse, class Run>
int run_parsed(int argc, char** argv, const char* name, const Parse& parse, const Run& run) {
  decltype(parse(argc, argv)) line;
  Attempt parsing;
  parsing.run([&] { line = parse(argc, argv); });
  int thread_level = MPI_THREAD_FUNNELED;
  if constexpr (requires { line.options->thread_level; }) {
    if (line.options) thread_level = line.options->thread_level;
  }
  const auto body = [&](const Comm& world) {
    agree(world, parsing.failure());
    if (line.options) return run(world, *line.options);
    if (world.is_root()) fmt::print("{}", line.help);
    return ExitStatus::good;
  };
  return run_program(argc, argv, name, body, thread_level);
}

}  // namespace slabmark
