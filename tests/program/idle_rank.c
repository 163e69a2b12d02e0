/* Ranks write every other of their columns by one collective call, and rank 1 nothing.
 *
 *     idle_rank <file> [<hint> <value>]
 */
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
  if (argc > 3) {
    MPI_Info_create(&info);
    MPI_Info_set(info, argv[2], argv[3]);
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
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
  if (rank == 1) H5Sselect_none(space);
  if (rank == 1) H5Sselect_none(memory);
  const herr_t status = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, data);
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
