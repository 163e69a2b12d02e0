/* A program that knows nothing of Slabmark: writes a checkpoint several times, through HDF5 or
 * MPI-IO, and prints what each took.
 *
 *     mpiexec -n 4 checkpoint hdf5|mpiio OUTPUT FILES VARIABLES MIB
 *
 * Each of the variables is an array of doubles of three dimensions, of which every rank has a block
 * of MIB of rows that lie together, in memory of its own as a simulation's fields are, and which
 * all write in one collective call. The file is removed before the clock starts. A line a file:
 * seconds of the slowest rank from create to close. Last the time of day, in seconds, before the
 * program comes to its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <hdf5.h>
#include <mpi.h>

#define CHECK(call)                                      \
  do {                                                   \
    if ((call) < 0) {                                    \
      fprintf(stderr, "checkpoint: " #call " failed\n"); \
      MPI_Abort(MPI_COMM_WORLD, 1);                      \
    }                                                    \
  } while (0)
#define CHECK_MPI(call) CHECK((call) == MPI_SUCCESS ? 0 : -1)

enum { rows = 64, columns = 128, of_mib = 1024 * 1024 / sizeof(double) };

static int rank, ranks, variables;
static hsize_t own;    /* planes of a variable that this rank has */
static double* values; /* of all variables, one after the other */

static void write_hdf5(const char* path) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER), file;
  CHECK(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
  CHECK(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
  CHECK(file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access));
  const hsize_t extent[] = {own * ranks, rows, columns};
  const hsize_t start[] = {own * rank, 0, 0}, count[] = {own, rows, columns};
  hid_t space = H5Screate_simple(3, extent, NULL), memory = H5Screate_simple(3, count, NULL);
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
  for (int v = 0; v < variables; v++) {
    char name[32];
    hid_t dataset;
    snprintf(name, sizeof name, "variable%d", v);
    CHECK(dataset = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                               H5P_DEFAULT));
    CHECK(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer,
                   values + v * own * rows * columns));
    CHECK(H5Dclose(dataset));
  }
  CHECK(H5Sclose(memory));
  CHECK(H5Sclose(space));
  CHECK(H5Fclose(file));
  CHECK(H5Pclose(transfer));
  CHECK(H5Pclose(access));
}

static void write_mpiio(const char* path) {
  MPI_File file;
  const int plane = rows * columns;
  CHECK_MPI(
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  for (int v = 0; v < variables; v++) {
    const MPI_Offset at = (MPI_Offset)(own * ranks) * v + (MPI_Offset)own * rank;
    CHECK_MPI(MPI_File_write_at_all(file, at * plane * (MPI_Offset)sizeof(double),
                                    values + v * own * plane, (int)own * plane, MPI_DOUBLE,
                                    MPI_STATUS_IGNORE));
  }
  CHECK_MPI(MPI_File_close(&file));
}

static double now(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 6) {
    fprintf(stderr, "usage: checkpoint hdf5|mpiio OUTPUT FILES VARIABLES MIB\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int files = atoi(argv[3]);
  variables = atoi(argv[4]);
  own = (hsize_t)atoi(argv[5]) * of_mib / (rows * columns);
  const hsize_t elements = variables * own * rows * columns;
  values = malloc(elements * sizeof *values);
  CHECK(values ? 0 : -1);
  for (hsize_t i = 0; i < elements; i++) values[i] = rank + (double)i;
  for (int i = 0; i < files; i++) {
    if (rank == 0) unlink(argv[2]);
    const double begin = now();
    if (!strcmp(argv[1], "hdf5"))
      write_hdf5(argv[2]);
    else
      write_mpiio(argv[2]);
    const double seconds = now() - begin;
    if (rank == 0) printf("open-to-close %.6f\n", seconds);
  }
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  if (rank == 0) printf("ended %ld.%06ld\n", (long)end.tv_sec, end.tv_nsec / 1000);
  MPI_Finalize();
  return 0;
}
