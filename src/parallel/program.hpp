#pragma once

#include <functional>

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
/// `thread_level` is what MPI is asked for; MPI_Query_thread tells what it gave.
int run_program(int argc, char** argv, const char* name,
                const std::function<ExitStatus(const Comm& world)>& body,
                int thread_level = MPI_THREAD_FUNNELED);

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

}  // namespace slabmark
