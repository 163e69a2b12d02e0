/* A model whose cells are scattered over its ranks: every rank owns each n-th row of a global grid,
 * and writes its rows of a few variables, step after step, to one HDF5 file.
 *
 *   h5pcc scattered.c -o scattered && mpiexec -n 4 ./scattered out.h5 [rows] [columns] [steps]
 */
#include <stdio.h>
#include <stdlib.h>

#include <hdf5.h>
#include <mpi.h>

#define CHECK(call)                                   \
  if ((call) < 0) {                                   \
    fprintf(stderr, "scattered: " #call " failed\n"); \
    MPI_Abort(MPI_COMM_WORLD, 1);                     \
  }

static const char* const names[] = {"temperature", "salinity", "velocity"};
enum { variables = sizeof names / sizeof *names };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* path = argc > 1 ? argv[1] : "scattered.h5";
  const hsize_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 4096;
  const hsize_t columns = argc > 3 ? strtoull(argv[3], NULL, 10) : 64;
  const hsize_t steps = argc > 4 ? strtoull(argv[4], NULL, 10) : 4;
  const hsize_t mine = rows / ranks + ((hsize_t)rank < rows % ranks);
  double* values = malloc((mine * columns + 1) * sizeof *values);

  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  CHECK(file);
  const hsize_t extent[] = {steps, rows, columns};
  hid_t space = H5Screate_simple(3, extent, NULL);
  hid_t datasets[variables];
  for (int v = 0; v < variables; ++v) {
    datasets[v] =
        H5Dcreate2(file, names[v], H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(datasets[v]);
  }

  const hsize_t count[] = {1, mine, columns};
  hid_t memory = H5Screate_simple(3, count, NULL);
  for (hsize_t step = 0; step < steps; ++step) {
    const hsize_t start[] = {step, rank, 0};
    const hsize_t stride[] = {1, ranks, 1};
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL));
    if (mine == 0) H5Sselect_none(space);
    for (int v = 0; v < variables; ++v) {
      for (hsize_t i = 0; i < mine * columns; ++i) {
        const hsize_t cell = (rank + i / columns * ranks) * columns + i % columns;
        values[i] = 1 + v + 10.0 * step + 1e-3 * cell;
      }
      CHECK(H5Dwrite(datasets[v], H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values));
    }
  }

  for (int v = 0; v < variables; ++v) CHECK(H5Dclose(datasets[v]));
  H5Sclose(memory), H5Sclose(space), H5Pclose(access);
  CHECK(H5Fclose(file));
  free(values);
  MPI_Finalize();
  return 0;
}
