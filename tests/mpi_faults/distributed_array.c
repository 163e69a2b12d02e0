/* Intel MPI 2021.18.1 puts elements of some distributed arrays at wrong places: of a 5 x 1 x 3
 * array over 2 x 3 x 2 processes, cyclically by 3, cyclically by 2 and in blocks of 2, process (1,
 * 0, 1) has (3, 0, 2) and (4, 0, 2), which are elements 11 and 14 (MPI 4.0, 5.1.4). MPICH 4.0.2
 * and 5.0.2 and Open MPI 4.1.4 say so.
 *
 *   mpicc distributed_array.c -o distributed_array
 *   mpiexec -n 1 ./distributed_array  # "11 14"; Intel MPI: "11 12"
 */
#include <stdio.h>

#include <mpi.h>

int main(int argc, char** argv) {
  const int sizes[] = {5, 1, 3};
  const int kinds[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  const int blocks[] = {3, 2, 2};
  const int processes[] = {2, 3, 2};
  short elements[15];
  short packed[15] = {-1, -1};
  int bytes = 0;
  MPI_Datatype type;
  MPI_Init(&argc, &argv);
  for (short i = 0; i < 15; ++i) elements[i] = i;
  MPI_Type_create_darray(12, 7, 3, sizes, kinds, blocks, processes, MPI_ORDER_C, MPI_SHORT, &type);
  MPI_Type_commit(&type);
  MPI_Pack(elements, 1, type, packed, sizeof packed, &bytes, MPI_COMM_SELF);
  printf("%d %d\n", packed[0], packed[1]);
  MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
