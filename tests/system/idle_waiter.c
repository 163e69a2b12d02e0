/* Ranks post rows of every other of their columns to PnetCDF, and rank 1 nothing; all wait
 * together.
 *
 *     idle_waiter <file>
 */
#include <mpi.h>
#include <pnetcdf.h>

enum { rows = 4, columns_a_rank = 6 };

int main(int argc, char** argv) {
  int rank, ranks, file, dims[2], variable, request, error = NC_NOERR;
  double data[rows * columns_a_rank / 2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < rows * columns_a_rank / 2; ++i) data[i] = 100 * rank + i;
  const MPI_Offset start[] = {0, columns_a_rank * rank}, stride[] = {1, 2};
  const MPI_Offset count[] = {rows, columns_a_rank / 2};
  error |= ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER, MPI_INFO_NULL, &file);
  error |= ncmpi_def_dim(file, "row", rows, &dims[0]);
  error |= ncmpi_def_dim(file, "column", columns_a_rank * ranks, &dims[1]);
  error |= ncmpi_def_var(file, "T", NC_DOUBLE, 2, dims, &variable);
  error |= ncmpi_enddef(file);
  if (rank != 1)
    error |= ncmpi_iput_vars_double(file, variable, start, count, stride, data, &request);
  error |= ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL);
  error |= ncmpi_close(file);
  MPI_Finalize();
  return error != NC_NOERR;
}
