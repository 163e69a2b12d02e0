/* slab_output FILE [WORD...]: what a model writes with HDF5 alone. It knows nothing of the
 * connector: the file must be the same with it and without.
 *
 * Two fields of rows x columns for each of three steps, whose number is not known before: the
 * dataset grows with each. Each rank owns every so-manieth pair of columns, in all rows, which
 * makes its selection many hyperslabs. A mask does not change and is written once.
 *   deflate, shuffle, fletcher32   filters of the fields
 *   fill     columns of the last rank are not written in the fields, and show a fill value
 *   serial   by one process, without MPI-IO
 *   large    instead of all that a dataset of 12 MB, which does not get smaller by filters, and for
 *            which there may be no space: what the calls return is printed, and no reason to end
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

enum { rows = 30, columns = 100, steps = 3 };

static int argument_count, rank = 0, ranks = 1;
static char** arguments;

static int asked(const char* word) {
  int i;
  for (i = 2; i < argument_count; ++i) {
    if (strcmp(arguments[i], word) == 0) return 1;
  }
  return 0;
}

static void must(int good, const char* what) {
  if (asked("large")) {
    printf("%s %s\n", what, good ? "works" : "fails");
    return;
  }
  if (good) return;
  fprintf(stderr, "slab_output: %s failed\n", what);
  if (asked("serial")) exit(1);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Pairs of columns go to the ranks by turns; the last pair may be one column. */
static hid_t select_mine(hid_t space, int leading) {
  hsize_t start[3] = {0, 0, 0}, count[3] = {1, rows, 2};
  const int d = leading ? 0 : 1;
  int pair;
  H5Sselect_none(space);
  for (pair = rank; pair < columns / 2; pair += ranks) {
    start[2] = (hsize_t)(2 * pair);
    H5Sselect_hyperslab(space, H5S_SELECT_OR, start + d, NULL, count + d, NULL);
  }
  if (leading && asked("fill") && rank == ranks - 1) H5Sselect_none(space);
  return space;
}

/* In the order of the selection: row after row. */
static double* values_of(int field, int step) {
  double* values = (double*)malloc(sizeof(double) * rows * columns);
  int row, column, n = 0;
  for (row = 0; row < rows; ++row) {
    for (column = 0; column < columns; ++column) {
      if (column / 2 % ranks != rank) continue;
      values[n++] = field * 1e6 + step * 1e5 + row * columns + column;
    }
  }
  return values;
}

static hid_t create_field(hid_t file, const char* name) {
  const hsize_t extent[3] = {0, rows, columns}, most[3] = {H5S_UNLIMITED, rows, columns};
  const hsize_t chunk[3] = {1, 7, 40};
  const double fill = -1.5;
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, extent, most), made;
  H5Pset_chunk(creation, 3, chunk);
  if (asked("shuffle")) H5Pset_shuffle(creation);
  if (asked("deflate")) H5Pset_deflate(creation, 1);
  if (asked("fletcher32")) H5Pset_fletcher32(creation);
  if (asked("fill")) H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &fill);
  made = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  must(made >= 0, "H5Dcreate");
  H5Sclose(space);
  H5Pclose(creation);
  return made;
}

static void write_mask(hid_t file, hid_t transfer) {
  const hsize_t extent[2] = {rows, columns};
  hid_t space = H5Screate_simple(2, extent, NULL), line;
  hid_t mask =
      H5Dcreate2(file, "mask", H5T_STD_I16LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  double* values = values_of(0, 0);
  hsize_t n = (hsize_t)H5Sget_select_npoints(select_mine(space, 0));
  line = H5Screate_simple(1, &n, NULL);
  must(H5Dwrite(mask, H5T_NATIVE_DOUBLE, line, space, transfer, values) >= 0, "H5Dwrite");
  free(values);
  H5Sclose(line);
  H5Sclose(space);
  H5Dclose(mask);
}

/* The time of a step, which one rank knows; each is a chunk. */
static void write_time(hid_t time, int step, hid_t transfer) {
  const hsize_t extent = (hsize_t)step + 1, start = (hsize_t)step, one = 1;
  const double value = step + 0.5;
  hid_t space, line = H5Screate_simple(1, &one, NULL);
  must(H5Dset_extent(time, &extent) >= 0, "H5Dset_extent");
  space = H5Dget_space(time);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &one, NULL);
  if (rank > 0) H5Sselect_none(space);
  if (rank > 0) H5Sselect_none(line);
  must(H5Dwrite(time, H5T_NATIVE_DOUBLE, line, space, transfer, &value) >= 0, "H5Dwrite");
  H5Sclose(line);
  H5Sclose(space);
}

static hid_t create_time(hid_t file) {
  const hsize_t none = 0, most = H5S_UNLIMITED, one = 1;
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &none, &most), made;
  H5Pset_chunk(creation, 1, &one);
  made = H5Dcreate2(file, "time", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  must(made >= 0, "H5Dcreate");
  H5Sclose(space);
  H5Pclose(creation);
  return made;
}

static void write_step(hid_t field, int which, int step, hid_t transfer) {
  const hsize_t extent[3] = {(hsize_t)step + 1, rows, columns};
  hssize_t offset[3] = {step, 0, 0};
  hid_t space, line;
  double* values = values_of(which, step);
  hsize_t n;
  must(H5Dset_extent(field, extent) >= 0, "H5Dset_extent");
  space = H5Dget_space(field);
  n = (hsize_t)H5Sget_select_npoints(select_mine(space, 1));
  H5Soffset_simple(space, offset);
  line = H5Screate_simple(1, &n, NULL);
  must(H5Dwrite(field, H5T_NATIVE_DOUBLE, line, space, transfer, values) >= 0, "H5Dwrite");
  free(values);
  H5Sclose(line);
  H5Sclose(space);
}

/* A part of it each. */
static void write_large(hid_t file) {
  const hsize_t length = 3000000;
  const hsize_t chunk = 25000;
  hsize_t count = length / (hsize_t)ranks, start = count * (hsize_t)rank, i;
  hid_t space = H5Screate_simple(1, &length, NULL), line = H5Screate_simple(1, &count, NULL);
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE), made;
  unsigned* values = (unsigned*)malloc(length * sizeof *values);
  if (asked("deflate")) {
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_deflate(creation, 1);
  }
  made = H5Dcreate2(file, "large", H5T_STD_U32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  values[0] = 1;
  for (i = 1; i < length; ++i) values[i] = values[i - 1] * 1664525u + 1013904223u;
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
  must(H5Dwrite(made, H5T_NATIVE_UINT, line, space, H5P_DEFAULT, values) >= 0, "H5Dwrite");
  H5Dclose(made);
  H5Pclose(creation);
  H5Sclose(line);
  H5Sclose(space);
  free(values);
}

static void write_fields(hid_t file, hid_t transfer) {
  hid_t t, u, time = create_time(file);
  int step;
  write_mask(file, transfer);
  t = create_field(file, "t");
  u = create_field(file, "u");
  for (step = 0; step < steps; ++step) {
    write_step(t, 1, step, transfer);
    write_step(u, 2, step, transfer);
    write_time(time, step, transfer);
    must(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush");
  }
  must(H5Dclose(time) >= 0, "H5Dclose");
  must(H5Dclose(t) >= 0, "H5Dclose");
  must(H5Dclose(u) >= 0, "H5Dclose");
}

int main(int argc, char** argv) {
  hid_t access, transfer, file;
  argument_count = argc;
  arguments = argv;
  if (argc < 2) return 2;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  access = H5Pcreate(H5P_FILE_ACCESS);
  transfer = H5Pcreate(H5P_DATASET_XFER);
  if (!asked("serial")) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  }
  file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  must(file >= 0, "H5Fcreate");
  if (asked("large")) {
    signal(SIGXFSZ, SIG_IGN);
    write_large(file);
    must(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush");
  } else {
    write_fields(file, transfer);
  }
  must(H5Fclose(file) >= 0, "H5Fclose");
  H5Pclose(access);
  H5Pclose(transfer);
  if (!asked("serial")) MPI_Finalize();
  return 0;
}
