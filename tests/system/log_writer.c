/* log_writer FILE [WORD...]: writes a log through the connector with plain HDF5 calls only: nothing
 * of Slabmark is included or linked. The dataset d has 100 int32 for each rank, which count from 0.
 *   kill    the process ends after a flush as if by kill -9
 *   read    nothing is written; rank 0 prints what is there
 *   latest  in HDF5's newest format, whose superblock says that a writer has the file open
 *   sparse  d has 2^22 elements, of which only the first are written
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>

static int asked(int argc, char** argv, const char* word) {
  int i;
  for (i = 2; i < argc; ++i) {
    if (strcmp(argv[i], word) == 0) return 1;
  }
  return 0;
}

static int write_elements(hid_t dataset, hid_t space, int ranks, int rank) {
  hsize_t one = 1;
  hid_t memory = H5Screate_simple(1, &one, NULL);
  int i;
  for (i = 0; i < 100; ++i) {
    const int value = i * ranks + rank;
    hsize_t at = (hsize_t)value;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
    if (H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &value) < 0) return -1;
  }
  return H5Sclose(memory);
}

static int print_elements(const char* path, hid_t access, int rank) {
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
  hid_t dataset = H5Dopen2(file, "d", H5P_DEFAULT);
  hid_t space = H5Dget_space(dataset);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  int* values = (int*)malloc((size_t)count * sizeof *values);
  int status = -1;
  hssize_t i;
  if (H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) {
    for (i = 0; i < count && rank == 0; ++i) printf("%d\n", values[i]);
    status = 0;
  }
  free(values);
  H5Sclose(space);
  H5Dclose(dataset);
  return H5Fclose(file) < 0 ? -1 : status;
}

int main(int argc, char** argv) {
  int ranks, rank;
  hsize_t length;
  hid_t access, file, space, dataset;
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  length = asked(argc, argv, "sparse") ? (hsize_t)1 << 22 : 100 * (hsize_t)ranks;
  access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  if (asked(argc, argv, "latest")) {
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  }
  if (asked(argc, argv, "read")) {
    if (print_elements(argv[1], access, rank) < 0) return 1;
    H5Pclose(access);
    return MPI_Finalize();
  }
  file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (file < 0) return 1;
  space = H5Screate_simple(1, &length, NULL);
  dataset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (write_elements(dataset, space, ranks, rank) < 0) return 1;
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (asked(argc, argv, "kill")) kill(getpid(), SIGKILL);
  H5Sclose(space);
  H5Dclose(dataset);
  if (H5Fclose(file) < 0) return 1;
  H5Pclose(access);
  MPI_Finalize();
  return 0;
}
