/* HDF5 2.2.0, without any connector: a dataset with a filter that several ranks have open is made
 * smaller (H5Dset_extent), so that chunks are cut. Each rank then reads, fills, filters and writes
 * such a chunk for itself, and one reads what another has just moved.
 *
 *   mpicc shrink_filtered.c -lhdf5 -o shrink_filtered && mpiexec -n 4 ./shrink_filtered a.h5
 *
 * Makes the dataset smaller in 20 files, each by other lengths, and prints for each what is wrong
 * in it. Status 1 if anything is. With Open MPI 4.1.4, through OMPIO and ROMIO, the first H5Fflush
 * does not return: ranks have given out different space, so that some cut the file
 * (MPI_File_set_size) while the others are at the next step (MPI_File_sync).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <hdf5.h>

enum { rows = 40, columns = 36, rounds = 20, patience = 30 };

static void give_up(int signal) {
  static const char words[] = "ranks wait for each other for ever\n";
  (void)signal;
  if (write(1, words, sizeof words - 1) < 0) _exit(2);
  _exit(1);
}

static int value(int row, int column) { return (row * 7919 + column * 104729) % 32749 + 1; }

/* 0: all went well on this rank */
static int write_and_shrink(const char* path, const hsize_t* smaller, int rank, int ranks) {
  const hsize_t extent[2] = {rows, columns}, chunk[2] = {9, 8};
  hsize_t start[2] = {0, 0}, count[2] = {0, columns}, i;
  int failed = 0, *values;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER), memory;
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, extent, NULL);
  hid_t file, dataset;
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  H5Pset_chunk(creation, 2, chunk);
  H5Pset_deflate(creation, 1);
  H5Pset_fletcher32(creation);
  file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  dataset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  start[0] = (hsize_t)(rows * rank / ranks);
  count[0] = (hsize_t)(rows * (rank + 1) / ranks) - start[0];
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
  memory = H5Screate_simple(2, count, NULL);
  values = (int*)malloc((size_t)(count[0] * columns) * sizeof *values);
  for (i = 0; i < count[0] * columns; ++i)
    values[i] = value((int)(start[0] + i / columns), (int)(i % columns));
  failed |= H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, transfer, values) < 0;
  failed |= H5Dset_extent(dataset, smaller) < 0;
  failed |= H5Fflush(file, H5F_SCOPE_GLOBAL) < 0;
  failed |= H5Dclose(dataset) < 0;
  failed |= H5Fclose(file) < 0;
  free(values);
  H5Sclose(memory);
  H5Sclose(space);
  H5Pclose(creation);
  H5Pclose(transfer);
  H5Pclose(access);
  return failed;
}

/* Elements that are not what was written, or -1 where they cannot be read. */
static int wrong_elements(const char* path, const hsize_t* extent) {
  int wrong = 0, i, *values = (int*)calloc(rows * columns, sizeof *values);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t dataset = H5Dopen2(file, "d", H5P_DEFAULT);
  if (H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) wrong = -1;
  for (i = 0; wrong >= 0 && i < (int)(extent[0] * extent[1]); ++i)
    wrong += values[i] != value(i / (int)extent[1], i % (int)extent[1]);
  H5Dclose(dataset);
  H5Fclose(file);
  free(values);
  return wrong;
}

int main(int argc, char** argv) {
  int rank, ranks, round, bad = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2) return 2;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  signal(SIGALRM, give_up);
  for (round = 0; round < rounds; ++round) {
    const hsize_t smaller[2] = {(hsize_t)(rows - 1 - round), (hsize_t)(columns - 2 - round)};
    int failed, failures = 0;
    alarm(patience);
    failed = write_and_shrink(argv[1], smaller, rank, ranks);
    MPI_Reduce(&failed, &failures, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      const int wrong = wrong_elements(argv[1], smaller);
      printf("%dx%d: calls failed on %d ranks, ", (int)smaller[0], (int)smaller[1], failures);
      printf(wrong < 0 ? "it cannot be read\n" : "%d elements are wrong\n", wrong);
      bad |= failures > 0 || wrong != 0;
    }
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return bad;
}
