#pragma once

#include <functional>

#include <mpi.h>

#include "base/error.hpp"
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

}  // namespace slabmark
