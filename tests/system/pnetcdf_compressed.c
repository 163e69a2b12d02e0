/* Lives of a file that is compressed when it is closed, for the tests of the drop-in.
 *
 *     pnetcdf_compressed <case> <file>
 *
 * The file has the variables `fixed` (x), `series` (time, x) and `time` (time); each rank has every
 * ranks-th column. Cases that read print how many elements are wrong.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>
#include <pnetcdf.h>

enum { columns = 600 }; /* of a rank */

static int rank, ranks, ncid, fixed, series, axis;

static void check(int error, const char* what) {
  if (error == NC_NOERR) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, ncmpi_strerrno(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static float value_of(int record, MPI_Offset column) {
  return (float)(1000 * record) + (float)column / 8;
}

static void define(const char* path, int mode) {
  int dims[2];
  check(ncmpi_create(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &ncid), "create");
  check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]), "def_dim");
  check(ncmpi_def_dim(ncid, "x", (MPI_Offset)columns * ranks, &dims[1]), "def_dim");
  check(ncmpi_def_var(ncid, "fixed", NC_FLOAT, 1, &dims[1], &fixed), "def_var");
  check(ncmpi_def_var(ncid, "series", NC_FLOAT, 2, dims, &series), "def_var");
  check(ncmpi_def_var(ncid, "time", NC_DOUBLE, 1, dims, &axis), "def_var");
  check(ncmpi_put_att_text(ncid, series, "units", 1, "K"), "put_att");
  check(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 9, "a history"), "put_att");
}

/* Half of the columns in a nonblocking request, the others in a blocking call. */
static void put_record(int variable, int record) {
  float values[columns];
  MPI_Offset start[2][2], count[2] = {1, columns / 2}, stride[2] = {1, ranks};
  const int line = variable == fixed ? 1 : 0; /* has no records */
  for (int half = 0; half < 2; ++half) {
    start[half][0] = record;
    start[half][1] = rank + (MPI_Offset)half * (columns / 2) * ranks;
  }
  for (int i = 0; i < columns; ++i) values[i] = value_of(record, rank + (MPI_Offset)i * ranks);
  check(ncmpi_iput_vars_float(ncid, variable, start[0] + line, count + line, stride + line, values,
                              NULL),
        "iput");
  check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
  check(ncmpi_put_vars_float_all(ncid, variable, start[1] + line, count + line, stride + line,
                                 values + columns / 2),
        "put");
}

static void put_records(int begin, int end) {
  for (int record = begin; record < end; ++record) {
    const MPI_Offset index = record;
    const double now = record;
    put_record(series, record);
    check(ncmpi_put_var1_double_all(ncid, axis, &index, &now), "put_var1");
  }
}

static void create(const char* path) {
  define(path, NC_CLOBBER | NC_64BIT_DATA);
  check(ncmpi_enddef(ncid), "enddef");
  put_record(fixed, 0);
  put_records(0, 2);
}

static void open_file(const char* path, int mode) {
  check(ncmpi_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &ncid), "open");
  check(ncmpi_inq_varid(ncid, "fixed", &fixed), "inq_varid");
  check(ncmpi_inq_varid(ncid, "series", &series), "inq_varid");
  check(ncmpi_inq_varid(ncid, "time", &axis), "inq_varid");
}

static int wrong_in(int variable, int records) {
  const MPI_Offset length = (MPI_Offset)columns * ranks;
  float* const values = malloc((size_t)length * sizeof *values);
  int wrong = 0;
  for (int record = 0; record < records; ++record) {
    const MPI_Offset start[2] = {record, 0}, count[2] = {1, length};
    const int line = variable == fixed ? 1 : 0;
    check(ncmpi_get_vara_float_all(ncid, variable, start + line, count + line, values), "get");
    for (MPI_Offset i = 0; i < length; ++i) wrong += values[i] != value_of(record, i);
  }
  free(values);
  return wrong;
}

static void print_state(const char* path) {
  int format = 0, length = 0, dimension = 0;
  char name[8192];
  MPI_Offset records = 0;
  check(ncmpi_inq_format(ncid, &format), "inq_format");
  check(ncmpi_inq_path(ncid, &length, name), "inq_path");
  check(ncmpi_inq_unlimdim(ncid, &dimension), "inq_unlimdim");
  check(ncmpi_inq_dimlen(ncid, dimension, &records), "inq_dimlen");
  const int wrong = wrong_in(fixed, 1) + wrong_in(series, (int)records);
  const int is_name = !strcmp(name, path) && (size_t)length == strlen(path);
  if (rank == 0)
    printf("format %d, %s, %lld records, %d wrong\n", format, is_name ? "its name" : name,
           (long long)records, wrong);
}

static void print_close(void) {
  const int error = ncmpi_close(ncid);
  printf("rank %d: close %s\n", rank, ncmpi_strerrno(error));
}

static void read_file(const char* path) {
  open_file(path, NC_NOWRITE);
  print_state(path);
  check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
  float value = -1;
  const MPI_Offset index = rank;
  check(ncmpi_get_var1_float(ncid, fixed, &index, &value), "get_var1");
  check(ncmpi_end_indep_data(ncid), "end_indep_data");
  if (value != value_of(0, index)) printf("rank %d: wrong\n", rank);
  check(ncmpi_close(ncid), "close");
}

static void append(const char* path) {
  open_file(path, NC_WRITE);
  print_state(path);
  put_records(2, 4);
  check(ncmpi_close(ncid), "close");
  open_file(path, NC_WRITE);
  check(ncmpi_redef(ncid), "redef");
  check(ncmpi_put_att_text(ncid, NC_GLOBAL, "history", 5, "twice"), "put_att");
  check(ncmpi_enddef(ncid), "enddef");
  check(ncmpi_close(ncid), "close");
}

/* What no longer has the name, or another folder, or no name at all. */
static void moved(const char* path) {
  char other[8192];
  snprintf(other, sizeof other, "%s.moved", path);
  create(path);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && rename(path, other) != 0) perror("rename");
  MPI_Barrier(MPI_COMM_WORLD);
  check(ncmpi_close(ncid), "close");
  create("beside.nc");
  if (chdir("/") != 0) perror("chdir");
  check(ncmpi_close(ncid), "close");
  create(path);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) check(ncmpi_delete(path, MPI_INFO_NULL), "delete");
  check(ncmpi_close(ncid), "close");
}

static void codes(const char* path) {
  const int exists = ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, MPI_INFO_NULL, &ncid);
  const int none = ncmpi_open(MPI_COMM_WORLD, "no such file", NC_WRITE, MPI_INFO_NULL, &ncid);
  if (rank == 0) printf("%s %s\n", ncmpi_strerrno(exists), ncmpi_strerrno(none));
  define("aborted.nc", NC_CLOBBER);
  ncmpi_abort(ncid); /* PnetCDF 1.12 has all ranks delete the file, of which one succeeds */
  define("short.nc", NC_CLOBBER | NC_64BIT_OFFSET);
  check(ncmpi_enddef(ncid), "enddef");
  int request = 0;
  const float value = 1;
  const MPI_Offset index = rank;
  check(ncmpi_iput_var1_float(ncid, fixed, &index, &value, &request), "iput");
  print_close();
}

/* Each rank reads it while all have it open; then one goes on reading when it is closed. */
static void shared(const char* path) {
  int reader = -1;
  float value = -1;
  create(path);
  const int all = ncid;
  check(ncmpi_sync(all), "sync");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) check(ncmpi_open(MPI_COMM_SELF, path, NC_WRITE, MPI_INFO_NULL, &reader), "open");
  check(ncmpi_close(all), "close");
  if (rank == 0) {
    const MPI_Offset index = 0;
    check(ncmpi_begin_indep_data(reader), "begin_indep_data");
    check(ncmpi_get_var1_float(reader, fixed, &index, &value), "get_var1");
    value = value_of(0, 0);
    check(ncmpi_put_var1_float(reader, fixed, &index, &value), "put_var1");
    check(ncmpi_close(reader), "close");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void refused(const char* path) {
  define(path, NC_CLOBBER);
  check(ncmpi_put_att_text(ncid, NC_GLOBAL, "CLASS", 1, "c"), "put_att");
  check(ncmpi_enddef(ncid), "enddef");
  put_record(fixed, 0);
  print_close();
}

/* Elements that no filter shortens: the classic file is as large as a file may be here. */
static void limit(const char* path) {
  const MPI_Offset length = (((MPI_Offset)8 << 20) - 4096) / 8 / ranks, start = rank * length;
  double* const values = malloc((size_t)length * sizeof *values);
  unsigned long long state = (unsigned long long)rank + 1;
  int dim = 0;
  for (MPI_Offset i = 0; i < length; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    memcpy(&values[i], &state, sizeof state);
  }
  check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
  check(ncmpi_def_dim(ncid, "x", length * ranks, &dim), "def_dim");
  check(ncmpi_def_var(ncid, "noise", NC_DOUBLE, 1, &dim, &fixed), "def_var");
  check(ncmpi_enddef(ncid), "enddef");
  check(ncmpi_put_vara_double_all(ncid, fixed, &start, &length, values), "put");
  print_close();
  free(values);
}

static void killed(const char* path) {
  create(path);
  check(ncmpi_sync(ncid), "sync");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) return 2;
  const char *const name = argv[1], *const path = argv[2];
  if (!strcmp(name, "create")) {
    create(path);
    print_state(path);
    check(ncmpi_close(ncid), "close");
  }
  if (!strcmp(name, "read")) read_file(path);
  if (!strcmp(name, "append")) append(path);
  if (!strcmp(name, "moved")) moved(path);
  if (!strcmp(name, "codes")) codes(path);
  if (!strcmp(name, "shared")) shared(path);
  if (!strcmp(name, "refused")) refused(path);
  if (!strcmp(name, "limit")) limit(path);
  if (!strcmp(name, "killed")) killed(path);
  if (!strcmp(name, "left open")) create(path);
  MPI_Finalize();
  return 0;
}
