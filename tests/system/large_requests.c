/* large_requests FILE pnetcdf|library|hdf5 BYTES put|iput|get|edges: requests whose bytes or places
 * are more than an int counts.
 *
 * put, iput, get: one request of so many bytes of rank 0, and one of a few bytes of the last rank.
 *   Memory of puts repeats the same pages; of a file that is read only the samples are not holes.
 * edges: all ranks have a few bytes in turn about byte 0, 2^31 and 2^32 of an array.
 *
 * Runs on two ranks or more. Prints the first thing that is wrong and returns 1. What the library
 * under test puts is compared by pread(), and what it gets was written by pwrite(). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>

#include "accel/c_library/api/rearrange.h"

enum { few = 1000, sample = 4096, most_runs = 48, run_bytes = 7 };
static const size_t period = (64 << 20) + 3 * 4096; /* divides neither 2^31 nor 2^32 */

static int rank, size, wrong = 0;

/* What this rank has of the array, in the order of its memory. */
typedef struct {
  int64_t elements; /* of the array */
  int64_t runs, starts[most_runs], lengths[most_runs], total;
} Part;

static void check(int good, const char* call, const char* reason) {
  if (good) return;
  if (!wrong) fprintf(stderr, "%s: %s\n", call, reason);
  wrong = 1;
}

static void check_netcdf(int code, const char* call) {
  check(code == NC_NOERR, call, ncmpi_strerrno(code));
}

static void check_library(int code, const char* call) {
  check(code == SLABMARK_OK, call, slabmark_message());
}

static unsigned char value_at(int64_t place) {
  return (unsigned char)((((uint64_t)place % period) * 0x9E3779B97F4A7C15ull) >> 56);
}

static void* mapped(size_t bytes, int protection) {
  void* const all =
      mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) exit(3);
  return all;
}

/* So many bytes and more, with the values of places from 0 on, in which the same pages come again
 * and again. */
static unsigned char* repeated(size_t bytes) {
  const int pages = memfd_create("repeated", 0);
  if (pages < 0 || ftruncate(pages, (off_t)period) != 0) exit(3);
  unsigned char* const all = mapped(bytes + period, PROT_NONE);
  for (size_t at = 0; at < bytes; at += period) {
    if (mmap(all + at, period, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, pages, 0) ==
        MAP_FAILED)
      exit(3);
  }
  for (size_t i = 0; i < period; ++i) all[i] = value_at((int64_t)i);
  return all;
}

static void compare(const unsigned char* found, int64_t place, int64_t count, const char* what) {
  for (int64_t i = 0; i < count; ++i) {
    if (found[i] == value_at(place + i)) continue;
    if (!wrong)
      fprintf(stderr, "%s: byte %lld is %d instead of %d\n", what, (long long)(place + i), found[i],
              value_at(place + i));
    wrong = 1;
    return;
  }
}

/* ---- Parts of the ranks ---------------------------------------------------------------------- */

static void add_run(Part* part, int64_t start, int64_t length) {
  part->starts[part->runs] = start;
  part->lengths[part->runs++] = length;
  part->total += length;
}

static Part one_large(int64_t bytes) {
  Part part = {.elements = bytes + few};
  if (rank == 0) add_run(&part, 0, bytes);
  if (rank == size - 1) add_run(&part, bytes, few);
  return part;
}

static Part at_edges(void) {
  Part part = {.elements = ((int64_t)1 << 32) + sample};
  for (int edge = 0; edge < 3; ++edge) {
    const int64_t begin =
        edge == 0 ? 0 : ((int64_t)1 << (30 + edge)) - 8 * run_bytes * size - run_bytes / 2;
    for (int i = 0; i < most_runs / 3; ++i)
      add_run(&part, begin + (i * size + rank) * run_bytes, run_bytes);
  }
  return part;
}

/* The samples of a part: its short runs, and of a long one the ends and what is about 2^31 and
 * 2^32. */
static Part samples_of(const Part* part) {
  Part samples = {.elements = part->elements};
  for (int64_t r = 0; r < part->runs; ++r) {
    const int64_t length = part->lengths[r];
    if (length <= sample) {
      add_run(&samples, part->starts[r], length);
      continue;
    }
    const int64_t at[] = {0, ((int64_t)1 << 31) - sample / 2, ((int64_t)1 << 32) - sample / 2,
                          length - sample};
    for (int i = 0; i < 4; ++i)
      if (at[i] + sample <= length) add_run(&samples, at[i], sample);
  }
  return samples;
}

/* ---- Libraries ------------------------------------------------------------------------------- */

/* How a library makes a file of one array of bytes, which begins where create() says, and moves a
 * part of it. */
typedef struct {
  const char* name;
  int64_t (*create)(const char* path, int64_t elements);
  void (*move)(const char* path, const Part* part, unsigned char* memory, const char* how);
} Library;

static int is_get(const char* how) { return strcmp(how, "get") == 0; }

static int64_t netcdf_create(const char* path, int64_t elements) {
  int file, dimension, variable;
  MPI_Offset begin = 0;
  check_netcdf(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
               "ncmpi_create");
  check_netcdf(ncmpi_def_dim(file, "x", elements, &dimension), "ncmpi_def_dim");
  check_netcdf(ncmpi_def_var(file, "large", NC_UBYTE, 1, &dimension, &variable), "ncmpi_def_var");
  check_netcdf(ncmpi_def_var(file, "small", NC_UBYTE, 1, &dimension, &variable), "ncmpi_def_var");
  check_netcdf(ncmpi_enddef(file), "ncmpi_enddef");
  check_netcdf(ncmpi_inq_varoffset(file, 0, &begin), "ncmpi_inq_varoffset");
  check_netcdf(ncmpi_close(file), "ncmpi_close");
  return begin;
}

static void netcdf_move(const char* path, const Part* part, unsigned char* memory,
                        const char* how) {
  MPI_Offset starts[most_runs], counts[most_runs], *start_of[most_runs], *count_of[most_runs];
  for (int64_t r = 0; r < part->runs; ++r) {
    starts[r] = part->starts[r];
    counts[r] = part->lengths[r];
    start_of[r] = &starts[r];
    count_of[r] = &counts[r];
  }
  const int runs = (int)part->runs;
  int file, request, status = NC_NOERR;
  check_netcdf(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &file), "ncmpi_open");
  /* After these, calls of few pieces pass to PnetCDF without a question to the other ranks. */
  for (int i = 0; i < 20; ++i) {
    const MPI_Offset start = rank, count = 1;
    const unsigned char one = 1;
    check_netcdf(ncmpi_put_vara_uchar_all(file, 1, &start, &count, &one), "small put");
  }
  if (is_get(how)) {
    check_netcdf(ncmpi_get_varn_uchar_all(file, 0, runs, start_of, count_of, memory), "get_varn");
  } else if (strcmp(how, "iput") == 0) {
    check_netcdf(ncmpi_iput_varn_uchar(file, 0, runs, start_of, count_of, memory, &request),
                 "iput_varn");
    check_netcdf(ncmpi_wait_all(file, 1, &request, &status), "ncmpi_wait_all");
    check_netcdf(status, "status");
  } else {
    check_netcdf(ncmpi_put_varn_uchar_all(file, 0, runs, start_of, count_of, memory), "put_varn");
  }
  check_netcdf(ncmpi_close(file), "ncmpi_close");
}

static int64_t library_create(const char* path, int64_t elements) {
  (void)elements;
  if (rank == 0) close(open(path, O_CREAT | O_TRUNC | O_RDWR, 0600));
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}

static void library_move(const char* path, const Part* part, unsigned char* memory,
                         const char* how) {
  int system, file, array, decomposition;
  check_library(slabmark_init(MPI_COMM_WORLD, &system), "slabmark_init");
  check_library(slabmark_open_raw(system, path, SLABMARK_WRITE, MPI_INFO_NULL, &file),
                "slabmark_open_raw");
  check_library(slabmark_def_raw(file, SLABMARK_UINT8, part->elements, 0, 0, &array),
                "slabmark_def_raw");
  check_library(slabmark_init_decomp_runs(system, SLABMARK_UINT8, 1, &part->elements, part->runs,
                                          part->starts, part->lengths, &decomposition),
                "slabmark_init_decomp_runs");
  check_library(is_get(how)
                    ? slabmark_iget_darray(file, array, decomposition, part->total, memory)
                    : slabmark_iput_darray(file, array, decomposition, part->total, memory, NULL),
                "slabmark_iget_darray or slabmark_iput_darray");
  check_library(slabmark_flush(file), "slabmark_flush");
  check_library(slabmark_free_decomp(decomposition), "slabmark_free_decomp");
  check_library(slabmark_close(file), "slabmark_close");
  check_library(slabmark_finalize(system), "slabmark_finalize");
}

static hid_t hdf5_access(void) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_file_locking(access, 0, 1);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  return access;
}

/* Without a connector, which has no address to tell. */
static int64_t hdf5_create(const char* path, int64_t elements) {
  const hid_t access = hdf5_access(), creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_vol(access, H5VL_NATIVE, NULL);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  const hsize_t length = (hsize_t)elements;
  const hid_t space = H5Screate_simple(1, &length, NULL);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t dataset =
      H5Dcreate2(file, "d", H5T_NATIVE_UCHAR, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  const haddr_t begin = H5Dget_offset(dataset);
  check(begin != HADDR_UNDEF, "H5Dget_offset", "no address");
  H5Dclose(dataset);
  check(H5Fclose(file) >= 0, "H5Fclose", "failed");
  H5Sclose(space);
  H5Pclose(creation);
  H5Pclose(access);
  return (int64_t)begin;
}

static void hdf5_move(const char* path, const Part* part, unsigned char* memory, const char* how) {
  const hid_t access = hdf5_access(), collective = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
  const hid_t dataset = H5Dopen2(file, "d", H5P_DEFAULT), space = H5Dget_space(dataset);
  H5Sselect_none(space);
  for (int64_t r = 0; r < part->runs; ++r) {
    const hsize_t start = (hsize_t)part->starts[r], one = 1, block = (hsize_t)part->lengths[r];
    H5Sselect_hyperslab(space, H5S_SELECT_OR, &start, NULL, &one, &block);
  }
  const hsize_t total = (hsize_t)part->total;
  const hid_t line = H5Screate_simple(1, &total, NULL);
  check((is_get(how) ? H5Dread(dataset, H5T_NATIVE_UCHAR, line, space, collective, memory)
                     : H5Dwrite(dataset, H5T_NATIVE_UCHAR, line, space, collective, memory)) >= 0,
        "H5Dread or H5Dwrite", "failed");
  H5Sclose(line);
  H5Sclose(space);
  check(H5Dclose(dataset) >= 0 && H5Fclose(file) >= 0, "H5Dclose or H5Fclose", "failed");
  H5Pclose(collective);
  H5Pclose(access);
}

static const Library libraries[] = {{"pnetcdf", netcdf_create, netcdf_move},
                                    {"library", library_create, library_move},
                                    {"hdf5", hdf5_create, hdf5_move}};

/* ---- The moves ------------------------------------------------------------------------------- */

/* Writes the samples into the file without a library, or compares them there. */
static void samples_in_file(const char* path, int64_t begin, const Part* samples, int writes) {
  const int descriptor = open(path, writes ? O_RDWR : O_RDONLY);
  unsigned char bytes[sample];
  for (int64_t r = 0; r < samples->runs; ++r) {
    const int64_t place = samples->starts[r];
    const size_t count = (size_t)samples->lengths[r] % (sample + 1);
    for (size_t i = 0; i < count; ++i) bytes[i] = writes ? value_at(place + (int64_t)i) : 0;
    const ssize_t moved = writes ? pwrite(descriptor, bytes, count, begin + place)
                                 : pread(descriptor, bytes, count, begin + place);
    check(moved == (ssize_t)count, writes ? "pwrite" : "pread", "short");
    if (!writes) compare(bytes, place, (int64_t)count, "in the file");
  }
  close(descriptor);
}

static void put(const Library* library, const char* path, const Part* part, const char* how) {
  const int64_t begin = library->create(path, part->elements);
  const Part samples = samples_of(part);
  /* Memory of a large request repeats; the few bytes of others are put together. */
  unsigned char* const memory =
      part->total > sample ? repeated((size_t)part->total) : mapped(sample, PROT_READ | PROT_WRITE);
  for (int64_t r = 0, at = 0; r < part->runs && part->total <= sample; at += part->lengths[r++])
    for (int64_t i = 0; i < part->lengths[r]; ++i) memory[at + i] = value_at(part->starts[r] + i);
  library->move(path, part, memory, how);
  MPI_Barrier(MPI_COMM_WORLD);
  samples_in_file(path, begin, &samples, 0);
}

static void get(const Library* library, const char* path, const Part* part) {
  const int64_t begin = library->create(path, part->elements);
  const Part samples = samples_of(part);
  samples_in_file(path, begin, &samples, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  unsigned char* const memory = mapped((size_t)part->total + 1, PROT_READ | PROT_WRITE);
  library->move(path, part, memory, "get");
  for (int64_t r = 0, at = 0; r < part->runs; at += part->lengths[r++])
    for (int64_t s = 0; s < samples.runs; ++s) {
      const int64_t before = samples.starts[s] - part->starts[r];
      if (before >= 0 && before < part->lengths[r])
        compare(memory + at + before, samples.starts[s], samples.lengths[s], "in memory");
    }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Library* library = NULL;
  for (int i = 0; argc == 5 && i < 3; ++i)
    if (strcmp(libraries[i].name, argv[2]) == 0) library = &libraries[i];
  if (!library || size < 2) return 2;
  const char *const path = argv[1], *const how = argv[4];
  const int is_edges = strcmp(how, "edges") == 0;
  const Part part = is_edges ? at_edges() : one_large(strtoll(argv[3], NULL, 10));
  if (!is_get(how)) put(library, path, &part, is_edges ? "put" : how);
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_edges || is_get(how)) get(library, path, &part);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong;
}
