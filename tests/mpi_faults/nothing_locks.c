/* In Intel MPI 2021.18.1 a rank that writes nothing of a datatype with gaps to a view with gaps, by
 * a nonblocking or collective call, keeps a lock on the file, for which the others wait for ever:
 *
 *   mpicc nothing_locks.c -o nothing_locks && mpiexec -n 2 ./nothing_locks FILE
 *
 * prints "all was written" with MPICH and Open MPI, and hangs with Intel MPI.
 */
#include <stdio.h>

#include <mpi.h>

int main(int argc, char** argv) {
  int rank, data[64] = {0};
  MPI_Datatype gaps;
  MPI_File file;
  MPI_Request request;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_Type_vector(4, 1, 3, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  MPI_File_set_view(file, rank * 65536, MPI_INT, gaps, "native", MPI_INFO_NULL);
  if (rank == 1) {
    MPI_File_iwrite_at(file, 35, data, 0, gaps, &request);
    MPI_Wait(&request, &status);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_File_write_at(file, 0, data, 8, MPI_INT, &status);
  MPI_File_close(&file);
  if (rank == 0) printf("all was written\n");
  MPI_Type_free(&gaps);
  MPI_Finalize();
  return 0;
}
