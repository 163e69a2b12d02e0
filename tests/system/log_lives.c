/* log_lives SCENARIO [WORD...]: what a program may do with files beyond making, writing and closing
 * them one after another. It knows nothing of the connector, prints what happens, and leaves a.h5
 * (and b.h5) in its folder: both must be the same with the connector and without.
 *
 *   closed-first DEGREE   the file is closed before what is in it, which is then written on
 *   left-open KIND [flush] [parallel]   a program ends without having closed this
 *   twice open|reopen [parallel]   a file has two handles, and what is in it is open through both
 *   made-serially         a file of one process is written by several, HDF5's own datasets, too
 *   by-a-link             a file is made by a symbolic link, and opened by its own name, too
 *   mounted, external     a dataset is read and written through another file
 *   mounted-flushed a|b   two mounted files are flushed through one of them, before a crash
 *   linked-first          a file is opened while it is being changed through an external link
 *   unfilled              a dataset without a fill value, which cannot get another extent
 *   unfilled-chunks       chunks without a fill value of which some elements are written
 *   unfilled-together     all ranks read such chunks, filtered, that one has just written
 *   rewritten nbit|blosc2 [parallel]   parts of chunks that are in the file are written again
 *   missing               the reason why a file cannot be opened
 *   dimensions            a dataset of as many dimensions as there may be
 *   copied                what is written in a file that is mounted, or linked to, is copied
 *   aligned THRESHOLD ALIGNMENT ELEMENTS [parallel]   four flushes of an aligned file
 *   elsewhere [parallel]  the process goes to another folder while it has a file open
 *   old-format            a file in the format of HDF5 1.8
 *   formats-later [parallel]   an open file is limited to the format of HDF5 1.8
 *   members [filtered] [parallel]   elements are read into larger ones, whose other members stay
 *   linked-together [parallel]   all ranks open by external links what another file has
 *   refused-together      of two datasets to write in one call, the second one is refused
 *   ended                 the program ends HDF5 by H5close, with a file open, and begins anew
 *   ended-twice [parallel]   H5close after each of two files, and before MPI ends
 *   forked                a child writes a file of its own while the parent has one open
 *   chosen                a file of the connector that the program chooses, HDF5's own
 *   unclosed              a close fails, since it would end the file with what is in it
 *   full-disk parallel [unfilled]   files on a disk with ever more KiB left, and how they close
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hdf5.h>

#include "log_scenario.h"

enum { length = 10 };

static hid_t create(const char* name, hid_t access) {
  return H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
}

static hid_t dataset(hid_t place, const char* name, hsize_t elements) {
  hid_t space = H5Screate_simple(1, &elements, NULL);
  hid_t made =
      H5Dcreate2(place, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(space);
  return made;
}

/* Ten elements that count from `first`, of all ranks the same. */
static herr_t write_from(hid_t where, int first) {
  int values[length], i;
  for (i = 0; i < length; ++i) values[i] = first + i;
  return H5Dwrite(where, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

static void show(const char* what, hid_t from) {
  int values[length] = {0}, i;
  printf("%s %d:", what, H5Dread(from, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  for (i = 0; i < length; ++i) printf(" %d", values[i]);
  printf("\n");
}

static void make_with_one(const char* name, const char* which, int first) {
  hid_t file = create(name, access_list());
  hid_t one = dataset(file, which, length);
  write_from(one, first);
  H5Dclose(one);
  H5Fclose(file);
}

static void closed_first(void) {
  hid_t access = access_list(), file, group, old, new_one;
  H5Pset_fclose_degree(access, (H5F_close_degree_t)atoi(arguments[2]));
  file = create("a.h5", access);
  group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  old = dataset(group, "old", length);
  write_from(old, 1);
  say("H5Fclose", H5Fclose(file));
  say("H5Dwrite", write_from(old, 100));
  new_one = dataset(group, "new", length);
  say("H5Dcreate", new_one >= 0);
  if (new_one >= 0) write_from(new_one, 200);
  say("H5Dclose", H5Dclose(old));
  say("H5Gclose", H5Gclose(group));
  if (new_one >= 0) say("H5Dclose", H5Dclose(new_one));
  if (H5Iis_valid(file) > 0) say("H5Fclose", H5Fclose(file));
}

static void left_open(void) {
  hsize_t elements = length;
  const int values[length] = {5, 4, 3};
  hid_t access = access_list(), file = create("a.h5", access), group, type, one, attribute;
  hid_t space = H5Screate_simple(1, &elements, NULL);
  H5Pclose(access);
  group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  type = H5Tcopy(H5T_NATIVE_INT);
  H5Tcommit2(file, "t", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  one = dataset(file, "d", length);
  attribute = H5Acreate2(group, "a", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_INT, values);
  write_from(one, 1);
  if (asked("flush")) say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  if (!asked("type")) H5Tclose(type);
  if (!asked("group")) H5Gclose(group);
  if (!asked("attribute")) H5Aclose(attribute);
  if (!asked("dataset")) H5Dclose(one);
  H5Sclose(space);
  if (!asked("file")) say("H5Fclose", H5Fclose(file));
}

static void twice(void) {
  hid_t access = access_list(), a = create("a.h5", access), b, one, other, through_a, through_b;
  one = dataset(a, "d", length);
  write_from(one, 1);
  b = asked("reopen") ? H5Freopen(a) : H5Fopen("a.h5", H5F_ACC_RDWR, access);
  say("opened again", b >= 0);
  other = dataset(b, "e", length);
  write_from(other, 100);
  through_a = H5Gopen2(a, "/", H5P_DEFAULT);
  through_b = H5Gopen2(b, "/", H5P_DEFAULT);
  say("H5Gclose", H5Gclose(through_b));
  say("H5Gclose", H5Gclose(through_a));
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(a));
  one = H5Dopen2(b, "d", H5P_DEFAULT);
  show("d", one);
  say("H5Dclose", H5Dclose(one));
  say("H5Dclose", H5Dclose(other));
  say("H5Fclose", H5Fclose(b));
  H5Pclose(access);
}

static void made_serially(void) {
  const int seven = 7;
  int rank, ranks, found = 0;
  hid_t file, one, scalar = H5Screate(H5S_SCALAR);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    file = create("a.h5", H5P_DEFAULT);
    H5Dclose(
        H5Dcreate2(file, "scalar", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dclose(dataset(file, "d", length));
    H5Fclose(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  file = H5Fopen("a.h5", H5F_ACC_RDWR, access_list());
  one = H5Dopen2(file, "scalar", H5P_DEFAULT);
  say("scalar has space", H5Dget_offset(one) != HADDR_UNDEF);
  if (rank == ranks - 1) {
    say("H5Dwrite", H5Dwrite(one, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &seven));
  }
  H5Dclose(one);
  one = H5Dopen2(file, "d", H5P_DEFAULT);
  say("H5Dwrite", write_from(one, 1));
  H5Dclose(one);
  say("H5Fclose", H5Fclose(file));
  MPI_Barrier(MPI_COMM_WORLD);
  file = H5Fopen("a.h5", H5F_ACC_RDONLY, access_list());
  one = H5Dopen2(file, "scalar", H5P_DEFAULT);
  H5Dread(one, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &found);
  say("scalar", found);
  H5Dclose(one);
  H5Fclose(file);
}

static void by_a_link(void) {
  hid_t a, b, one;
  say("symlink", symlink("b.h5", "a.h5"));
  a = create("a.h5", H5P_DEFAULT);
  one = dataset(a, "d", length);
  write_from(one, 1);
  H5Dclose(one);
  b = H5Fopen("b.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  say("H5Fopen", b >= 0);
  one = H5Dopen2(b, "d", H5P_DEFAULT);
  show("d", one);
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(b));
  say("H5Fclose", H5Fclose(a));
}

static void mounted(void) {
  hid_t a, b, one;
  make_with_one("b.h5", "d", 1);
  a = create("a.h5", H5P_DEFAULT);
  one = dataset(a, "own", length);
  write_from(one, 900);
  H5Dclose(one);
  H5Gclose(H5Gcreate2(a, "m", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  b = H5Fopen("b.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  say("H5Fmount", H5Fmount(a, "m", b, H5P_DEFAULT));
  if (asked("closed")) say("H5Fclose", H5Fclose(b));
  if (!asked("closed")) { /* its root is now that of the other file */
    one = dataset(b, "rooted", length);
    say("H5Dwrite", write_from(one, 300));
    H5Dclose(one);
  }
  one = H5Dopen2(a, "m/d", H5P_DEFAULT);
  show("m/d", one);
  say("H5Dwrite", write_from(one, 100));
  show("m/d", one);
  H5Dclose(one);
  one = dataset(a, "m/new", length);
  say("H5Dwrite", write_from(one, 200));
  H5Dclose(one);
  one = H5Dopen2(a, "own", H5P_DEFAULT);
  show("own", one);
  H5Dclose(one);
  if (!asked("stays")) say("H5Funmount", H5Funmount(a, "m"));
  if (!asked("closed")) say("H5Fclose", H5Fclose(b));
  say("H5Fclose", H5Fclose(a));
}

static void mounted_flushed(void) {
  hid_t a = create("a.h5", H5P_DEFAULT), b = create("b.h5", H5P_DEFAULT), one, other;
  H5Gclose(H5Gcreate2(a, "m", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  one = dataset(a, "d", length);
  say("H5Fmount", H5Fmount(a, "m", b, H5P_DEFAULT));
  other = dataset(a, "m/e", length);
  write_from(one, 1);
  write_from(other, 100);
  say("H5Fflush", H5Fflush(asked("b") ? other : a, H5F_SCOPE_GLOBAL));
  _exit(0);
}

static void through_link(unsigned flags) {
  hid_t a = H5Fopen("a.h5", flags, H5P_DEFAULT);
  hid_t one = H5Dopen2(a, "l", H5P_DEFAULT);
  say("H5Dopen", one >= 0);
  show("l", one);
  if (flags == H5F_ACC_RDWR) {
    say("H5Dwrite", write_from(one, 100));
    show("l", one);
  }
  H5Dclose(one);
  one = H5Dopen2(a, "own", H5P_DEFAULT);
  show("own", one);
  H5Dclose(one);
  say("H5Fclose", H5Fclose(a));
}

static void external(void) {
  hid_t a, b = H5I_INVALID_HID, one;
  make_with_one("b.h5", "d", 1);
  make_with_one("a.h5", "own", 900);
  a = H5Fopen("a.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  H5Lcreate_external("b.h5", "/d", a, "l", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(a);
  if (asked("open")) b = H5Fopen("b.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  through_link(H5F_ACC_RDONLY);
  through_link(H5F_ACC_RDWR);
  if (asked("last")) {
    a = H5Fopen("a.h5", H5F_ACC_RDWR, H5P_DEFAULT);
    one = H5Dopen2(a, "l", H5P_DEFAULT);
    say("H5Fclose", H5Fclose(b));
    say("H5Dwrite", write_from(one, 300));
    show("l", one);
    say("H5Dclose", H5Dclose(one));
    say("H5Fclose", H5Fclose(a));
  } else if (b >= 0) {
    one = H5Dopen2(b, "d", H5P_DEFAULT);
    show("d", one);
    H5Dclose(one);
    say("H5Fclose", H5Fclose(b));
  }
}

static void linked_first(void) {
  hid_t a, b, root, one;
  make_with_one("b.h5", "d", 1);
  make_with_one("a.h5", "own", 900);
  a = H5Fopen("a.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  H5Lcreate_external("b.h5", "/", a, "l", H5P_DEFAULT, H5P_DEFAULT);
  root = H5Gopen2(a, "l", H5P_DEFAULT);
  H5Gclose(H5Gcreate2(root, "new", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  b = H5Fopen("b.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  one = dataset(b, "new/d", length);
  say("H5Dwrite", write_from(one, 100));
  show("new/d", one);
  say("H5Dclose", H5Dclose(one));
  say("H5Gclose", H5Gclose(root));
  say("H5Fflush", H5Fflush(b, H5F_SCOPE_GLOBAL));
  say("H5Fclose", H5Fclose(b));
  say("H5Fclose", H5Fclose(a));
}

static void unfilled(void) {
  const hsize_t elements = length, fewer = length - 1;
  hid_t file = create("a.h5", H5P_DEFAULT), list = H5Pcreate(H5P_DATASET_CREATE), one;
  hid_t space = H5Screate_simple(1, &elements, NULL);
  H5Pset_fill_value(list, H5T_NATIVE_INT, NULL);
  one = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
  say("H5Dwrite", write_from(one, 100));
  show("d", one);
  say("H5Dset_extent", H5Dset_extent(one, &fewer));
  show("d", one);
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(file));
  H5Sclose(space);
  H5Pclose(list);
}

static herr_t write_some(hid_t where, hid_t type, hsize_t from, hsize_t count, const void* values) {
  hid_t memory = H5Screate_simple(1, &count, NULL), file = H5Dget_space(where);
  herr_t status;
  H5Sselect_hyperslab(file, H5S_SELECT_SET, &from, NULL, &count, NULL);
  status = H5Dwrite(where, type, memory, file, H5P_DEFAULT, values);
  H5Sclose(memory);
  H5Sclose(file);
  return status;
}

static void unfilled_chunks(void) {
  const hsize_t elements = length, chunk = 4;
  const int values[] = {7, 8, 9};
  hid_t file = create("a.h5", H5P_DEFAULT), list = H5Pcreate(H5P_DATASET_CREATE), one;
  hid_t space = H5Screate_simple(1, &elements, NULL);
  hid_t pair = H5Tcreate(H5T_COMPOUND, 2 * sizeof(int));
  hid_t second = H5Tcreate(H5T_COMPOUND, sizeof(int));
  H5Tinsert(pair, "first", 0, H5T_NATIVE_INT);
  H5Tinsert(pair, "second", sizeof(int), H5T_NATIVE_INT);
  H5Tinsert(second, "second", 0, H5T_NATIVE_INT);
  H5Pset_chunk(list, 1, &chunk);
  H5Pset_fill_value(list, H5T_NATIVE_INT, NULL);
  one = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
  say("H5Dwrite", write_some(one, H5T_NATIVE_INT, 3, 3, values));
  say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  say("H5Dwrite", write_some(one, H5T_NATIVE_INT, 8, 1, values));
  say("H5Dclose", H5Dclose(one));
  H5Pset_fill_value(list, pair, NULL);
  one = H5Dcreate2(file, "pairs", pair, space, H5P_DEFAULT, list, H5P_DEFAULT);
  say("H5Dwrite", write_some(one, second, 1, 3, values));
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(file));
  H5Tclose(pair);
  H5Tclose(second);
  H5Sclose(space);
  H5Pclose(list);
}

static void unfilled_together(void) {
  const hsize_t elements = length, chunk = 4;
  int values[length] = {0}, i, rank;
  hid_t file = create("a.h5", access_list()), list = H5Pcreate(H5P_DATASET_CREATE), one;
  hid_t together = H5Pcreate(H5P_DATASET_XFER), space = H5Screate_simple(1, &elements, NULL);
  hid_t mine = H5Scopy(space);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < length; ++i) values[i] = rank == 0 ? 1 + i : 0;
  if (rank != 0) H5Sselect_none(mine);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  H5Pset_chunk(list, 1, &chunk);
  H5Pset_deflate(list, 1);
  H5Pset_fill_value(list, H5T_NATIVE_INT, NULL);
  H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
  one = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
  say("H5Dwrite", H5Dwrite(one, H5T_NATIVE_INT, mine, mine, together, values));
  say("H5Dread", H5Dread(one, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, together, values));
  if (rank == 0) say("last", values[length - 1]);
  say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  say("H5Dread", H5Dread(one, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, together, values));
  say("last", values[length - 1]);
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(file));
}

/* Elements [start, start + count) become `value` and what follows it, by all ranks together. */
static void rewrite(hid_t one, hid_t type, hid_t together, hsize_t start, hsize_t count,
                    int value) {
  int pairs[2 * 64], i;
  const hid_t space = H5Dget_space(one), memory = H5Screate_simple(1, &count, NULL);
  for (i = 0; i < 2 * (int)count; ++i) pairs[i] = (value + i) % 500;
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
  if (count == 0) H5Sselect_none(space), H5Sselect_none(memory);
  say("H5Dwrite", H5Dwrite(one, type, memory, space, together, pairs));
  H5Sclose(memory);
  H5Sclose(space);
}

/* Pairs of integers of 12 bits through n-bit, or whole ones through Blosc2 and a checksum. */
static void rewritten(void) {
  const hsize_t elements = 60, chunk = 16;
  const unsigned blosc2[7] = {0, 0, 0, 0, 5, 1, 1};
  int values[2 * 60] = {0}, rank = 0, ranks = 1, i;
  long long sum = 0;
  hid_t part = H5Tcopy(H5T_NATIVE_INT), type = H5Tcreate(H5T_COMPOUND, 2 * sizeof(int)), file, one;
  hid_t list = H5Pcreate(H5P_DATASET_CREATE), together = H5Pcreate(H5P_DATASET_XFER);
  hid_t space = H5Screate_simple(1, &elements, NULL);
  if (asked("nbit")) H5Tset_precision(part, 12);
  H5Tinsert(type, "a", 0, part);
  H5Tinsert(type, "b", sizeof(int), part);
  H5Pset_chunk(list, 1, &chunk);
  if (asked("nbit")) say("H5Pset_nbit", H5Pset_nbit(list));
  if (asked("blosc2"))
    say("H5Pset_filter", H5Pset_filter(list, 32026, H5Z_FLAG_MANDATORY, 7, blosc2));
  if (asked("blosc2")) H5Pset_fletcher32(list);
  if (asked("parallel")) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  }
  file = create("a.h5", access_list());
  one = H5Dcreate2(file, "d", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  say("H5Dcreate2", one < 0 ? -1 : 0);
  rewrite(one, type, together, (hsize_t)(rank * 60 / ranks), (hsize_t)(60 / ranks), 100 * rank);
  say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  rewrite(one, type, together, 13, rank == 0 ? 6 : 0, 300);
  rewrite(one, type, together, 17, rank == ranks - 1 ? 40 : 0, 200);
  say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  rewrite(one, type, together, 59, rank == 0 ? 1 : 0, 400);
  say("H5Dread", H5Dread(one, type, H5S_ALL, H5S_ALL, together, values));
  for (i = 0; i < 2 * 60; ++i) sum += (i + 1) * values[i];
  say("sum", sum);
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(file));
}

static herr_t find_reason(unsigned n, const H5E_error2_t* error, void* found) {
  (void)n;
  if (strstr(error->desc, "errno = 2") != NULL) *(int*)found = 1;
  return 0;
}

static void missing(void) {
  int found = 0;
  say("H5Fopen", H5Fopen("missing.h5", H5F_ACC_RDWR, H5P_DEFAULT));
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, find_reason, &found);
  say("the reason is said", found);
}

static void dimensions(void) {
  hsize_t extent[H5S_MAX_RANK];
  hid_t file = create("a.h5", H5P_DEFAULT), space, one;
  int i;
  for (i = 0; i < H5S_MAX_RANK; ++i) extent[i] = 1;
  extent[3] = 2;
  extent[31] = length / 2;
  space = H5Screate_simple(H5S_MAX_RANK, extent, NULL);
  one = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  say("H5Dwrite", write_from(one, 1));
  show("d", one);
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(file));
  H5Sclose(space);
}

/* A dataset with more bytes than can be numbered, and whether the file is whole with it. HDF5 2.2.0
   itself does not read back what is written to one. */
static void enormous(void) {
  const hsize_t extent[2] = {1LL << 33, 1LL << 33}, chunk[2] = {4, 4}, small[2] = {8, 8};
  const hsize_t most[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
  hid_t file = create("a.h5", H5P_DEFAULT), creation = H5Pcreate(H5P_DATASET_CREATE), space, one;
  H5Pset_chunk(creation, 2, chunk);
  space = H5Screate_simple(2, extent, NULL);
  one = H5Dcreate2(file, "enormous", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  say("H5Dcreate works", one >= 0);
  say("H5Dclose", H5Dclose(one));
  one = H5Dopen2(file, "enormous", H5P_DEFAULT);
  say("H5Dopen works", one >= 0);
  say("H5Dclose", H5Dclose(one));
  H5Sclose(space);
  one = dataset(file, "d", length);
  say("H5Dwrite", write_from(one, 1));
  say("H5Dclose", H5Dclose(one));
  say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  say("H5Ldelete", H5Ldelete(file, "d", H5P_DEFAULT));
  say("H5Ldelete", H5Ldelete(file, "enormous", H5P_DEFAULT));
  space = H5Screate_simple(2, small, most);
  one = H5Dcreate2(file, "grown", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  say("H5Dcreate works", one >= 0);
  if (asked("grown")) {
    say("H5Dset_extent", H5Dset_extent(one, extent));
    say("H5Dset_extent", H5Dset_extent(one, small));
  }
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(file));
  H5Sclose(space);
  H5Pclose(creation);
}

static void copied(void) {
  hid_t a = create("a.h5", H5P_DEFAULT), b = create("b.h5", H5P_DEFAULT), one, group;
  one = dataset(b, "d", length);
  group = H5Gcreate2(a, "m", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("b.h5", "/d", a, "l", H5P_DEFAULT, H5P_DEFAULT);
  write_from(one, 1);
  say("H5Ocopy of what is linked to", H5Ocopy(a, "l", a, "first", H5P_DEFAULT, H5P_DEFAULT));
  say("H5Gclose", H5Gclose(group));
  say("H5Fmount", H5Fmount(a, "m", b, H5P_DEFAULT));
  write_from(one, 100);
  say("H5Ocopy of what is mounted", H5Ocopy(a, "m", a, "second", H5P_DEFAULT, H5P_DEFAULT));
  say("H5Funmount", H5Funmount(a, "m"));
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(a));
  say("H5Fclose", H5Fclose(b));
}

static void aligned(void) {
  const hsize_t elements = (hsize_t)atoll(arguments[4]);
  int* values = (int*)calloc(elements, sizeof *values);
  hid_t access = access_list(), file, one;
  int k;
  H5Pset_alignment(access, (hsize_t)atoll(arguments[2]), (hsize_t)atoll(arguments[3]));
  file = create("a.h5", access);
  one = dataset(file, "d", elements);
  for (k = 0; k < 4; ++k) {
    char name[] = "g0";
    name[1] = (char)('0' + k);
    H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    values[k] = k + 1;
    H5Dwrite(one, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  }
  H5Dclose(one);
  say("H5Fclose", H5Fclose(file));
  free(values);
}

static void elsewhere(void) {
  hid_t access = access_list(), file = create("a.h5", access), one = dataset(file, "d", length);
  write_from(one, 1);
  say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  write_from(one, 2);
  mkdir("elsewhere", 0777);
  say("chdir", chdir("elsewhere"));
  say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  write_from(one, 3);
  H5Dclose(one);
  say("H5Fclose", H5Fclose(file));
}

static void of_old_format(void) {
  hid_t access = access_list(), file, one;
  H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
  file = create("a.h5", access);
  one = dataset(file, "d", length);
  say("H5Dcreate", one >= 0);
  say("H5Dwrite", write_from(one, 1));
  H5Dclose(one);
  say("H5Fclose", H5Fclose(file));
}

static void limited_later(void) {
  hid_t file = create("a.h5", access_list()), one = dataset(file, "d", length), group, late;
  say("H5Dwrite", write_from(one, 1));
  say("H5Fset_libver_bounds", H5Fset_libver_bounds(file, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18));
  group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  late = dataset(group, "late", length);
  say("H5Dwrite", write_from(late, 10));
  say("H5Dclose", H5Dclose(late));
  say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  say("H5Dwrite", write_from(one, 2));
  say("H5Gclose", H5Gclose(group));
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(file));
}

typedef struct {
  int first, other, last;
} Triple;

static int is_first_rank(void) {
  int rank = 0;
  if (asked("parallel")) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

/* One rank writes them, and all read. */
static void read_members(hid_t file, const char* name, hid_t creation) {
  const hsize_t elements = length;
  Triple values[length];
  hid_t space = H5Screate_simple(1, &elements, NULL), one;
  hid_t triple = H5Tcreate(H5T_COMPOUND, sizeof(Triple));
  hid_t pair = H5Tcreate(H5T_COMPOUND, 2 * sizeof(int)), together = H5Pcreate(H5P_DATASET_XFER);
  int i;
  H5Tinsert(pair, "first", 0, H5T_NATIVE_INT);
  H5Tinsert(pair, "last", sizeof(int), H5T_NATIVE_INT);
  H5Tinsert(triple, "first", HOFFSET(Triple, first), H5T_NATIVE_INT);
  H5Tinsert(triple, "other", HOFFSET(Triple, other), H5T_NATIVE_INT);
  H5Tinsert(triple, "last", HOFFSET(Triple, last), H5T_NATIVE_INT);
  for (i = 0; i < length; ++i) values[i].first = values[i].other = values[i].last = i;
  one = H5Dcreate2(file, name, pair, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (is_first_rank()) {
    say("H5Dwrite", H5Dwrite(one, triple, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  }
  for (i = 0; i < length; ++i) values[i].first = values[i].other = values[i].last = -1 - i;
  if (asked("parallel")) H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  say("H5Dread", H5Dread(one, triple, H5S_ALL, H5S_ALL, together, values));
  if (is_first_rank()) {
    for (i = 0; i < length; ++i) {
      printf(" %d %d %d", values[i].first, values[i].other, values[i].last);
    }
    printf("\n");
  }
  H5Pclose(together);
  H5Dclose(one);
  H5Tclose(pair);
  H5Tclose(triple);
  H5Sclose(space);
}

static void members(void) {
  const hsize_t chunk = 4;
  hid_t access = access_list(), file, list = H5Pcreate(H5P_DATASET_CREATE);
  if (asked("parallel")) H5Pset_all_coll_metadata_ops(access, 1);
  file = create("a.h5", access);
  read_members(file, "contiguous", list);
  H5Pset_chunk(list, 1, &chunk);
  read_members(file, "chunks", list);
  if (asked("filtered")) {
    H5Pset_deflate(list, 1);
    read_members(file, "filtered", list);
  }
  say("H5Fclose", H5Fclose(file));
  H5Pclose(list);
}

static void linked_together(void) {
  hid_t a, one;
  make_with_one("b.h5", "d", 1);
  a = create("a.h5", access_list());
  H5Lcreate_external("b.h5", "/d", a, "l", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("b.h5", "/", a, "root", H5P_DEFAULT, H5P_DEFAULT);
  one = H5Dopen2(a, "l", H5P_DEFAULT);
  say("H5Dopen works", one >= 0);
  say("H5Dclose", H5Dclose(one));
  one = H5Oopen(a, "root/d", H5P_DEFAULT);
  say("H5Oopen works", one >= 0);
  say("H5Oclose", H5Oclose(one));
  one = dataset(a, "own", length);
  say("H5Dwrite", write_from(one, 100));
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(a));
}

static void refused_together(void) {
  const hsize_t all = length, few = 3;
  const int ones[length] = {1, 1, 1}, twos[length] = {2, 2, 2};
  const void* values[] = {ones, twos};
  hid_t file = create("a.h5", H5P_DEFAULT), both[2], types[2], memory[2], places[2];
  int i;
  both[0] = dataset(file, "first", length);
  both[1] = dataset(file, "second", length);
  for (i = 0; i < 2; ++i) {
    types[i] = H5T_NATIVE_INT;
    places[i] = H5Dget_space(both[i]);
  }
  memory[0] = H5Screate_simple(1, &all, NULL);
  memory[1] = H5Screate_simple(1, &few, NULL);
  say("H5Dwrite_multi", H5Dwrite_multi(2, both, types, memory, places, H5P_DEFAULT, values));
  for (i = 0; i < 2; ++i) {
    show("after", both[i]);
    H5Sclose(memory[i]);
    H5Sclose(places[i]);
    say("H5Dclose", H5Dclose(both[i]));
  }
  say("H5Fclose", H5Fclose(file));
}

static void ended(void) {
  hid_t file = create("a.h5", H5P_DEFAULT), one = dataset(file, "d", length);
  say("H5Dwrite", write_from(one, 1));
  say("H5close", H5close());
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  say("H5Dclose", H5Dclose(one));
  make_with_one("b.h5", "e", 2);
  say("H5Fopen", (file = H5Fopen("a.h5", H5F_ACC_RDWR, H5P_DEFAULT)) >= 0);
  one = H5Dopen2(file, "d", H5P_DEFAULT);
  show("d", one);
  say("H5Dwrite", write_from(one, 3));
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(file));
}

static void ended_twice(void) {
  make_with_one("a.h5", "d", 1);
  say("H5close", H5close());
  make_with_one("b.h5", "e", 2);
  say("H5close", H5close());
}

static void forked(void) {
  hid_t file = create("a.h5", H5P_DEFAULT), one = dataset(file, "d", length);
  int status = -1;
  say("H5Dwrite", write_from(one, 1));
  say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  const pid_t child = fork();
  if (child == 0) {
    make_with_one("b.h5", "e", 2);
    _exit(3);
  }
  waitpid(child, &status, 0);
  say("child", WEXITSTATUS(status));
  say("H5Dwrite", write_from(one, 3));
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(file));
}

static void chosen(void) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), own = H5VLget_connector_id_by_name("native");
  hid_t file, one;
  say("H5Pset_vol", H5Pset_vol(access, own, NULL));
  file = create("a.h5", access);
  one = dataset(file, "d", length);
  say("H5Dwrite", write_from(one, 1));
  make_with_one("b.h5", "e", 2);
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(file));
  say("H5VLclose", H5VLclose(own));
}

static void unclosed(void) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), file, one;
  H5Pset_fclose_degree(access, H5F_CLOSE_SEMI);
  file = create("a.h5", access);
  one = dataset(file, "d", length);
  say("H5Dwrite", write_from(one, 1));
  say("H5Fclose", H5Fclose(file));
  say("H5Dwrite", write_from(one, 2));
  say("H5Dclose", H5Dclose(one));
  say("H5Fclose", H5Fclose(file));
}

/* Rank 0 leaves so many bytes of the disk that the working folder is on. */
static void leave(long long bytes) {
  int rank, ballast;
  struct statvfs disk;
  struct stat old;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    ballast = open("ballast", O_CREAT | O_RDWR, 0600);
    fstatvfs(ballast, &disk);
    fstat(ballast, &old);
    ftruncate(ballast, 0);
    posix_fallocate(ballast, 0,
                    old.st_size + (long long)disk.f_bavail * (long long)disk.f_bsize - bytes);
    close(ballast);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank has a column of an array of 96 KiB. Files that cannot be closed stay open. */
static void full_disk(void) {
  enum { rows = 1024, columns = 12 };
  static int values[rows * columns];
  static const char* const kinds[] = {"contiguous", "chunked", "deflate", "groups"};
  const hsize_t chunk[] = {rows / 8, columns / 2};
  int rank, ranks, kib, kind, i, disagree = 0, failed = 0, closed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (i = 0; i < rows * columns; ++i) values[i] = i * 40503 + rank;
  for (kib = 0; kib <= 120; kib += 20) {
    for (kind = 0; kind < 4; ++kind) {
      const hsize_t size[] = {rows, columns}, first[] = {0, (hsize_t)(columns * rank / ranks)};
      const hsize_t count[] = {rows, (hsize_t)(columns * (rank + 1) / ranks) - first[1]};
      int status, all[2];
      hid_t access = access_list(), creation = H5Pcreate(H5P_DATASET_CREATE);
      hid_t file, one, place = H5Screate_simple(2, size, NULL);
      hid_t memory = H5Screate_simple(2, count, NULL);
      char name[20];
      sprintf(name, "%s%d.h5", kinds[kind], kib);
      leave(1 << 20);
      file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
      leave((long long)kib << 10);
      if (kind == 1 || kind == 2) H5Pset_chunk(creation, 2, chunk);
      if (kind == 2) H5Pset_deflate(creation, 1);
      if (asked("unfilled")) H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
      one = H5Dcreate2(file, "d", H5T_NATIVE_INT, place, H5P_DEFAULT, creation, H5P_DEFAULT);
      for (i = 0; kind == 3 && i < 100; ++i) {
        sprintf(name, "g%d", i);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      }
      H5Sselect_hyperslab(place, H5S_SELECT_SET, first, NULL, count, NULL);
      H5Dwrite(one, H5T_NATIVE_INT, memory, place, H5P_DEFAULT, values);
      H5Dclose(one);
      H5Sclose(memory);
      H5Sclose(place);
      H5Pclose(creation);
      H5Pclose(access);
      if (kib % 40 == 0) H5Fflush(file, H5F_SCOPE_GLOBAL);
      status = H5Fclose(file) < 0 ? -1 : 0;
      MPI_Allreduce(&status, &all[0], 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
      MPI_Allreduce(&status, &all[1], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      disagree += all[0] != all[1];
      failed += all[0] < 0;
      closed += all[0] == 0;
    }
  }
  if (rank == 0) printf("%d failed, %d closed, ranks disagree on %d\n", failed, closed, disagree);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  begin(argc, argv);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  if (strcmp(argv[1], "closed-first") == 0) closed_first();
  if (strcmp(argv[1], "left-open") == 0) left_open();
  if (strcmp(argv[1], "twice") == 0) twice();
  if (strcmp(argv[1], "made-serially") == 0) made_serially();
  if (strcmp(argv[1], "by-a-link") == 0) by_a_link();
  if (strcmp(argv[1], "mounted") == 0) mounted();
  if (strcmp(argv[1], "mounted-flushed") == 0) mounted_flushed();
  if (strcmp(argv[1], "external") == 0) external();
  if (strcmp(argv[1], "linked-first") == 0) linked_first();
  if (strcmp(argv[1], "unfilled") == 0) unfilled();
  if (strcmp(argv[1], "unfilled-chunks") == 0) unfilled_chunks();
  if (strcmp(argv[1], "unfilled-together") == 0) unfilled_together();
  if (strcmp(argv[1], "rewritten") == 0) rewritten();
  if (strcmp(argv[1], "missing") == 0) missing();
  if (strcmp(argv[1], "dimensions") == 0) dimensions();
  if (strcmp(argv[1], "enormous") == 0) enormous();
  if (strcmp(argv[1], "copied") == 0) copied();
  if (strcmp(argv[1], "aligned") == 0) aligned();
  if (strcmp(argv[1], "elsewhere") == 0) elsewhere();
  if (strcmp(argv[1], "old-format") == 0) of_old_format();
  if (strcmp(argv[1], "formats-later") == 0) limited_later();
  if (strcmp(argv[1], "members") == 0) members();
  if (strcmp(argv[1], "linked-together") == 0) linked_together();
  if (strcmp(argv[1], "refused-together") == 0) refused_together();
  if (strcmp(argv[1], "ended") == 0) ended();
  if (strcmp(argv[1], "ended-twice") == 0) ended_twice();
  if (strcmp(argv[1], "forked") == 0) forked();
  if (strcmp(argv[1], "chosen") == 0) chosen();
  if (strcmp(argv[1], "unclosed") == 0) unclosed();
  if (strcmp(argv[1], "full-disk") == 0) full_disk();
  if (asked("parallel")) MPI_Finalize();
  return 0;
}
