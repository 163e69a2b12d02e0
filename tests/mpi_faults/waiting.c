/* Ranks of MPICH keep their core while they wait: with more ranks than cores a collective call
 * takes as long as the kernel lets those that wait run. cmake/yield_when_idle.c, preloaded, makes
 * them give way.
 *
 *   mpicc waiting.c -o waiting && mpiexec -n 4 ./waiting         # on two cores
 *
 * Prints how many times a second all ranks did MPI_Allreduce and MPI_Bcast.
 */
#include <stdio.h>

#include <mpi.h>

int main(int argc, char** argv) {
  const double seconds = 3;
  double begin;
  int rank, sum, done = 0, times = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  begin = MPI_Wtime();
  for (; !done; ++times) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    done = MPI_Wtime() - begin > seconds;
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%.0f\n", times / (MPI_Wtime() - begin));
  MPI_Finalize();
  return 0;
}
