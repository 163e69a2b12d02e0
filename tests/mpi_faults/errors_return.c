/* The library of the standard ABI of Intel MPI 2021.18.1 ends a program whose communicator has
 * MPI_ERRORS_RETURN; its own library returns the error, and so does MPICH 5.0.2 with either.
 *
 *   mpicc_abi errors_return.c -o errors_return  # by the wrapper of MPICH
 *   mpiexec -n 1 ./errors_return                # MPICH: "returned"
 *   LD_LIBRARY_PATH=$I_MPI_ROOT/lib $I_MPI_ROOT/bin/mpiexec -n 1 ./errors_return  # Intel: "Abort"
 */
#include <stdio.h>

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Comm own;
  int value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  if (MPI_Bcast(&value, 1, MPI_INT, 1000, own) != MPI_SUCCESS) printf("returned\n");
  MPI_Comm_free(&own);
  MPI_Finalize();
  return 0;
}
