/* rewritten FILE next|same: ranks write ten numbers each by a collective call of MPI-IO; then each
 * writes those of the next rank again, or, in the first call already, all write the same. */
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { numbers = 10 };

int main(int argc, char** argv) {
  int rank, ranks, i;
  int values[numbers];
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) return 2;
  for (i = 0; i < numbers; ++i) values[i] = i;
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 1);
  if (strcmp(argv[2], "same") == 0) {
    MPI_File_write_at_all(file, 0, values, numbers, MPI_INT, MPI_STATUS_IGNORE);
  } else {
    for (i = 0; i < 2; ++i) {
      const MPI_Offset at = (MPI_Offset)sizeof values * ((rank + i) % ranks);
      MPI_File_write_at_all(file, at, values, numbers, MPI_INT, MPI_STATUS_IGNORE);
    }
  }
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
