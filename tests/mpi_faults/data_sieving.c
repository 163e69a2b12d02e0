/* ROMIO loses what independent calls write: every n-th 8 bytes of a file are a rank's; odd ranks
 * write theirs through a view, eight at a time, and even ranks piece by piece. A call through a
 * view has holes, which ROMIO reads and writes again under a lock (data sieving); a call without
 * holes takes no lock, so what it writes meanwhile is lost.
 *
 *   mpicc data_sieving.c -o data_sieving
 *   mpiexec -n 4 ./data_sieving a.raw 100              # Open MPI: with OMPI_MCA_io=^ompio
 *   mpiexec -n 4 ./data_sieving a.raw 100 disable      # with the hint romio_ds_write=disable
 *
 * Prints in how many of so many files bytes were lost. Status 1 if there are any.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { pieces = 64, piece = 8, at_a_time = 8 };

static void write_pieces(MPI_File file, MPI_Info info, int rank, int ranks) {
  char mine[pieces * piece];
  const int through_view = rank % 2;
  const int calls = through_view ? pieces / at_a_time : pieces;
  const int bytes = (int)sizeof mine / calls;
  MPI_Datatype type = MPI_BYTE;
  int i;
  memset(mine, rank + 1, sizeof mine);
  if (through_view) {
    MPI_Type_vector(pieces, piece, piece * ranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
  }
  MPI_File_set_view(file, (MPI_Offset)piece * rank, MPI_BYTE, type, "native", info);
  MPI_Barrier(MPI_COMM_WORLD);
  for (i = 0; i < calls; ++i) {
    const MPI_Offset at = (MPI_Offset)i * bytes * (through_view ? 1 : ranks);
    MPI_File_write_at(file, at, mine, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  if (through_view) MPI_Type_free(&type);
}

static int is_whole(const char* path, int ranks) {
  FILE* const file = fopen(path, "rb");
  int i, whole = file != NULL;
  for (i = 0; whole && i < pieces * piece * ranks; ++i)
    whole = fgetc(file) == i / piece % ranks + 1;
  if (file != NULL) fclose(file);
  return whole;
}

int main(int argc, char** argv) {
  const int files = argc > 2 ? atoi(argv[2]) : 1;
  int rank, ranks, i, lost = 0;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 3) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", argv[3]);
  }
  for (i = 0; argc > 1 && i < files; ++i) {
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_File_set_size(file, 0);
    MPI_File_set_size(file, (MPI_Offset)pieces * piece * ranks);
    write_pieces(file, info, rank, ranks);
    MPI_File_close(&file);
    if (rank == 0) lost += !is_whole(argv[1], ranks);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  if (rank == 0) printf("%d of %d files lost bytes\n", lost, files);
  MPI_Bcast(&lost, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return lost > 0;
}
