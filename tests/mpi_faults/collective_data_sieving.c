/* ROMIO loses what collective calls write: rank 0 writes every other 4096 bytes, rank 1 nothing,
 * and each other rank one of the holes between. True if ranks interleave ROMIO judges by neighbours
 * alone, and a rank with nothing is nobody's; so it has each write by itself. Rank 0 reads the
 * holes and writes them again (data sieving), under a lock that the others do not take, and what
 * they write meanwhile is lost.
 *
 *   mpicc collective_data_sieving.c -o collective_data_sieving
 *   mpiexec -n 4 ./collective_data_sieving a.raw 1000              # Open MPI: with
 * OMPI_MCA_io=^ompio mpiexec -n 4 ./collective_data_sieving a.raw 1000 romio_ds_write disable     #
 * with a hint
 *
 * Prints in how many of so many calls bytes were lost. Status 1 if there are any.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { piece = 4096, pieces = 64 };

static MPI_Offset hole_of(int rank) { return (MPI_Offset)piece * (1 + 2 * (rank - 2)); }

static void write_own(MPI_File file, MPI_Datatype every_other, int rank) {
  static char mine[piece * pieces];
  const int bytes = rank == 0 ? piece * pieces : rank == 1 ? 0 : piece;
  memset(mine, rank + 1, sizeof mine);
  MPI_File_set_view(file, rank < 2 ? 0 : hole_of(rank), MPI_BYTE,
                    rank == 0 ? every_other : MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_write_at_all(file, 0, mine, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int is_whole(const char* path, int ranks) {
  FILE* const file = fopen(path, "rb");
  int rank, whole = file != NULL;
  for (rank = 2; whole && rank < ranks; ++rank)
    whole = fseek(file, (long)hole_of(rank), SEEK_SET) == 0 && fgetc(file) == rank + 1;
  if (file != NULL) fclose(file);
  return whole;
}

int main(int argc, char** argv) {
  const int calls = argc > 2 ? atoi(argv[2]) : 1;
  int rank, ranks, i, lost = 0;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Datatype every_other;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 4) {
    MPI_Info_create(&info);
    MPI_Info_set(info, argv[3], argv[4]);
  }
  MPI_Type_vector(pieces, piece, 2 * piece, MPI_BYTE, &every_other);
  MPI_Type_commit(&every_other);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  for (i = 0; i < calls; ++i) {
    MPI_File_set_size(file, 0);
    write_own(file, every_other, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) lost += !is_whole(argv[1], ranks);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
  MPI_Type_free(&every_other);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  if (rank == 0) printf("%d of %d calls lost bytes\n", lost, calls);
  MPI_Bcast(&lost, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return lost > 0;
}
