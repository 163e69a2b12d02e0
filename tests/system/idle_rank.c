/* Ranks write every other of their columns by one collective call of HDF5; in it rank 1 has
 * nothing, or in another one before it all have nothing.
 *
 *     idle_rank <file> one|all [<hint> <value>]
 */
#include <string.h>

#include <hdf5.h>
#include <mpi.h>

enum { rows = 4, columns_a_rank = 6 };

int main(int argc, char** argv) {
  int rank, ranks;
  double data[rows * columns_a_rank / 2];
  MPI_Info info = MPI_INFO_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < rows * columns_a_rank / 2; ++i) data[i] = 100 * rank + i;
  const int all = argc > 2 && strcmp(argv[2], "all") == 0;
  if (argc > 4) {
    MPI_Info_create(&info);
    MPI_Info_set(info, argv[3], argv[4]);
  }
  const hsize_t extent[] = {rows, columns_a_rank * (hsize_t)ranks};
  const hsize_t start[] = {0, columns_a_rank * (hsize_t)rank}, stride[] = {1, 2};
  const hsize_t count[] = {rows, columns_a_rank / 2}, elements = rows * columns_a_rank / 2;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, info);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t space = H5Screate_simple(2, extent, NULL);
  const hid_t memory = H5Screate_simple(1, &elements, NULL);
  const hid_t dataset =
      H5Dcreate2(file, "T", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  herr_t status = 0;
  if (all || rank == 1) {
    H5Sselect_none(space);
    H5Sselect_none(memory);
  }
  if (all) {
    status = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, data);
    H5Sselect_all(memory);
  }
  if (all || rank != 1) H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
  if (status >= 0) status = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, data);
  H5Dclose(dataset);
  H5Sclose(memory);
  H5Sclose(space);
  H5Fclose(file);
  H5Pclose(transfer);
  H5Pclose(access);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  MPI_Finalize();
  return status < 0;
}
