#include "capture/interpose/world/world.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include <mpi.h>

#include "capture/record/recorder.hpp"

namespace slabmark::capture {

bool has_world() {
  int is_initialized = 0;
  PMPI_Initialized(&is_initialized);
  return is_initialized != 0;
}

void know_rank() {
  static std::atomic<bool> known = false;
  if (!is_on() || known.exchange(true)) return;
  if (has_world()) {  // else the launcher has said it
    int rank = 0;
    int ranks = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    set_rank(rank, ranks);
  }
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  std::string version = text.data();
  version.resize(std::min(version.find_first_of(",\n\"\\"), version.size()));
  std::replace(version.begin(), version.end(), '\t', ' ');  // MPICH has one, which JSON has not
  describe_process("{\"libraries\":{\"mpi\":\"" + version + "\"}}");
}

void wrap_init() {}

}  // namespace slabmark::capture

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  static const auto init = slabmark::capture::next("MPI_Init", PMPI_Init);
  int code = MPI_SUCCESS;
  {
    const slabmark::capture::Call below;
    code = init(argc, argv);
  }
  if (code == MPI_SUCCESS) slabmark::capture::know_rank();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  static const auto init = slabmark::capture::next("MPI_Init_thread", PMPI_Init_thread);
  int code = MPI_SUCCESS;
  {
    const slabmark::capture::Call below;
    code = init(argc, argv, required, provided);
  }
  if (code == MPI_SUCCESS) slabmark::capture::know_rank();
  return code;
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
// How a program without MPI_Init begins: the files that MPI makes for itself are none of its own.
int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  static const auto init = slabmark::capture::next("MPI_Session_init", PMPI_Session_init);
  const slabmark::capture::Call below;
  return init(info, handler, session);
}

int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info,
                               MPI_Errhandler handler, MPI_Comm* comm) {
  static const auto create =
      slabmark::capture::next("MPI_Comm_create_from_group", PMPI_Comm_create_from_group);
  const slabmark::capture::Call below;
  return create(group, tag, info, handler, comm);
}
#endif

// It ends the process by a signal or _exit().
int MPI_Abort(MPI_Comm comm, int code) {
  static const auto end = slabmark::capture::next("MPI_Abort", PMPI_Abort);
  slabmark::capture::flush();
  return end(comm, code);
}

}  // extern "C"
