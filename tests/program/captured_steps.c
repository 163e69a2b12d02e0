/* Writes steps of two variables through PnetCDF, for the tests of capture.
 *
 *     captured_steps <file> <steps> <way>
 *
 * way: one: all to one file; files: each step to a file of its own; kill: as one, but every rank
 * thinks before the last step, and then ends by SIGKILL. Each rank has every ranks-th column, one
 * call a column, so that there are as many calls as elements.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>
#include <pnetcdf.h>

enum { rows = 3, columns_a_rank = 40 };

static void check(int error) {
  if (error == NC_NOERR) return;
  fprintf(stderr, "%s\n", ncmpi_strerror(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int open_file(const char* path, int ranks, int variables[2]) {
  int file, dims[3];
  check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  check(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
  check(ncmpi_def_dim(file, "row", rows, &dims[1]));
  check(ncmpi_def_dim(file, "column", columns_a_rank * ranks, &dims[2]));
  check(ncmpi_def_var(file, "T", NC_DOUBLE, 3, dims, &variables[0]));
  check(ncmpi_def_var(file, "count", NC_SHORT, 3, dims, &variables[1]));
  check(ncmpi_put_att_text(file, variables[0], "units", 1, "K"));
  check(ncmpi_enddef(file));
  return file;
}

int main(int argc, char** argv) {
  int rank, ranks, file = -1, variables[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = atoi(argv[2]), files = strcmp(argv[3], "files") == 0;
  const int is_killed = strcmp(argv[3], "kill") == 0;
  double t[columns_a_rank][rows];
  short n[columns_a_rank][rows];
  for (int step = 0; step < steps; ++step) {
    if (is_killed && step + 1 == steps) usleep(150000);
    if (files || step == 0) {
      char path[4096];
      snprintf(path, sizeof path, files ? "%s%d" : "%s", argv[1], step);
      file = open_file(path, ranks, variables);
    }
    for (int i = 0; i < columns_a_rank; ++i) {
      MPI_Offset start[] = {files ? 0 : step, 0, i * ranks + rank}, count[] = {1, rows, 1};
      for (int row = 0; row < rows; ++row) {
        t[i][row] = step + row;
        n[i][row] = (short)i;
      }
      check(ncmpi_iput_vara_double(file, variables[0], start, count, t[i], NULL));
      check(ncmpi_iput_vara_short(file, variables[1], start, count, n[i], NULL));
    }
    check(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
    if (files) check(ncmpi_close(file));
  }
  if (is_killed) {
    MPI_Barrier(MPI_COMM_WORLD);
    raise(SIGKILL);
  }
  if (!files) check(ncmpi_close(file));
  MPI_Finalize();
  return 0;
}
