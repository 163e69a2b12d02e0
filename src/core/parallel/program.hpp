#pragma once

#include <functional>
#include <memory>
#include <string>

#include <mpi.h>

#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// MPI_Get_library_version without the blanks and line ends around it.
std::string mpi_library_version();

/// The request of a command line: the body that all ranks run, and the thread level that MPI must
/// allow; or only a text to print, such as the help.
struct ProgramRun {
  std::function<ExitStatus(const Comm& world)> body = nullptr;
  int thread_level = MPI_THREAD_FUNNELED;
  std::string text = "";  ///< that one rank prints where there is no body
};

/// A program as its main() runs it, and a test within its own process.
struct Program {
  const char* name;
  /// Needs no MPI. Throws InputError for bad usage.
  std::function<ProgramRun(int argc, const char* const* argv)> parse;
};

/// The edge of a Program: parses, initialises MPI, runs the body on all ranks, prints the message
/// of an Error once (rank 0, on standard error, as "NAME: error: MESSAGE"), and returns the exit
/// status, the same on every rank. An exception on some ranks only ends the job with MPI_Abort, so
/// that no rank is left waiting. A write beyond RLIMIT_FSIZE becomes an error instead of a signal.
///
/// It parses before MPI starts, since MPI with threads slows some MPI libraries down. A request for
/// a text only, or for the versions by `--version`, is answered without MPI: starting that takes a
/// third of a second.
int run_program(int argc, char** argv, const Program& program);

/// A program whose `parse` makes a Parsed of its command line, and whose `run` is called with the
/// options; where there are none the help is printed. The member `thread_level` of the options, if
/// there is one, says what they need.
template <class Parse, class Run>
Program make_program(const char* name, const Parse& parse, const Run& run) {
  const auto parse_line = [parse, run](int argc, const char* const* argv) {
    using Line = decltype(parse(argc, argv));
    const auto line = std::make_shared<Line>(parse(argc, argv));
    if (!line->options) return ProgramRun{.text = line->help};
    ProgramRun asked{[line, run](const Comm& world) { return run(world, *line->options); }};
    if constexpr (requires { line->options->thread_level; }) {
      asked.thread_level = line->options->thread_level;
    }
    return asked;
  };
  return {name, parse_line};
}

}  // namespace slabmark
