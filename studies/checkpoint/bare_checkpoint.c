/* The yardsticks of seism-core-slice: the same bytes with nothing around them.
 *
 *   mpiexec -n 8 bare_checkpoint hdf5|posix FILE PX PY PZ CX CY CZ DX DY DZ STEPS TRIALS
 *
 * hdf5: what one writes by hand from HDF5's manual, with the switches of the default test set:
 * collective writes and metadata, no fill, space allocated at once. posix: every rank writes its
 * block of a step with pwrite(), contiguous, to its own place in one file without a header.
 * One trial more than asked for, each on a fresh file, since seism-core-slice warms up, too. Prints
 * the seconds of the slowest rank from create to close, and their parts, a line a trial. Errors end
 * the job; this is no program for users. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>
#include <mpi.h>

#define CHECK(call)                                               \
  do {                                                            \
    if ((call) < 0) {                                             \
      fprintf(stderr, "%s failed at line %d\n", #call, __LINE__); \
      MPI_Abort(MPI_COMM_WORLD, 1);                               \
    }                                                             \
  } while (0)

static hsize_t processor[3], chunk[3], domain[3], steps;
static int rank, size;
static double times[4]; /* begin, created, written, closed */

static double now(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

static void write_hdf5(const char* path, const float* block) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL));
  CHECK(H5Pset_all_coll_metadata_ops(fapl, 1));
  CHECK(H5Pset_coll_metadata_write(fapl, 1));
  CHECK(H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110));
  hsize_t dims[4] = {steps}, chunks[4] = {1}, start[4], count[4] = {1};
  hsize_t at[3] = {rank / (processor[1] * processor[2]), rank / processor[2] % processor[1],
                   rank % processor[2]};
  for (int d = 0; d < 3; ++d) {
    dims[1 + d] = processor[d] * domain[d];
    chunks[1 + d] = chunk[d];
    start[1 + d] = at[d] * domain[d];
    count[1 + d] = domain[d];
  }
  times[0] = now();
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  CHECK(file);
  hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  CHECK(H5Pset_chunk(dcpl, 4, chunks));
  CHECK(H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY));
  CHECK(H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER));
  hid_t space = H5Screate_simple(4, dims, NULL);
  hid_t memory = H5Screate_simple(4, count, NULL);
  hid_t dataset =
      H5Dcreate2(file, "chunked", H5T_IEEE_F32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  CHECK(dataset);
  hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
  CHECK(H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE));
  times[1] = now();
  for (hsize_t step = 0; step < steps; ++step) {
    start[0] = step;
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    CHECK(H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory, space, dxpl, block));
  }
  times[2] = now();
  CHECK(H5Dclose(dataset));
  CHECK(H5Fclose(file));
  times[3] = now();
}

static void write_posix(const char* path, const float* block, size_t bytes) {
  times[0] = now();
  int file = open(path, O_CREAT | O_WRONLY, 0644);
  CHECK(file);
  times[1] = now();
  for (hsize_t step = 0; step < steps; ++step) {
    size_t done = 0;
    while (done < bytes) {
      ssize_t part = pwrite(file, (const char*)block + done, bytes - done,
                            (off_t)((step * size + rank) * bytes + done));
      CHECK(part);
      done += part;
    }
  }
  times[2] = now();
  CHECK(close(file));
  times[3] = now();
}

static void run_trial(int is_hdf5, const char* path, float* block, size_t elements) {
  if (rank == 0) unlink(path); /* off the clock, and so is the filling */
  for (size_t i = 0; i < elements; ++i) block[i] = (float)rank;
  if (is_hdf5) {
    write_hdf5(path, block);
  } else {
    write_posix(path, block, elements * sizeof *block);
  }
  if (rank != 0) return;
  printf("create-to-close %.6f create %.6f write %.6f close %.6f\n", times[3] - times[0],
         times[1] - times[0], times[2] - times[1], times[3] - times[2]);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided); /* as seism-core-slice does */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 14) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int d = 0; d < 3; ++d) {
    processor[d] = strtoull(argv[3 + d], NULL, 10);
    chunk[d] = strtoull(argv[6 + d], NULL, 10);
    domain[d] = strtoull(argv[9 + d], NULL, 10);
  }
  steps = strtoull(argv[12], NULL, 10);
  const size_t elements = domain[0] * domain[1] * domain[2];
  float* block = malloc(elements * sizeof *block);
  const int trials = atoi(argv[13]);
  for (int trial = 0; trial <= trials; ++trial) {
    run_trial(strcmp(argv[1], "hdf5") == 0, argv[2], block, elements);
  }
  free(block);
  MPI_Finalize();
  return 0;
}
