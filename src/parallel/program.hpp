#pragma once

#include <functional>
#include <string>

#include <fmt/format.h>
#include <mpi.h>

#include "base/error.hpp"
#include "parallel/agree.hpp"
#include "parallel/comm.hpp"

namespace slabmark {

/// The edge of every program: initialises MPI, runs `body` on all ranks, prints the message of an
/// Error once (rank 0, on standard error, as "NAME: error: MESSAGE"), and returns the exit status,
/// the same on every rank. An exception on some ranks only ends the job with MPI_Abort, so that no
/// rank is left waiting. A write beyond RLIMIT_FSIZE becomes an error instead of a signal.
/// `thread_level` is the least that MPI is asked for; where an argument speaks of subfiling, whose
/// driver wants all threads, it is MPI_THREAD_MULTIPLE. MPI_Query_thread tells what MPI gave.
/// With the argument `--version` it prints the versions instead of running `body`.
int run_program(int argc, char** argv, const char* name,
                const std::function<ExitStatus(const Comm& world)>& body,
                int thread_level = MPI_THREAD_FUNNELED);

/// MPI_Get_library_version without the blanks and line ends around it.
std::string mpi_library_version();

/// The body of a program that parses its command line first: `parse` gives a Parsed, and `run`
/// is called with its options. Where there are none the help is printed.
template <class Parse, class Run>
ExitStatus parse_and_run(const Comm& world, const Parse& parse, const Run& run) {
  decltype(parse()) line;
  agreed(world, [&] { line = parse(); });
  if (line.options) return run(world, *line.options);
  if (world.is_root()) fmt::print("{}", line.help);
  return ExitStatus::good;
}

/// The edge of such a program whose `parse` wants the command line alone.
template <class Parse, class Run>
int run_parsed(int argc, char** argv, const char* name, const Parse& parse, const Run& run,
               int thread_level = MPI_THREAD_FUNNELED) {
  const auto body = [&](const Comm& world) {
    return parse_and_run(
        world, [&] { return parse(argc, argv); }, run);
  };
  return run_program(argc, argv, name, body, thread_level);
}

}  // namespace slabmark
