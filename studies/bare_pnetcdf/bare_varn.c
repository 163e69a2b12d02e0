/* The yardstick for the method pnetcdf-varn: the same PnetCDF calls with nothing around them.
 *
 *   mpiexec -n 4 bare_varn MAP.nc OUTPUT.nc VARIABLES
 *
 * MAP.nc is in the single-map layout (dat2nc of one file). Prints one line: seconds of the slowest
 * rank from create to close and its parts, then the largest resident set of a rank and what of it
 * this program allocated itself, in bytes (the rest is MPI's and PnetCDF's). Buffers are filled,
 * and the map is read and sorted, before the clock starts, as slabmark has it. Errors end the job;
 * this is no program for users. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <mpi.h>
#include <pnetcdf.h>

#define CHECK(call)                                                \
  do {                                                             \
    int status_ = (call);                                          \
    if (status_ != NC_NOERR) {                                     \
      fprintf(stderr, "%s: %s\n", #call, ncmpi_strerror(status_)); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                \
    }                                                              \
  } while (0)

static int compare(const void* a, const void* b) {
  int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

/* Sorted offsets of the recorded ranks that this rank stands for. */
static int* read_offsets(const char* path, int dims[2], MPI_Offset* count) {
  int rank, size, file, nreqs_id, offsets_id, dim_id, var_dims[2];
  MPI_Offset recorded, longest;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
  CHECK(ncmpi_get_att_int(file, NC_GLOBAL, "dim_len_0", &dims[0]));
  CHECK(ncmpi_get_att_int(file, NC_GLOBAL, "dim_len_1", &dims[1]));
  CHECK(ncmpi_inq_dimid(file, "num_procs", &dim_id));
  CHECK(ncmpi_inq_dimlen(file, dim_id, &recorded));
  CHECK(ncmpi_inq_varid(file, "nreqs", &nreqs_id));
  CHECK(ncmpi_inq_varid(file, "offsets", &offsets_id));
  CHECK(ncmpi_inq_vardimid(file, offsets_id, var_dims));
  CHECK(ncmpi_inq_dimlen(file, var_dims[1], &longest));

  MPI_Offset each = recorded / size, more = recorded % size;
  MPI_Offset first = rank * each + (rank < more ? rank : more);
  MPI_Offset mine = each + (rank < more);
  int* lengths = malloc(sizeof(int) * (mine + 1));
  CHECK(ncmpi_get_vara_int_all(file, nreqs_id, &first, &mine, lengths));
  int* rows = malloc(sizeof(int) * (mine * longest + 1));
  MPI_Offset start[2] = {first, 0}, shape[2] = {mine, longest};
  CHECK(ncmpi_get_vara_int_all(file, offsets_id, start, shape, rows));
  CHECK(ncmpi_close(file));

  *count = 0;
  for (MPI_Offset r = 0; r < mine; r++)
    for (int i = 0; i < lengths[r]; i++) rows[(*count)++] = rows[r * longest + i];
  free(lengths);
  qsort(rows, *count, sizeof(int), compare);
  return rows;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) {
    fprintf(stderr, "usage: bare_varn MAP.nc OUTPUT.nc VARIABLES\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int dims[2], rank, variables = atoi(argv[3]);
  MPI_Offset count;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* offsets = read_offsets(argv[1], dims, &count);

  /* Outside the clock: the data. */
  double* buffer = malloc(sizeof(double) * (count * variables + 1));
  for (MPI_Offset i = 0; i < count * variables; i++) buffer[i] = (double)(rank + i);

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_ds_write", "disable");
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Info_set(info, "romio_no_indep_rw", "true");
  MPI_Info_set(info, "nc_var_align_size", "1");
  MPI_Info_set(info, "nc_in_place_swap", "enable");

  double times[7];
  int file, dim_ids[2], *ids = malloc(sizeof(int) * variables);
  MPI_Barrier(MPI_COMM_WORLD);
  times[0] = MPI_Wtime();
  CHECK(ncmpi_create(MPI_COMM_WORLD, argv[2], NC_CLOBBER | NC_64BIT_DATA, info, &file));
  MPI_Barrier(MPI_COMM_WORLD);
  times[1] = MPI_Wtime();
  CHECK(ncmpi_def_dim(file, "dim_len_0", dims[0], &dim_ids[0]));
  CHECK(ncmpi_def_dim(file, "dim_len_1", dims[1], &dim_ids[1]));
  for (int v = 0; v < variables; v++) {
    char name[16];
    snprintf(name, sizeof name, "var%04d", v);
    CHECK(ncmpi_def_var(file, name, NC_DOUBLE, 2, dim_ids, &ids[v]));
  }
  CHECK(ncmpi_enddef(file));
  MPI_Barrier(MPI_COMM_WORLD);
  times[2] = MPI_Wtime();

  /* Starts and counts of the runs, cut at the last dimension. */
  MPI_Offset runs = 0;
  for (MPI_Offset i = 0; i < count; i++)
    if (i == 0 || offsets[i] != offsets[i - 1] + 1 || offsets[i] % dims[1] == 0) runs++;
  MPI_Offset* numbers = malloc(sizeof(MPI_Offset) * (4 * runs + 1));
  MPI_Offset **starts = malloc(sizeof(MPI_Offset*) * (2 * runs + 1)), **counts = starts + runs;
  MPI_Offset run = -1;
  for (MPI_Offset i = 0; i < count; i++) {
    if (i == 0 || offsets[i] != offsets[i - 1] + 1 || offsets[i] % dims[1] == 0) {
      run++;
      starts[run] = numbers + 4 * run;
      counts[run] = starts[run] + 2;
      starts[run][0] = offsets[i] / dims[1];
      starts[run][1] = offsets[i] % dims[1];
      counts[run][0] = 1;
      counts[run][1] = 0;
    }
    counts[run][1]++;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  times[3] = MPI_Wtime();
  for (int v = 0; v < variables; v++)
    CHECK(ncmpi_iput_varn(file, ids[v], (int)runs, starts, counts, buffer + v * count, count,
                          MPI_DOUBLE, NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  times[4] = MPI_Wtime();
  CHECK(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  times[5] = MPI_Wtime();
  CHECK(ncmpi_close(file));
  MPI_Barrier(MPI_COMM_WORLD);
  times[6] = MPI_Wtime();

  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double memory[2], most[2];
  memory[0] = usage.ru_maxrss * 1024.0;
  memory[1] = (double)sizeof(double) * (count * variables) + sizeof(int) * count +
              6.0 * sizeof(MPI_Offset) * runs;
  MPI_Reduce(memory, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

  double spans[7], slowest[7];
  for (int i = 0; i < 6; i++) spans[i] = times[i + 1] - times[i];
  spans[6] = times[6] - times[0];
  MPI_Reduce(spans, slowest, 7, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf(
        "open-to-close %.6f create %.6f define %.6f prepare %.6f post %.6f flush %.6f close %.6f "
        "resident %.0f own %.0f\n",
        slowest[6], slowest[0], slowest[1], slowest[2], slowest[3], slowest[4], slowest[5], most[0],
        most[1]);
    remove(argv[2]);
  }
  MPI_Info_free(&info);
  free(numbers);
  free(starts);
  free(buffer);
  free(offsets);
  free(ids);
  MPI_Finalize();
  return 0;
}
