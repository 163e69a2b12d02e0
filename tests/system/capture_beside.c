/* capture_beside LEVEL FILE LOG [STEPS]: each rank writes its 64 of `ranks * 64` doubles to FILE by
 * LEVEL (hdf5, mpiio, posix, or defined: as hdf5, but rank 0 makes the file by itself and all open
 * it; or window: as mpiio, beside memory that the ranks share), after rank 0 has looked whether
 * there is such a file, by MPI-IO. Beside it rank 0 writes 1000 bytes to LOG by the C library, and
 * at last looks at FILE by MPI-IO again, as programs do that ask for its size. With STEPS it writes
 * FILE as often by hdf5 or mpiio, each time as FILE.tmp, which rank 0 then renames to FILE.0,
 * FILE.1, ... It knows nothing of capture.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>
#include <mpi.h>

enum { mine = 64 };

static void look(const char* path) {
  MPI_File file;
  if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS)
    MPI_File_close(&file);
}

static void write_hdf5(const char* path, int rank, int ranks, const double* values,
                       int is_defined) {
  const hsize_t length = (hsize_t)ranks * mine, start = (hsize_t)rank * mine, count = mine;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t space = H5Screate_simple(1, &length, NULL),
              memory = H5Screate_simple(1, &count, NULL);
  if (is_defined && rank == 0) {
    const hid_t alone = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(
        H5Dcreate2(alone, "set", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(alone);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const hid_t file = is_defined ? H5Fopen(path, H5F_ACC_RDWR, access)
                                : H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t set = is_defined ? H5Dopen2(file, "set", H5P_DEFAULT)
                               : H5Dcreate2(file, "set", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                            H5P_DEFAULT, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
  H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values);
  H5Dclose(set);
  H5Sclose(memory);
  H5Sclose(space);
  H5Fclose(file);
  H5Pclose(access);
}

/* Rank 0 writes one more behind the others, through an opening of its own, before all open the
 * file. */
static void write_mpiio(const char* path, int rank, int ranks, const double* values) {
  const MPI_Offset bytes = mine * (MPI_Offset)sizeof(double);
  MPI_File file;
  if (rank == 0) {
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, ranks * bytes, values, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  }
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, rank * bytes, values, mine, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

static int write_posix(const char* path, off_t start, const void* bytes, size_t count) {
  const int file = open(path, O_CREAT | O_WRONLY, 0666);
  const int well = file >= 0 && pwrite(file, bytes, count, start) == (ssize_t)count;
  return close(file) == 0 && well;
}

static int write_and_rename(const char* level, const char* path, int steps, int rank, int ranks,
                            const double* values) {
  char as[4096], to[4096];
  int well = 1;
  snprintf(as, sizeof as, "%s.tmp", path);
  for (int step = 0; step < steps; ++step) {
    if (strcmp(level, "hdf5") == 0) {
      write_hdf5(as, rank, ranks, values, 0);
    } else {
      write_mpiio(as, rank, ranks, values);
    }
    snprintf(to, sizeof to, "%s.%d", path, step);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) well = rename(as, to) == 0 && well;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return well;
}

int main(int argc, char** argv) {
  int rank, ranks, well = argc == 4 || argc == 5;
  double values[mine];
  const char text[1000] = "a line of the log";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < mine; ++i) values[i] = 1 + rank * mine + i;
  if (argc == 5) {
    well = write_and_rename(argv[1], argv[2], atoi(argv[4]), rank, ranks, values);
    MPI_Finalize();
    return well ? 0 : 1;
  }
  const int by_posix = well && strcmp(argv[1], "posix") == 0;
  if (well && rank == 0) {
    if (!by_posix) look(argv[2]);
    well = write_posix(argv[3], 0, text, sizeof text);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int is_defined = well && strcmp(argv[1], "defined") == 0;
  if (well && (is_defined || strcmp(argv[1], "hdf5") == 0)) {
    write_hdf5(argv[2], rank, ranks, values, is_defined);
  }
  if (well && strcmp(argv[1], "mpiio") == 0) write_mpiio(argv[2], rank, ranks, values);
  if (well && strcmp(argv[1], "window") == 0) {
    void* memory;
    MPI_Win window;
    MPI_Win_allocate_shared(1 << 21, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    write_mpiio(argv[2], rank, ranks, values);
    MPI_Win_free(&window);
  }
  if (by_posix) well = write_posix(argv[2], (off_t)(rank * sizeof values), values, sizeof values);
  MPI_Barrier(MPI_COMM_WORLD);
  if (well && rank == 0 && !by_posix) look(argv[2]);
  MPI_Finalize();
  return well ? 0 : 1;
}
