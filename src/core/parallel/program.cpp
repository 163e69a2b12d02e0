#include "core/parallel/program.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/base/launched_rank.hpp"
#include "core/base/printable.hpp"
#include "core/base/version.hpp"
#include "core/parallel/abort.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

/// Of the headers that this was compiled with; what it runs on may be another.
std::string mpi_of_build() {
#if defined OMPI_MAJOR_VERSION
  return fmt::format("Open MPI {}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                     OMPI_RELEASE_VERSION);
#elif defined I_MPI_VERSION
  return "Intel MPI " I_MPI_VERSION;
#elif defined MVAPICH2_VERSION
  return "MVAPICH2 " MVAPICH2_VERSION;
#elif defined MPICH_VERSION
  return "MPICH " MPICH_VERSION;
#elif defined MPI_ABI_VERSION
  return fmt::format("any MPI with the standard ABI {}.{}", MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
#else
  return fmt::format("MPI {}.{}", MPI_VERSION, MPI_SUBVERSION);
#endif
}

std::string versions_of(const char* name) {
  std::string mpi = mpi_library_version();
  mpi.resize(std::min(mpi.find_first_of(",\n"), mpi.size()));
  std::replace(mpi.begin(), mpi.end(), '\t', ' ');  // of MPICH: "MPICH Version:\t4.0.2"
  return fmt::format("{} of Slabmark {}, revision {}\n{}, {}\nbuilt by {}, {}, for {}\n", name,
                     version(), git_revision(), mpi, libraries(), compiler(), build_type(),
                     mpi_of_build());
}

ExitStatus run_and_agree(const char* name, const Comm& world,
                         const std::function<ExitStatus(const Comm&)>& body) {
  try {
    ExitStatus status = ExitStatus::good;
    agreed(world, [&] { status = body(world); });
    return static_cast<ExitStatus>(world.max(static_cast<std::uint64_t>(status)));
  } catch (const Error& error) {
    std::fflush(stdout);
    if (world.is_root()) {
      fmt::print(stderr, "{}: error: {}\n", name, printable(error.what()));
    }
    failure_is_told();
    // HDF5 tries to close files that could not be written while MPI is finalized.
    if (error.status() == ExitStatus::failed) end_soon("", error.status());
    return error.status();
  }
}

int run_with_mpi(int argc, char** argv, const char* name, int thread_level,
                 const std::function<ExitStatus(const Comm& world)>& body) {
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, thread_level, &provided) != MPI_SUCCESS) {
    fmt::print(stderr, "{}: error: MPI could not be initialized.\n", name);
    return static_cast<int>(ExitStatus::failed);
  }
  enter_program(name);  // after MPI, which may take signals for its own
  int status = 0;
  {
    const Comm world(MPI_COMM_WORLD);
    status = static_cast<int>(run_and_agree(name, world, body));
    std::fflush(nullptr);
  }
  MPI_Finalize();
  return status;
}

int print_once(const std::string& text) {
  if (is_first_rank_of_launch()) std::fputs(text.c_str(), stdout);
  return static_cast<int>(ExitStatus::good);
}

}  // namespace

std::string mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  const std::string_view all(text.data());
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = all.find_first_not_of(blanks);
  if (first == std::string_view::npos) return "";
  return std::string(all.substr(first, all.find_last_not_of(blanks) - first + 1));
}

int run_program(int argc, char** argv, const Program& program) {
  if (std::find(argv + 1, argv + argc, std::string_view("--version")) != argv + argc) {
    return print_once(versions_of(program.name));
  }
  ProgramRun asked;
  Attempt parsing;
  parsing.run([&] { asked = program.parse(argc, argv); });
  if (!parsing.failure() && !asked.body) return print_once(asked.text);
  return run_with_mpi(argc, argv, program.name, asked.thread_level, [&](const Comm& world) {
    agree(world, parsing.failure());
    return asked.body(world);
  });
}

}  // namespace slabmark
