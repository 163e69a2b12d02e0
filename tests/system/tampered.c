/* Preloaded: what a machine or a library does wrong.
 *   CLOCK_RANK=1 CLOCK_SCALE=2   the monotonic clock of that rank runs at another speed
 *   CLOCK_BOTH=1                 and so does its realtime clock
 *   TAMPER=skip                  every second MPI_File_write_at_all does nothing, with success
 *   TAMPER=crash                 each of them ends the process by SIGBUS */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

static double scale(void) {
  static double known = -1;
  if (known < 0) {
    const char* const of = getenv("CLOCK_RANK");
    const char* const by = getenv("CLOCK_SCALE");
    const char* rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank == NULL) rank = getenv("PMI_RANK");
    known = rank && of && by && strcmp(rank, of) == 0 ? atof(by) : 1;
  }
  return known;
}

int clock_gettime(clockid_t which, struct timespec* time) {
  const int error = (int)syscall(SYS_clock_gettime, which, time);
  const int is_scaled =
      which == CLOCK_MONOTONIC || (which == CLOCK_REALTIME && getenv("CLOCK_BOTH") != NULL);
  if (error == 0 && is_scaled && scale() != 1) {
    const double seconds = ((double)time->tv_sec + 1e-9 * (double)time->tv_nsec) * scale();
    time->tv_sec = (time_t)seconds;
    time->tv_nsec = (long)((seconds - (double)time->tv_sec) * 1e9);
  }
  return error;
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* data, int count,
                          MPI_Datatype type, MPI_Status* status) {
  static int calls;
  const char* const how = getenv("TAMPER");
  int (*next)(MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Status*);
  *(void**)&next = dlsym(RTLD_NEXT, "MPI_File_write_at_all");
  if (how != NULL && strcmp(how, "crash") == 0) raise(SIGBUS);
  if (how != NULL && strcmp(how, "skip") == 0 && ++calls % 2 == 0) return MPI_SUCCESS;
  return next(file, offset, data, count, type, status);
}
