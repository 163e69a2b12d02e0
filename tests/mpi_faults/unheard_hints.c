/* ROMIO in Open MPI 5 (5.0.7, 5.0.11) hears no hint of MPI_File_open, only of
 * MPI_File_set_view; and one given to MPI_File_open hides the same in the file of hints that the
 * variable ROMIO_HINTS names.
 *
 *   mpicc unheard_hints.c -o unheard_hints
 *   echo 'romio_ds_write disable' > hints
 *   OMPI_MCA_io=^ompio mpiexec -n 1 ./unheard_hints a.raw
 *   OMPI_MCA_io=^ompio ROMIO_HINTS=$PWD/hints mpiexec -n 1 ./unheard_hints a.raw
 *
 * Prints what of romio_ds_write is in effect, as ROMIO says: with Open MPI 5.0.11 "opened:
 * automatic, with a view: disable" each time, where the second should say "opened: disable". (Open
 * MPI 4 hands back what it was given.)
 */
#include <stdio.h>

#include <mpi.h>

static void say(const char* when, MPI_File file) {
  char value[MPI_MAX_INFO_VAL + 1] = "not said";
  int found = 0;
  MPI_Info info;
  MPI_File_get_info(file, &info);
  if (info != MPI_INFO_NULL) {
    MPI_Info_get(info, "romio_ds_write", MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&info);
  }
  printf("%s: %s\n", when, value);
}

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Info info;
  MPI_Init(&argc, &argv);
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_ds_write", "disable");
  MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  say("opened", file);
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info);
  say("with a view", file);
  MPI_File_close(&file);
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
