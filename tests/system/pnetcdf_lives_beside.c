/* Lives beside others: other handles and groups of ranks that write to the same file, other files
 * that need descriptors and memory, and what hangs on the program's communicators. */
#include <sys/resource.h>

#include "pnetcdf_lives.h"

/* Newer ones do not have it. */
int ncmpi_put_vard_all(int file, int id, MPI_Datatype of_file, const void* buffer, MPI_Offset count,
                       MPI_Datatype type) __attribute__((weak));

/* All elements of a variable are 7, by one put of each rank in the group of `file`. */
static void put_sevens(int file, int id, int size) {
  static int sevens[16 * length];
  for (int i = 0; i < 16 * length; ++i) sevens[i] = 7;
  const MPI_Offset start = 0, count = size;
  must(ncmpi_put_vara_int_all(file, id, &start, &count, sevens), "put_vara");
}

/* An element of each rank, with much that nobody puts in between. */
static void put_one_each(int file, int id, const int* value) {
  const MPI_Offset index = (MPI_Offset)rank * length + 3;
  must(ncmpi_iput_var1_int(file, id, &index, value, NULL), "iput_var1");
}

/* In one call ranks put different variables, by which they differ in what they wrote. */
static void puts_another_variable_than_others(void) {
  static const char* const names[] = {"put.nc", "mput.nc", "vard.nc"};
  for (int way = 0; way < 3; ++way) {
    int ids[3];
    const int file = create(at(names[way]), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
    int its = ids[rank % 2 && ranks > 1 ? 0 : 2];
    if (way == 0) put_sevens(file, its, length * ranks);
    static int sevens[16 * length];
    for (int i = 0; i < 16 * length; ++i) sevens[i] = 7;
    int* const buffer = sevens;
    if (way == 1) must(ncmpi_mput_var_int_all(file, 1, &its, &buffer), "mput_var");
    if (way == 2) {
      MPI_Datatype all;
      MPI_Type_contiguous(length * ranks, MPI_INT, &all);
      MPI_Type_commit(&all);
      const int error = ncmpi_put_vard_all
                            ? ncmpi_put_vard_all(file, its, all, sevens, length * ranks, MPI_INT)
                            : NC_ENOTSUPPORT;
      if (error != NC_NOERR) put_sevens(file, its, length * ranks);
      MPI_Type_free(&all);
    }
    for (int v = 0; v < 3; v += 2) put_one_each(file, ids[v], numbers(v));
    tell_wait(file);
    if (ranks > 1) tell(file, NULL, ids[0]);
    tell(file, NULL, ids[2]);
    say("close %d", ncmpi_close(file));
  }
}

/* One rank writes by a handle of its own, of which the others do not know. */
static void has_a_handle_of_its_own(void) {
  int ids[3], own;
  const int file = create(at("own.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  must(ncmpi_sync(file), "sync");
  together();  // ncmpi_sync of PnetCDF 1.15.0 does not wait for the rank that writes the header
  if (rank == ranks - 1) {
    must(ncmpi_open(MPI_COMM_SELF, at("own.nc"), NC_WRITE, MPI_INFO_NULL, &own), "open");
    put_sevens(own, ids[0], length * ranks);
    must(ncmpi_close(own), "close");
  }
  together();
  put_one_each(file, ids[0], numbers(1));
  tell_wait(file);
  tell(file, NULL, ids[0]);
  say("close %d", ncmpi_close(file));
}

/* Two groups of ranks, one after the other; the one that made the file is the last. */
static void shares_its_file_with_another_group(void) {
  int ids[3] = {0, 1, 2}, file = -1;
  const int is_first = rank == 0, value = 9;
  MPI_Comm group;
  MPI_Comm_split(MPI_COMM_WORLD, is_first, rank, &group);
  if (is_first) {
    file = create(at("groups.nc"), group, MPI_INFO_NULL, ids);
    must(ncmpi_sync(file), "sync");
  }
  together();
  if (!is_first) must(ncmpi_open(group, at("groups.nc"), NC_WRITE, MPI_INFO_NULL, &file), "open");
  for (int turn = 0; turn < 2; ++turn) {
    if (is_first == turn) {
      for (int i = 0; i < length * ranks; i += 6) {
        const MPI_Offset index = i + 2 * is_first;
        must(ncmpi_iput_var1_int(file, ids[0], &index, &value, NULL), "iput_var1");
      }
      tell_wait(file);
      must(ncmpi_sync(file), "sync");
    }
    together();
  }
  int values[16 * length] = {0};
  must(ncmpi_get_var_int_all(file, ids[0], values), "get_var");
  for (int i = 0; i < length * ranks; i += 6) {
    if (ranks > 1) say("element %d holds %d", i, values[i]);
    say("element %d holds %d", i + 2, values[i + 2]);
  }
  say("close %d", ncmpi_close(file));
  MPI_Comm_free(&group);
}

/* A record that one handle wrote another one enters, which does not know of it. What that puts
 * counts once. */
static void enters_a_record_that_is_there(void) {
  int ids[3], other, back[16 * length];
  const int file = create(at("enters.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  must(ncmpi_sync(file), "sync");
  must(ncmpi_open(MPI_COMM_WORLD, at("enters.nc"), NC_WRITE, MPI_INFO_NULL, &other), "open");
  const MPI_Offset start[2] = {0, 0}, some[2] = {1, 4};
  const int values[] = {70, 71, 72, 73};
  must(ncmpi_put_vara_int_all(file, ids[1], start, some, values), "put_vara");
  must(ncmpi_sync(file), "sync");
  for (int record = 0; record < 4; record += 3) {
    MPI_Offset before = 0, after = 0;
    const MPI_Offset index[2] = {record, (MPI_Offset)rank * length + length - 1};
    must(ncmpi_inq_put_size(other, &before), "inq_put_size");
    must(ncmpi_iput_var1_int(other, ids[1], index, numbers(record + 1), NULL), "iput");
    tell_wait(other);
    must(ncmpi_inq_put_size(other, &after), "inq_put_size");
    say("put %lld bytes", (long long)(after - before));
    tell_records(other);
  }
  must(ncmpi_sync(other), "sync");
  must(ncmpi_get_vara_int_all(other, ids[1], start, some, back), "get_vara");
  say("the record holds %08x", digest(back, 4));
  for (int record = 0; record < 4; record += 3) {
    const MPI_Offset index[2] = {record, (MPI_Offset)rank * length + length - 1};
    must(ncmpi_get_var1_int_all(other, ids[1], index, back), "get_var1");
    say("record %d holds %d", record, back[0]);
  }
  say("close %d", ncmpi_close(other));
  say("close %d", ncmpi_close(file));
}

/* Only some of several ranks put the last record, which has a box of nothing beyond it. */
static void puts_nothing_beyond_its_records(void) {
  int ids[3], back = 0;
  const int file = create(at("nothing.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  MPI_Offset start[2][2] = {{1, rank}, {5, 0}}, count[2][2] = {{1, 1}, {1, 0}};
  MPI_Offset *starts[] = {start[0], start[1]}, *counts[] = {count[0], count[1]};
  if (rank > 0 || ranks == 1)
    must(ncmpi_iput_varn_int(file, ids[1], 2, starts, counts, numbers(1), NULL), "iput_varn");
  tell_wait(file);
  tell_records(file);
  start[0][1] = ranks - 1;
  must(ncmpi_get_var1_int_all(file, ids[1], start[0], &back), "get_var1");
  say("holds %d, close %d", back, ncmpi_close(file));
}

/* A datatype of those that Fortran asks for by a range: MPI's own, which nobody may free. */
static void has_a_type_of_fortran(void) {
  int file, x, id;
  MPI_Datatype real, every_other;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int has_it = MPI_Type_create_f90_real(6, 30, &real) == MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  if (!has_it) return;
  MPI_Type_vector(length, 1, 2, real, &every_other);
  MPI_Type_commit(&every_other);
  must(ncmpi_create(MPI_COMM_WORLD, at("f90.nc"), NC_CLOBBER, MPI_INFO_NULL, &file), "create");
  must(ncmpi_def_dim(file, "x", (MPI_Offset)length * ranks, &x), "def_dim");
  must(ncmpi_def_var(file, "v", NC_FLOAT, 1, &x, &id), "def_var");
  must(ncmpi_enddef(file), "enddef");
  const float values[2 * length] = {1};
  const MPI_Offset start = (MPI_Offset)rank * length, count = length;
  for (int i = 0; i < 2; ++i) {
    say("iput %d",
        ncmpi_iput_vara(file, id, &start, &count, values, 1, i ? every_other : real, NULL));
  }
  tell_wait_and_close(file);
  MPI_Type_free(&every_other);
}

static int copies;

static int copy(MPI_Comm comm, int key, void* extra, void* from, void* to, int* is_copied) {
  (void)comm, (void)key, (void)extra;
  *(void**)to = from;
  *is_copied = 1;
  ++copies;
  return MPI_SUCCESS;
}

static int forget(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  if (*(int*)value == length) --copies;
  return MPI_SUCCESS;
}

/* What hangs on the program's communicator is gone with the file. */
static void attaches_something(void) {
  int ids[3], key, value = length;
  MPI_Comm turned;
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &turned);
  MPI_Comm_create_keyval(copy, forget, &key, NULL);
  MPI_Comm_set_attr(turned, key, &value);
  ++copies;
  const int file = create(at("attached.nc"), turned, MPI_INFO_NULL, ids);
  put(file, ids[0], numbers(5));
  tell_wait_and_close(file);
  MPI_Comm_free(&turned);
  MPI_Comm_free_keyval(&key);
  say("copies of the attribute are left: %d", copies);
}

/* So many files are open that there are few descriptors for more. */
static void needs_all_descriptors(void) {
  enum { many = 48, spare = 24 };
  int ids[3], files[many];
  char name[32];
  struct rlimit before, now;
  getrlimit(RLIMIT_NOFILE, &before);
  now = before;
  const int lowest = dup(0);
  close(lowest);
  now.rlim_cur = (rlim_t)(lowest + many + spare);
  setrlimit(RLIMIT_NOFILE, &now);
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < many; ++i) {
      snprintf(name, sizeof name, "descriptor%d.nc", i);
      if (turn == 0) files[i] = create(at(name), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
      put(files[i], ids[2 * turn], numbers(1000 * turn + i));
      tell_wait(files[i]);
      if (turn == 1) {
        tell(files[i], NULL, ids[0]);
        tell(files[i], NULL, ids[2]);
        say("sync %d", ncmpi_sync(files[i]));
        say("close %d", ncmpi_close(files[i]));
        if (rank == 0) unlink(at(name));
      }
    }
  }
  setrlimit(RLIMIT_NOFILE, &before);
}

const struct life lives_beside[] = {
    {"puts another variable than others", puts_another_variable_than_others},
    {"has a handle of its own", has_a_handle_of_its_own},
    {"shares its file with another group", shares_its_file_with_another_group},
    {"enters a record that is there", enters_a_record_that_is_there},
    {"puts nothing beyond its records", puts_nothing_beyond_its_records},
    {"has a type of Fortran", has_a_type_of_fortran},
    {"attaches something", attaches_something},
    {"needs all descriptors", needs_all_descriptors},
    {NULL, NULL}};
