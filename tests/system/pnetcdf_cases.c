/* One case of calls of PnetCDF; each rank prints what they return, or rank 0 what the file holds.
 *
 *     pnetcdf_cases <case> <file>
 */
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <mpi.h>
#include <pnetcdf.h>

static int rank, ranks, ncid, time_dim, x;

static void check(int error, const char* what) {
  if (error == NC_NOERR) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, ncmpi_strerror(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void create(const char* path, MPI_Info info, MPI_Offset length) {
  check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &ncid), "create");
  check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time_dim), "def_dim");
  check(ncmpi_def_dim(ncid, "x", length, &x), "def_dim");
}

static int variable(const char* name, nc_type type, int dims, const int* ids) {
  int id;
  check(ncmpi_def_var(ncid, name, type, dims, ids, &id), "def_var");
  return id;
}

static void print_ints(int id, MPI_Offset length) {
  int values[64];
  check(ncmpi_get_var_int_all(ncid, id, values), "get_var");
  for (MPI_Offset i = 0; rank == 0 && i < length; ++i) printf("%d ", values[i]);
  if (rank == 0) printf("\n");
}

/* More than a file may have. */
static void limit(const char* path) {
  const MPI_Offset mine = (16 << 20) / 8 / ranks;
  double* const values = calloc((size_t)mine, sizeof *values);
  signal(SIGXFSZ, SIG_IGN);
  create(path, MPI_INFO_NULL, mine * ranks);
  const int id = variable("v", NC_DOUBLE, 1, &x);
  check(ncmpi_enddef(ncid), "enddef");
  const MPI_Offset start = rank * mine;
  int request, status = 1;
  check(ncmpi_iput_vara_double(ncid, id, &start, &mine, values, &request), "iput");
  const int error = ncmpi_wait_all(ncid, 1, &request, &status);
  printf("rank %d: %s %s\n", rank, ncmpi_strerrno(error), ncmpi_strerrno(status));
  ncmpi_close(ncid);
  free(values);
}

/* Numbers that no variable has; then one of a variable. */
static void unknown(const char* path) {
  create(path, MPI_INFO_NULL, 4);
  const int id = variable("v", NC_INT, 1, &x);
  check(ncmpi_enddef(ncid), "enddef");
  const int numbers[] = {id + 1, 1 << 20, INT_MAX, INT_MIN, id};
  const int value = 5;
  MPI_Offset index = rank;
  check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
  for (int i = 0; i < 5; ++i)
    printf("rank %d: %s\n", rank,
           ncmpi_strerrno(ncmpi_put_var1_int(ncid, numbers[i], &index, &value)));
  check(ncmpi_end_indep_data(ncid), "end_indep_data");
  ncmpi_close(ncid);
}

enum { kept_records = 3 };

/* A rank dies while the others wait for it; what was synchronized before is there. */
static void killed(const char* path) {
  int values[20];
  create(path, MPI_INFO_NULL, 20 * ranks);
  const int dims[] = {time_dim, x}, id = variable("v", NC_INT, 2, dims);
  check(ncmpi_enddef(ncid), "enddef");
  for (int record = 0; record <= kept_records; ++record) {
    const MPI_Offset start[] = {record, rank}, count[] = {1, 20}, stride[] = {1, ranks};
    for (int i = 0; i < 20; ++i) values[i] = 1000 * record + i * ranks + rank;
    check(ncmpi_iput_vars_int(ncid, id, start, count, stride, values, NULL), "iput");
    if (record == kept_records && rank == ranks - 1) raise(SIGKILL);
    check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    check(ncmpi_sync(ncid), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void survives(const char* path) {
  MPI_Offset length = 0;
  int values[1024], wrong = 0;
  check(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
  check(ncmpi_inq_dimlen(ncid, 1, &length), "inq_dimlen");
  for (MPI_Offset record = 0; record < kept_records; ++record) {
    const MPI_Offset start[] = {record, 0}, count[] = {1, length};
    check(ncmpi_get_vara_int_all(ncid, 0, start, count, values), "get_vara");
    for (MPI_Offset i = 0; i < length; ++i) wrong += values[i] != 1000 * record + i;
  }
  printf("rank %d: %d wrong of %lld\n", rank, wrong, (long long)length);
  check(ncmpi_close(ncid), "close");
}

/* A rank puts the same elements in several requests; `out_of_range` for PnetCDF to judge: 1, one
 * put of another variable; 2, one of this. */
static void later(const char* path, int out_of_range) {
  short first[10], second[4], third[1] = {30};
  double wild[1] = {1e9};
  create(path, MPI_INFO_NULL, 10 * ranks);
  const int id = variable("v", NC_SHORT, 1, &x), other = variable("w", NC_SHORT, 1, &x);
  check(ncmpi_enddef(ncid), "enddef");
  for (int i = 0; i < 10; ++i) first[i] = 10;
  for (int i = 0; i < 4; ++i) second[i] = 20;
  MPI_Offset start = 10 * rank, count = 10;
  check(ncmpi_iput_vara_short(ncid, id, &start, &count, first, NULL), "iput");
  start += 3, count = 4;
  check(ncmpi_iput_vara_short(ncid, id, &start, &count, second, NULL), "iput");
  if (out_of_range && rank == 0) {
    int request = NC_REQ_NULL;
    const int error =
        ncmpi_iput_var1_double(ncid, out_of_range == 1 ? other : id, &start, wild, &request);
    printf("%s %s\n", ncmpi_strerrno(error), request == NC_REQ_NULL ? "null" : "pending");
  }
  start += 2, count = 1;
  check(ncmpi_iput_vara_short(ncid, id, &start, &count, third, NULL), "iput");
  int pending = 0;
  check(ncmpi_inq_nreqs(ncid, &pending), "inq_nreqs");
  check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
  if (rank == 0) printf("%d pending\n", pending);
  print_ints(id, 10 * ranks);
  check(ncmpi_close(ncid), "close");
}

/* Records of every second element, the other ones by the next rank, with holes between; then
 * another such file. */
static void records(const char* path, MPI_Info info, int holes) {
  for (int file = 0; file < 2; ++file) {
    char name[4096];
    snprintf(name, sizeof name, "%s%d", path, file);
    create(name, info, 60 * ranks);
    const int dims[] = {time_dim, x};
    const int v = variable("v", NC_INT, 2, dims), w = variable("w", NC_FLOAT, 2, dims);
    check(ncmpi_enddef(ncid), "enddef");
    for (int record = 0; record < 5; ++record) {
      MPI_Offset start[60][2], count[60][2], *starts[60], *counts[60];
      int ints[60];
      float floats[60];
      for (int i = 0; i < 60; ++i) {
        start[i][0] = record, start[i][1] = i * ranks + rank;
        count[i][0] = count[i][1] = 1;
        starts[i] = start[i], counts[i] = count[i];
        ints[i] = 1000 * record + i * ranks + rank;
        floats[i] = (float)ints[i] / 2;
      }
      const int some = holes ? 30 : 60;
      check(ncmpi_iput_varn_int(ncid, v, some, starts, counts, ints, NULL), "iput_varn");
      check(ncmpi_bput_varn_float(ncid, w, some, starts, counts, floats, NULL) == NC_ENULLABUF
                ? NC_NOERR
                : NC_EINVAL,
            "bput_varn without a buffer");
      check(ncmpi_iput_varn_float(ncid, w, some, starts, counts, floats, NULL), "iput_varn");
      check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    }
    check(ncmpi_close(ncid), "close");
    check(ncmpi_open(MPI_COMM_WORLD, name, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    MPI_Offset length = 0;
    check(ncmpi_inq_dimlen(ncid, time_dim, &length), "inq_dimlen");
    int wrong = 0;
    check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    for (MPI_Offset record = 0; record < length; ++record) {
      for (int i = 0; i < (holes ? 30 : 60); ++i) {
        const MPI_Offset index[] = {record, i * ranks + rank};
        int value = -1;
        check(ncmpi_get_var1_int(ncid, v, index, &value), "get_var1");
        wrong += value != 1000 * record + index[1];
      }
    }
    check(ncmpi_end_indep_data(ncid), "end_indep_data");
    printf("rank %d: %lld records, %d wrong\n", rank, (long long)length, wrong);
    check(ncmpi_close(ncid), "close");
  }
}

static MPI_Offset kib_of(const char* name) {
  char line[256];
  long long kib = 0;
  FILE* const status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, name, strlen(name))) sscanf(line + strlen(name), " %lld", &kib);
  if (status) fclose(status);
  return kib;
}

/* A plan of so many pieces that one rank lacks memory for it, for a while. */
static void memory(const char* path) {
  enum { boxes = 400000 };
  MPI_Offset(*const numbers)[2] = malloc(boxes * sizeof *numbers);
  MPI_Offset **const starts = malloc(boxes * sizeof *starts),
                     **const counts = malloc(boxes * sizeof *counts);
  int* const values = calloc(boxes, sizeof *values);
  create(path, MPI_INFO_NULL, 2 * boxes * ranks);
  const int id = variable("v", NC_INT, 1, &x);
  check(ncmpi_enddef(ncid), "enddef");
  for (int i = 0; i < boxes; ++i) {
    numbers[i][0] = 2 * ((MPI_Offset)i * ranks + rank);
    numbers[i][1] = 1;
    starts[i] = &numbers[i][0], counts[i] = &numbers[i][1];
  }
  /* What the library has in any case is there before. */
  check(ncmpi_iput_varn_int(ncid, id, 2, starts, counts, values, NULL), "iput_varn");
  check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
  int request, status = 1;
  check(ncmpi_iput_varn_int(ncid, id, boxes, starts, counts, values, &request), "iput_varn");
  struct rlimit before, now;
  getrlimit(RLIMIT_AS, &before);
  now = before;
  now.rlim_cur = (rlim_t)(kib_of("VmSize:") * 1024 + (4 << 20));
  if (rank == ranks - 1) setrlimit(RLIMIT_AS, &now);
  const int error = ncmpi_wait_all(ncid, 1, &request, &status);
  if (rank == ranks - 1) setrlimit(RLIMIT_AS, &before);
  check(ncmpi_iput_varn_int(ncid, id, boxes, starts, counts, values, NULL), "iput_varn");
  const int then = ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
  printf("rank %d: %s %s, then %s\n", rank, ncmpi_strerrno(error), ncmpi_strerrno(status),
         ncmpi_strerrno(then));
  check(ncmpi_close(ncid), "close");
}

/* Boxes whose numbers stand side by side, or each in memory of its own, are asked for again and
 * again, and changed between the calls: each call means what they say when it is made. */
static void again(const char* path) {
  enum { boxes = 20, times = 6, length = 3 * boxes };
  static MPI_Offset memory[boxes][2][7], side_by_side[boxes * 2 * 2];
  static int values[times][boxes + 1];
  create(path, MPI_INFO_NULL, length * ranks);
  const int dims[] = {time_dim, x};
  int v[2][times], calls = 0;
  for (int i = 0; i < times; ++i) {
    char name[] = {'f', (char)('0' + i), 0};
    v[0][i] = variable(name, NC_INT, 1, &x);
    name[0] = 'r';
    v[1][i] = variable(name, NC_INT, 2, dims);
  }
  check(ncmpi_enddef(ncid), "enddef");
  for (int turn = 0; turn < 3 * 2 * 2; ++turn) {
    const int record = turn / 4, beside = turn / 2 % 2, recorded = turn % 2, dims_of = 1 + recorded;
    MPI_Offset *starts[boxes], *counts[boxes];
    for (int b = 0; b < boxes; ++b) {
      starts[b] = beside ? side_by_side + 2 * dims_of * b : memory[b][0];
      counts[b] = beside ? starts[b] + dims_of : memory[b][1];
      starts[b][0] = record;
      starts[b][dims_of - 1] = rank * length + 3 * b;
      counts[b][0] = counts[b][dims_of - 1] = 1;
    }
    const MPI_Offset first[] = {record, rank * length}, all[] = {1, length};
    static const int sevens[length] = {7, 7, 7};
    for (int i = 0; i < times; ++i)
      check(ncmpi_iput_vara_int(ncid, v[recorded][i], first + 1 - recorded, all + 1 - recorded,
                                sevens, NULL),
            "iput_vara");
    check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    for (int i = 0; i < times; ++i) {
      for (int b = 0; b < boxes + 1; ++b) values[i][b] = 100 * ++calls + b;
      starts[boxes - 1][dims_of - 1] += i == 2;
      counts[0][dims_of - 1] += i == 4;
      check(ncmpi_iput_varn_int(ncid, v[recorded][i], boxes, starts, counts, values[i], NULL),
            "iput_varn");
      starts[boxes - 1][dims_of - 1] -= i == 2;
      counts[0][dims_of - 1] -= i == 4;
    }
    check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
  }
  check(ncmpi_close(ncid), "close");
}

/* PnetCDF itself puts holes first: they stay. */
static void keep(const char* path) {
  int values[60];
  create(path, MPI_INFO_NULL, 60);
  const int id = variable("v", NC_INT, 1, &x);
  check(ncmpi_enddef(ncid), "enddef");
  check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
  for (int i = 0; i < 60; ++i) values[i] = 7;
  if (rank == 0) check(ncmpi_put_var_int(ncid, id, values), "put_var");
  check(ncmpi_end_indep_data(ncid), "end_indep_data");
  MPI_Barrier(MPI_COMM_WORLD);
  const MPI_Offset start = rank * 2, count = 1;
  check(ncmpi_iput_vara_int(ncid, id, &start, &count, &rank, NULL), "iput");
  check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
  print_ints(id, 60);
  check(ncmpi_close(ncid), "close");
}

/* Many blocking puts of one piece a rank, then of many. */
static void seldom(const char* path) {
  enum { few = 40, many = 40, mine = 64 };
  create(path, MPI_INFO_NULL, 2 * mine * ranks);
  const int id[] = {variable("few", NC_INT, 1, &x), variable("many", NC_INT, 1, &x)};
  check(ncmpi_enddef(ncid), "enddef");
  int values[2 * mine];
  for (int turn = 0; turn < few + many; ++turn) {
    const int is_many = turn >= few;
    for (int i = 0; i < 2 * mine; ++i) values[i] = 1000 * turn + 10 * i + rank;
    const MPI_Offset start = is_many ? rank : (MPI_Offset)2 * mine * rank;
    const MPI_Offset count = is_many ? mine : 2 * mine, stride = is_many ? ranks : 1;
    check(ncmpi_put_vars_int_all(ncid, id[is_many], &start, &count, &stride, values), "put_vars");
  }
  check(ncmpi_close(ncid), "close");
}

/* A get brings what PnetCDF says of a value that the memory cannot hold, and a request may be left
 * behind. */
static void leave(const char* path) {
  create(path, MPI_INFO_NULL, 4 * ranks);
  const int id = variable("v", NC_INT, 1, &x);
  check(ncmpi_enddef(ncid), "enddef");
  const MPI_Offset start = 4 * rank, count = 4;
  const int values[] = {1, 2, 3, 70000};
  short small[4] = {0};
  int request, status;
  check(ncmpi_put_vara_int_all(ncid, id, &start, &count, values), "put_vara");
  check(ncmpi_iget_vara_short(ncid, id, &start, &count, small, &request), "iget");
  const int error = ncmpi_wait_all(ncid, 1, &request, &status);
  printf("rank %d: %s %s %d %d %d\n", rank, ncmpi_strerrno(error), ncmpi_strerrno(status), small[0],
         small[1], small[2]);
  const MPI_Offset none = 0;
  char text[1];
  const int no_text = ncmpi_get_vara_text_all(ncid, id, &start, &none, text);
  printf("rank %d: no numbers as text: %s\n", rank, ncmpi_strerrno(no_text));
  check(ncmpi_iput_vara_int(ncid, id, &start, &count, values, &request), "iput");
  printf("rank %d: close: %s\n", rank, ncmpi_strerrno(ncmpi_close(ncid)));
}

/* More elements than a request may have; nothing may be made of them. */
static void huge(const char* path) {
  signed char value = 1;
  create(path, MPI_INFO_NULL, (MPI_Offset)1 << 40);
  const int id = variable("v", NC_BYTE, 1, &x);
  check(ncmpi_enddef(ncid), "enddef");
  const MPI_Offset start = 0, stride = 2;
  for (int shift = 32; shift <= 38; shift += 6) {
    const MPI_Offset count = (MPI_Offset)1 << shift;
    int request;
    printf(
        "rank %d: %s\n", rank,
        ncmpi_strerrno(ncmpi_iput_vars_schar(ncid, id, &start, &count, &stride, &value, &request)));
  }
  check(ncmpi_close(ncid), "close");
}

/* Two files are open at once, which fill their memory later than they get it. */
static void fills(const char* path) {
  enum { files = 2, mine = 1 << 20 };
  int ids[files], numbers_of_files[files], wrong = 0;
  int *const values = malloc(mine * sizeof *values), *const back = malloc(mine * sizeof *back);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "1");
  for (int i = 0; i < mine; ++i) values[i] = 7 * i + rank;
  for (int turn = 0; turn < 2; ++turn) {
    for (int file = 0; file < files; ++file) {
      const MPI_Offset start = (MPI_Offset)rank * mine, count = turn ? mine : 1;
      char name[4096];
      snprintf(name, sizeof name, "%s%d", path, file);
      if (!turn) {
        create(name, info, (MPI_Offset)mine * ranks);
        ids[file] = variable("v", NC_INT, 1, &x);
        check(ncmpi_enddef(ncid), "enddef");
        numbers_of_files[file] = ncid;
      }
      ncid = numbers_of_files[file];
      check(ncmpi_iput_vara_int(ncid, ids[file], &start, &count, values, NULL), "iput");
      check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
      if (!turn) continue;
      check(ncmpi_get_vara_int_all(ncid, ids[file], &start, &count, back), "get");
      wrong += memcmp(values, back, mine * sizeof *back) != 0;
      check(ncmpi_close(ncid), "close");
    }
  }
  MPI_Info_free(&info);
  free(values);
  free(back);
  printf("rank %d: wrong %d\n", rank, wrong);
}

/* One rank puts infinities and 1e40 into a variable of floats, in waits that name all, puts, or
 * requests one by one; all others and all other variables are good. */
static void infinite(const char* path) {
  enum { mine = 40, variables = 4 };
  const double bad[] = {INFINITY, -INFINITY, 1e40};
  double values[variables][mine], back[mine];
  int ids[variables], wrong = 0, many = 0;
  MPI_Offset used = 0;
  create(path, MPI_INFO_NULL, mine * ranks);
  const int dims[] = {time_dim, x};
  for (int v = 0; v < variables; ++v) {
    const char name[] = {(char)('a' + v), 0};
    ids[v] = variable(name, v < 2 ? NC_FLOAT : NC_DOUBLE, 1 + v % 2, v % 2 ? dims : dims + 1);
  }
  check(ncmpi_enddef(ncid), "enddef");
  check(ncmpi_buffer_attach(ncid, 2 * variables * mine * (MPI_Offset)sizeof(double)), "attach");
  for (int turn = 0; turn < 6; ++turn) {
    int requests[variables], statuses[variables], posted = 0;
    for (int v = 0; v < variables; ++v) {
      const MPI_Offset start[] = {turn, rank}, count[] = {1, mine}, stride[] = {1, ranks};
      const int plain = 1 - v % 2;
      for (int i = 0; i < mine; ++i) values[v][i] = 1000 * turn + 100 * v + i;
      if (v == turn / 3 && rank == ranks - 1) values[v][7] = bad[turn % 3];
      const int error = (turn == 1 ? ncmpi_bput_vars_double : ncmpi_iput_vars_double)(
          ncid, ids[v], start + plain, count + plain, stride + plain, values[v],
          &requests[posted++]);
      if (v == turn / 3) printf("rank %d: turn %d: %s", rank, turn, ncmpi_strerrno(error));
    }
    check(ncmpi_inq_nreqs(ncid, &many), "inq_nreqs");
    check(ncmpi_inq_buffer_usage(ncid, &used), "inq_buffer_usage");
    int error;
    if (turn % 3 == 2) {
      error = ncmpi_wait_all(ncid, turn == 2 ? NC_REQ_ALL : NC_PUT_REQ_ALL, NULL, NULL);
    } else {
      error = ncmpi_wait_all(ncid, posted, requests, statuses);
      for (int i = 0; i < posted; ++i) wrong += statuses[i] != 0 || requests[i] != NC_REQ_NULL;
    }
    printf(" %d pending, %lld bytes, wait %s", many, (long long)used, ncmpi_strerrno(error));
    check(ncmpi_inq_nreqs(ncid, &many), "inq_nreqs");
    printf(" %d left\n", many);
    for (int v = 0; v < variables; ++v) {
      const MPI_Offset start[] = {turn, rank}, count[] = {1, mine}, stride[] = {1, ranks};
      const int plain = 1 - v % 2;
      check(ncmpi_get_vars_double_all(ncid, ids[v], start + plain, count + plain, stride + plain,
                                      back),
            "get");
      for (int i = 0; i < mine; ++i) {
        if (v == turn / 3 && i == 7 && rank == ranks - 1)
          printf("rank %d: turn %d: %g\n", rank, turn, back[i]);
        else
          wrong += back[i] != values[v][i];
      }
    }
  }
  printf("rank %d: %d wrong\n", rank, wrong);
  check(ncmpi_buffer_detach(ncid), "detach");
  check(ncmpi_close(ncid), "close");
}

/* One buffer for put after put, of few elements and of many, before one wait. */
static void reused(const char* path) {
  enum { puts = 4, few = 40, many = 20000 };
  int* const values = calloc(many, sizeof *values);
  create(path, MPI_INFO_NULL, many * ranks);
  int ids[2 * puts];
  for (int v = 0; v < 2 * puts; ++v) ids[v] = variable((char[]){(char)('a' + v), 0}, NC_INT, 1, &x);
  check(ncmpi_enddef(ncid), "enddef");
  for (int large = 0; large < 2; ++large) {
    const MPI_Offset count = large ? many : few, start = rank * count;
    for (int v = 0; v < puts; ++v) {
      /* The later ones begin elsewhere in the buffer. */
      int* const from = values + (large ? 0 : v);
      for (MPI_Offset i = 0; i < count; ++i) from[i] = 100 * (v + 1) + (int)(i % 50);
      check(ncmpi_iput_vara_int(ncid, ids[large * puts + v], &start, &count, from, NULL), "iput");
    }
    check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    for (int v = 0; v < puts; ++v) {
      int wrong = 0;
      check(ncmpi_get_vara_int_all(ncid, ids[large * puts + v], &start, &count, values), "get");
      for (MPI_Offset i = 0; i < count; ++i) wrong += values[i] != 100 * (v + 1) + i % 50;
      printf("rank %d: %s put %d: %d wrong\n", rank, large ? "large" : "small", v, wrong);
    }
  }
  check(ncmpi_close(ncid), "close");
  free(values);
}

static void print_sizes(const char* what, MPI_Offset* before) {
  MPI_Offset now[2] = {0, 0};
  check(ncmpi_inq_put_size(ncid, &now[0]), "inq_put_size");
  check(ncmpi_inq_get_size(ncid, &now[1]), "inq_get_size");
  printf("rank %d: %s: put %lld, got %lld\n", rank, what, (long long)(now[0] - before[0]),
         (long long)(now[1] - before[1]));
  memcpy(before, now, sizeof now);
}

/* Elements that a rank puts, or gets, several times in one wait, and what is said to have moved. */
static void twice(const char* path) {
  enum { boxes = 40 };
  MPI_Offset place[boxes], *starts[boxes], before[2] = {0, 0};
  double values[boxes], back[2][boxes];
  create(path, MPI_INFO_NULL, 3 * boxes * ranks);
  const int id = variable("v", NC_DOUBLE, 1, &x), scalar = variable("s", NC_DOUBLE, 0, NULL);
  check(ncmpi_enddef(ncid), "enddef");
  print_sizes("definition", before);
  for (int i = 0; i < boxes; ++i) {
    place[i] = 3 * (boxes * rank + i);
    starts[i] = &place[i];
    values[i] = i;
  }
  for (int turn = 0; turn < 2; ++turn) {
    if (rank == 0) check(ncmpi_iput_var_double(ncid, scalar, values, NULL), "iput");
    if (rank == 0 && turn) check(ncmpi_iput_var_double(ncid, scalar, values, NULL), "iput");
    check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    print_sizes("scalar", before);
    for (int i = 0; i < 1 + turn; ++i)
      check(ncmpi_iput_varn_double(ncid, id, boxes - 10 * i, starts + 10 * i, NULL, values, NULL),
            "iput");
    check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    print_sizes("boxes", before);
    for (int i = 0; i < 1 + turn; ++i)
      check(ncmpi_iget_varn_double(ncid, id, boxes, starts, NULL, back[i], NULL), "iget");
    check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    print_sizes("gets", before);
  }
  check(ncmpi_close(ncid), "close");
}

/* True if all ranks have the same code. */
static int same(int code) {
  int most[] = {code, -code};
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return most[0] == -most[1];
}

/* A file on a disk that is full at one call after another. Each rank prints how many calls failed,
 * and in how many of those by plan ranks were told different codes. PnetCDF itself hangs where
 * there is no room for its header. */
static void small_disk(const char* path) {
  enum { step = 40 << 10, steps = 5, elements = 4096, ballast_size = 8 << 20 };
  const MPI_Offset mine = elements / ranks;
  char* const block = calloc(1, ballast_size);
  char name[4096];
  snprintf(name, sizeof name, "%s.ballast", path);
  for (int room = step; room <= steps * step; room += step) {
    if (rank == 0) {
      unlink(path);
      FILE* const ballast = fopen(name, "w");
      setvbuf(ballast, NULL, _IONBF, 0);
      const off_t all = (off_t)fwrite(block, 1, ballast_size, ballast);
      fclose(ballast);
      if (truncate(name, all - room)) check(NC_EFILE, "truncate");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int failed = 0, differing = 0;
    double values[elements] = {0};
    create(path, MPI_INFO_NULL, mine * ranks);
    const int dims[] = {time_dim, x};
    const int fixed = variable("f", NC_DOUBLE, 1, &x), recorded = variable("r", NC_DOUBLE, 2, dims);
    check(ncmpi_enddef(ncid), "enddef");
    for (int record = 0; record < 3; ++record) {
      const MPI_Offset start[] = {record, rank}, count[] = {1, mine}, stride[] = {1, ranks};
      ncmpi_iput_vars_double(ncid, recorded, start, count, stride, values, NULL);
      const int waited = ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
      const int put =
          ncmpi_put_vars_double_all(ncid, fixed, start + 1, count + 1, stride + 1, values);
      differing += !same(waited) + !same(put);
      failed += (waited != NC_NOERR) + (put != NC_NOERR) + (ncmpi_sync(ncid) != NC_NOERR);
    }
    failed += ncmpi_close(ncid) != NC_NOERR;
    printf("rank %d: %d KiB: %d failed, %d differ\n", rank, room >> 10, failed, differing);
  }
  free(block);
}

int main(int argc, char** argv) {
  int level = 0;
  const int threaded = argc == 3 && !strcmp(argv[1], "fills"); /* each file has memory of its own */
  MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  static char lines[BUFSIZ]; /* go out whole; MPICH has taken the buffer away */
  setvbuf(stdout, lines, _IOLBF, sizeof lines);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const char* const name = argv[1];
  const char* const path = argv[2];
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "slabmark", "off");
  if (!strcmp(name, "limit")) limit(path);
  if (!strcmp(name, "killed")) killed(path);
  if (!strcmp(name, "survives")) survives(path);
  if (!strcmp(name, "later")) later(path, 0);
  if (!strcmp(name, "range")) later(path, 1);
  if (!strcmp(name, "range of the same")) later(path, 2);
  if (!strcmp(name, "infinite")) infinite(path);
  if (!strcmp(name, "reused")) reused(path);
  if (!strcmp(name, "twice")) twice(path);
  if (!strcmp(name, "small disk")) small_disk(path);
  if (!strcmp(name, "records")) records(path, MPI_INFO_NULL, 0);
  if (!strcmp(name, "holes")) records(path, MPI_INFO_NULL, 1);
  if (!strcmp(name, "off")) records(path, info, 0);
  if (!strcmp(name, "memory")) memory(path);
  if (!strcmp(name, "again")) again(path);
  if (!strcmp(name, "keep")) keep(path);
  if (!strcmp(name, "seldom")) seldom(path);
  if (!strcmp(name, "leave")) leave(path);
  if (!strcmp(name, "unknown")) unknown(path);
  if (!strcmp(name, "huge")) huge(path);
  if (!strcmp(name, "fills")) fills(path);
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
