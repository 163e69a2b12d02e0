/* Programs that compute between outputs, or end in unusual ways while output waits to be written.
 *
 *     pnetcdf_overlap <case> <file> [<records> <KiB of a rank and record> <milliseconds of
 * computing>]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>
#include <pnetcdf.h>

enum { boxes = 64 };

static int rank, ranks, ncid, time_dim, x, records = 6, computing;
static MPI_Offset box = 512;

static void check(int error, const char* what) {
  if (error == NC_NOERR) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, ncmpi_strerror(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void create(const char* path) {
  MPI_Info info;
  MPI_Info_create(&info);
  char all[16];
  snprintf(all, sizeof all, "%d", ranks);
  MPI_Info_set(info, "cb_nodes", all);
  check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &ncid), "create");
  MPI_Info_free(&info);
  check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time_dim), "def_dim");
  check(ncmpi_def_dim(ncid, "x", box * boxes * ranks, &x), "def_dim");
}

static int variable(const char* name, int dims, const int* ids) {
  int id;
  check(ncmpi_def_var(ncid, name, NC_INT, dims, ids, &id), "def_var");
  return id;
}

/* Posts a put of every so many boxes of this rank, which takes turns with the others. */
static void post(int id, int record, int value, int every) {
  static int* values;
  MPI_Offset starts[boxes][2], counts[boxes][2], *start[boxes], *count[boxes];
  const int is_fixed = record < 0;
  int n = 0;
  for (int i = 0; i < boxes; i += every, ++n) {
    starts[n][0] = record, counts[n][0] = 1;
    starts[n][1] = (i * (MPI_Offset)ranks + rank) * box, counts[n][1] = box;
    start[n] = starts[n] + is_fixed, count[n] = counts[n] + is_fixed;
  }
  values = realloc(values, (size_t)(boxes * box) * sizeof *values);
  for (MPI_Offset i = 0; i < n * box; ++i) values[i] = value * 1000 + rank;
  check(ncmpi_bput_varn_int(ncid, id, n, start, count, values, NULL), "bput");
}

static int wait_all(void) { return ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL); }

static void attach(int puts) {
  check(ncmpi_buffer_attach(ncid, puts * boxes * box * (MPI_Offset)sizeof(int)), "attach");
}

static void close_file(void) {
  check(ncmpi_buffer_detach(ncid), "detach");
  check(ncmpi_close(ncid), "close");
}

/* Two variables in records and a fixed one, which each output rewrites in another part. */
static void order(const char* path) {
  create(path);
  const int dims[] = {time_dim, x};
  const int a = variable("a", 2, dims), f = variable("f", 1, &x), b = variable("b", 2, dims);
  check(ncmpi_enddef(ncid), "enddef");
  attach(3);
  for (int record = 0; record < records; ++record) {
    post(a, record, record, 1);
    post(b, record, -record, 1);
    post(f, -1, record, 1 + record % 2);
    check(wait_all(), "wait_all");
    if (record % 3 == 1) { /* what is pending is read, with another plan than wrote it */
      const MPI_Offset start[] = {record, 0}, count[] = {1, box * boxes * ranks};
      int* const all = malloc((size_t)count[1] * sizeof *all);
      int wrong = 0;
      check(ncmpi_get_vara_int_all(ncid, a, start, count, all), "get_vara");
      for (MPI_Offset i = 0; i < count[1]; ++i) {
        wrong += all[i] != record * 1000 + (int)(i / box % ranks);
      }
      printf("rank %d: record %d: %d wrong\n", rank, record, wrong);
      free(all);
    }
    if (record % 3 == 2) { /* PnetCDF itself puts what is pending */
      const MPI_Offset index[] = {record, rank};
      const int value = 7 + rank;
      check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
      check(ncmpi_put_var1_int(ncid, b, index, &value), "put_var1");
      check(ncmpi_end_indep_data(ncid), "end_indep_data");
    }
    if (record == 3) { /* PnetCDF moves what is pending */
      char text[4096] = {0};
      check(ncmpi_redef(ncid), "redef");
      check(ncmpi_put_att_text(ncid, NC_GLOBAL, "text", sizeof text, text), "put_att");
      variable("late", 1, &x);
      check(ncmpi_enddef(ncid), "enddef");
    }
  }
  close_file();
}

/* Of one rank all that it writes fails, and no other knows. */
static void fails(const char* path) {
  create(path);
  const int f = variable("f", 1, &x);
  check(ncmpi_enddef(ncid), "enddef");
  attach(1);
  struct rlimit limit, before;
  getrlimit(RLIMIT_FSIZE, &before);
  limit = before;
  limit.rlim_cur = 4096; /* SIGXFSZ would end the program */
  post(f, -1, 1, 1);
  if (rank == ranks - 1) setrlimit(RLIMIT_FSIZE, &limit);
  const int first = wait_all();
  post(f, -1, 2, 1);
  const int second = wait_all();
  check(ncmpi_buffer_detach(ncid), "detach");
  const int last = ncmpi_close(ncid);
  setrlimit(RLIMIT_FSIZE, &before);
  printf("rank %d: %s %s %s\n", rank, ncmpi_strerrno(first), ncmpi_strerrno(second),
         ncmpi_strerrno(last));
}

/* Puts one record of a fixed variable, which waits to be written. */
static void leave_pending(const char* path) {
  create(path);
  const int f = variable("f", 1, &x);
  check(ncmpi_enddef(ncid), "enddef");
  attach(1);
  post(f, -1, 5, 1);
  check(wait_all(), "wait_all");
}

static void children(const char* path) {
  leave_pending(path);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) exit(0);
  int status = -1;
  waitpid(child, &status, 0);
  printf("rank %d: %d %d\n", rank, status, system("true"));
  close_file();
}

/* The file again, for the program's own eyes, while its first handle has it open. */
static void twice(const char* path) {
  leave_pending(path);
  int again, wrong = 0, id;
  int* const all = malloc((size_t)(box * boxes * ranks) * sizeof *all);
  check(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &again), "open");
  check(ncmpi_inq_varid(again, "f", &id), "inq_varid");
  for (int value = 5; value < 7; ++value) {
    check(ncmpi_get_var_int_all(again, id, all), "get_var");
    for (MPI_Offset i = 0; i < box * boxes * ranks; ++i) {
      wrong += all[i] != value * 1000 + (int)(i / box % ranks);
    }
    post(id, -1, 6, 1);
    check(wait_all(), "wait_all");
  }
  printf("rank %d: %d wrong\n", rank, wrong);
  check(ncmpi_close(again), "close");
  close_file();
}

static double now(void) { return MPI_Wtime(); }

/* What a user sees: the seconds in calls for output, of a program that computes between them. */
static void series(const char* path) {
  create(path);
  const int dims[] = {time_dim, x};
  const int a = variable("a", 2, dims);
  check(ncmpi_enddef(ncid), "enddef");
  attach(1);
  double in_output = 0, in_close = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = now();
  for (int record = 0; record < records; ++record) {
    const struct timespec rest = {computing / 1000, computing % 1000 * 1000000L};
    nanosleep(&rest, NULL);
    const double before = now();
    post(a, record, record, 1);
    check(wait_all(), "wait_all");
    in_output += now() - before;
  }
  const double before = now();
  close_file();
  in_close = now() - before;
  double sums[] = {in_output, in_close, now() - begun};
  MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("output %.3f close %.3f total %.3f\n", sums[0], sums[1], sums[2]);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *const name = words[1], *const path = words[2];
  if (count > 3) records = atoi(words[3]);
  if (count > 4) box = atoi(words[4]) * 1024 / (boxes * (int)sizeof(int));
  if (count > 5) computing = atoi(words[5]);
  if (!strcmp(name, "order")) order(path);
  if (!strcmp(name, "fails")) fails(path);
  if (!strcmp(name, "children")) children(path);
  if (!strcmp(name, "twice")) twice(path);
  if (!strcmp(name, "series")) series(path);
  if (!strcmp(name, "finalizes")) leave_pending(path);
  if (!strcmp(name, "exits")) {
    leave_pending(path);
    exit(0);
  }
  MPI_Finalize();
}
