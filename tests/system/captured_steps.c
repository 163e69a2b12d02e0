/* Writes steps of two variables through PnetCDF, for the tests of capture.
 *
 *     captured_steps <file> <steps> <way>
 *
 * way: one: all to one file; files: each step to a file of its own; renamed: the same, but each is
 * made as <file>, to which rank 0 gives the step's name at its end; history: as files, but the
 * first has a variable more, each is opened again for an attribute and a variable, and a file of
 * sums stays open beside them, from which each step reads what the one before has put; kill: as
 * one, but every rank thinks before the last step, and then ends by SIGKILL. Each rank has every
 * ranks-th column, one call a column, so that there are as many calls as elements.
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

static int open_file(const char* path, int ranks, int variables[2], int* area) {
  int file, dims[3];
  check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  check(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
  check(ncmpi_def_dim(file, "row", rows, &dims[1]));
  check(ncmpi_def_dim(file, "column", columns_a_rank * ranks, &dims[2]));
  check(ncmpi_def_var(file, "T", NC_DOUBLE, 3, dims, &variables[0]));
  check(ncmpi_def_var(file, "count", NC_SHORT, 3, dims, &variables[1]));
  check(ncmpi_put_att_text(file, variables[0], "units", 1, "K"));
  if (area) check(ncmpi_def_var(file, "area", NC_FLOAT, 2, &dims[1], area));
  check(ncmpi_enddef(file));
  return file;
}

static int open_sums(const char* path, int ranks, int* sum) {
  char name[4096];
  int file, dims[2];
  snprintf(name, sizeof name, "%s.sums", path);
  check(ncmpi_create(MPI_COMM_WORLD, name, NC_CLOBBER, MPI_INFO_NULL, &file));
  check(ncmpi_def_dim(file, "step", NC_UNLIMITED, &dims[0]));
  check(ncmpi_def_dim(file, "rank", ranks, &dims[1]));
  check(ncmpi_def_var(file, "sum", NC_FLOAT, 2, dims, sum));
  check(ncmpi_enddef(file));
  return file;
}

/* What history has beside the steps. */
static void end_step(int file, const char* path, int step, int rank, int sums, int sum) {
  int again, dims[2], more;
  float value = (float)step;
  const MPI_Offset at[] = {step, rank}, before[] = {step - 1, rank};
  if (step > 0) check(ncmpi_get_var1_float_all(sums, sum, before, &value));
  check(ncmpi_put_var1_float_all(sums, sum, at, &value));
  check(ncmpi_close(file));
  check(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &again));
  check(ncmpi_redef(again));
  check(ncmpi_inq_dimid(again, "row", &dims[0]));
  check(ncmpi_def_var(again, "more", NC_INT, 1, dims, &more));
  check(ncmpi_put_att_text(again, 0, "checked", 3, "yes"));
  check(ncmpi_enddef(again));
  const MPI_Offset start = 0, count = rank == 0 ? rows : 0;
  const int numbers[rows] = {1, 2, step};
  check(ncmpi_put_vara_int_all(again, more, &start, &count, numbers));
  check(ncmpi_close(again));
}

int main(int argc, char** argv) {
  int rank, ranks, file = -1, variables[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = atoi(argv[2]), files = strcmp(argv[3], "one") && strcmp(argv[3], "kill");
  const int is_killed = strcmp(argv[3], "kill") == 0;
  const int history = strcmp(argv[3], "history") == 0, renamed = strcmp(argv[3], "renamed") == 0;
  int area, sum, sums = -1;
  float areas[rows][columns_a_rank] = {{1}};
  double t[columns_a_rank][rows];
  short n[columns_a_rank][rows];
  if (history) sums = open_sums(argv[1], ranks, &sum);
  for (int step = 0; step < steps; ++step) {
    char path[4096];
    if (is_killed && step + 1 == steps) usleep(150000);
    if (files || step == 0) {
      snprintf(path, sizeof path, files ? "%s%d" : "%s", argv[1], step);
      file = renamed ? open_file(argv[1], ranks, variables, NULL)
                     : open_file(path, ranks, variables, history && step == 0 ? &area : NULL);
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
    if (history && step == 0) {
      const MPI_Offset start[] = {0, columns_a_rank * rank}, count[] = {rows, columns_a_rank};
      check(ncmpi_put_vara_float_all(file, area, start, count, &areas[0][0]));
    }
    check(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
    if (history) {
      end_step(file, path, step, rank, sums, sum);
    } else if (files) {
      check(ncmpi_close(file));
      if (renamed) {
        if (rank == 0 && rename(argv[1], path) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Barrier(MPI_COMM_WORLD);
      }
    }
  }
  if (history) check(ncmpi_close(sums));
  if (is_killed) {
    MPI_Barrier(MPI_COMM_WORLD);
    raise(SIGKILL);
  }
  if (!files) check(ncmpi_close(file));
  MPI_Finalize();
  return 0;
}
