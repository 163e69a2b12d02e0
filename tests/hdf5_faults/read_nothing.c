/* HDF5 2.2.0, without any connector: all ranks read together a dataset with a filter that nobody
 * has written, and one of them selects nothing. The others take the fill value without MPI, and
 * that one waits for them for ever.
 *
 *   mpicc read_nothing.c -lhdf5 -o read_nothing && mpiexec -n 2 ./read_nothing a.h5
 *
 * Status 1 if it hangs.
 */
#include <signal.h>
#include <unistd.h>

#include <hdf5.h>

enum { length = 8, patience = 10 };

static void give_up(int signal) {
  static const char words[] = "a rank waits for the others for ever\n";
  (void)signal;
  if (write(1, words, sizeof words - 1) < 0) _exit(2);
  _exit(1);
}

int main(int argc, char** argv) {
  const hsize_t elements = length, chunk = length / 2;
  int rank, values[length];
  hid_t access, transfer, creation, file, space, dataset;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2) return 2;
  access = H5Pcreate(H5P_FILE_ACCESS);
  transfer = H5Pcreate(H5P_DATASET_XFER);
  creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  H5Pset_chunk(creation, 1, &chunk);
  H5Pset_deflate(creation, 1);
  space = H5Screate_simple(1, &elements, NULL);
  file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  dataset = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (rank == 0) H5Sselect_none(space);
  signal(SIGALRM, give_up);
  alarm(patience);
  H5Dread(dataset, H5T_NATIVE_INT, space, space, transfer, values);
  alarm(0);
  H5Dclose(dataset);
  H5Fclose(file);
  H5Sclose(space);
  H5Pclose(creation);
  H5Pclose(transfer);
  H5Pclose(access);
  return MPI_Finalize();
}
