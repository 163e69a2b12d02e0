/* Preloaded into tests with MPICH, whose ranks keep their core while they wait (tests/mpi_faults/waiting.c): UCX tells MPICH
   when nothing has come. Open MPI has an option for it (mpi_yield_when_idle). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*);
  if (progress == NULL) *(void**)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned came = progress(worker);
  if (came == 0) sched_yield();
  return came;
}
