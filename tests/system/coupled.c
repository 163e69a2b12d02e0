/* coupled FOLDER: what two coupled programs leave, through HDF5. Ranks 0 and 1 of three make
 * ocean.h5 together, and all three make both.h5. */
#include <stdio.h>
#include <stdlib.h>

#include <hdf5.h>
#include <mpi.h>

static void check(int good) {
  if (!good) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_file(const char* folder, const char* name, MPI_Comm comm) {
  char path[4096];
  int rank, ranks, values[10];
  hsize_t extent = 10, start, count = 10;
  hid_t access, file, space, memory, dataset;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  extent *= (hsize_t)ranks;
  start = 10 * (hsize_t)rank;
  for (int i = 0; i < 10; ++i) values[i] = 10 * rank + i;
  access = H5Pcreate(H5P_FILE_ACCESS);
  check(H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL) >= 0);
  file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  space = H5Screate_simple(1, &extent, NULL);
  memory = H5Screate_simple(1, &count, NULL);
  dataset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0);
  check(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values) >= 0);
  check(H5Dclose(dataset) >= 0 && H5Sclose(space) >= 0 && H5Sclose(memory) >= 0);
  check(H5Fclose(file) >= 0 && H5Pclose(access) >= 0);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &half);
  if (rank < 2) write_file(argv[1], "ocean.h5", half);
  write_file(argv[1], "both.h5", MPI_COMM_WORLD);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
