/* log_writer FILE [kill]: writes a log through the connector with plain HDF5 calls only: nothing of
 * Slabmark is included or linked. "kill": the process ends after a flush as if by kill -9. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>

int main(int argc, char** argv) {
  int ranks, rank, i;
  hsize_t length, at;
  hid_t access, file, space, dataset, memory;
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  length = 100 * (hsize_t)ranks;
  access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (file < 0) return 1;
  space = H5Screate_simple(1, &length, NULL);
  dataset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  at = 1;
  memory = H5Screate_simple(1, &at, NULL);
  for (i = 0; i < 100; ++i) {
    hsize_t one = 1;
    const int value = i * ranks + rank;
    at = (hsize_t)value;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
    if (H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &value) < 0) return 1;
  }
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 2) kill(getpid(), SIGKILL);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(dataset);
  if (H5Fclose(file) < 0) return 1;
  H5Pclose(access);
  MPI_Finalize();
  return 0;
}
