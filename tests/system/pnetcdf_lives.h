/* What the lives of pnetcdf_lives.c, pnetcdf_lives_beside.c and pnetcdf_lives_requests.c share. */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>
#include <pnetcdf.h>

enum { length = 12 };

extern int rank, ranks;
extern const char* folder;
extern const char* life;

struct life {
  const char* name;
  void (*live)(void);
};
extern const struct life lives_of_requests[], lives_beside[]; /* the last ones have no name */

static inline const char* at(const char* name) {
  static char paths[4][4096];
  static int next;
  char* const path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static inline void say(const char* what, ...) {
  char text[1024];
  va_list values;
  va_start(values, what);
  vsnprintf(text, sizeof text, what, values);
  va_end(values);
  printf("rank %d: %s: %s\n", rank, life, text);
}

static inline void must(int error, const char* what) {
  if (error == NC_NOERR) return;
  fprintf(stderr, "rank %d: %s: %s: %s\n", rank, life, what, ncmpi_strerror(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A file with an array "v" of so many numbers, records "r" of as many, and another array "w". */
static inline int create(const char* path, MPI_Comm comm, MPI_Info info, int ids[3]) {
  int file, dims[2];
  must(ncmpi_create(comm, path, NC_CLOBBER | NC_64BIT_DATA, info, &file), "create");
  must(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]), "def_dim");
  must(ncmpi_def_dim(file, "x", (MPI_Offset)length * ranks, &dims[1]), "def_dim");
  must(ncmpi_def_var(file, "v", NC_INT, 1, &dims[1], &ids[0]), "def_var");
  must(ncmpi_def_var(file, "r", NC_INT, 2, dims, &ids[1]), "def_var");
  must(ncmpi_def_var(file, "w", NC_INT, 1, &dims[1], &ids[2]), "def_var");
  must(ncmpi_enddef(file), "enddef");
  return file;
}

/* This rank's numbers, every so many elements, from `first` on; pending until they are waited for.
 */
static inline int put(int file, int id, const int* numbers) {
  const MPI_Offset start = rank, count = length, stride = ranks;
  int request = -77;
  must(ncmpi_iput_vars_int(file, id, &start, &count, &stride, numbers, &request), "iput_vars");
  return request;
}

static inline const int* numbers(int first) {
  static int all[17][length]; /* what is refused may be longer */
  static int next;
  int* const some = all[next++ % 16];
  for (int i = 0; i < length; ++i) some[i] = first + 100 * i + rank;
  return some;
}

static inline int wait_for_all(int file) { return ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL); }

static inline void tell_wait(int file) { say("wait %d", wait_for_all(file)); }

static inline void tell_wait_and_close(int file) {
  tell_wait(file);
  say("close %d", ncmpi_close(file));
}

typedef int wait_function(int file, int count, int* requests, int* statuses);

static inline void tell_requests(const char* what, wait_function* call, int file, int count,
                                 int* requests) {
  int statuses[] = {7, 7};
  const int error = call(file, count, requests, statuses);
  say("%s %d: %d %d, ids are gone: %d", what, error, statuses[0], statuses[1],
      requests[0] == NC_REQ_NULL && requests[count - 1] == NC_REQ_NULL);
}

static inline void tell_pending(int file) {
  int pending = -1;
  const int error = ncmpi_inq_nreqs(file, &pending);
  say("inq_nreqs %d: %d", error, pending);
}

static inline void tell_records(int file) {
  MPI_Offset records = -1;
  const int error = ncmpi_inq_dimlen(file, 0, &records);
  say("inq_dimlen %d: %lld", error, (long long)records);
}

static inline unsigned digest(const int* values, int count) {
  unsigned total = 0;
  for (int i = 0; i < count; ++i) total = 31 * total + (unsigned)values[i];
  return total;
}

/* What a variable holds, told by a handle of its own where `path` says which file. */
static inline void tell(int file, const char* path, int id) {
  const int own = path != NULL;
  int values[length * 16] = {0};
  if (own) must(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file), "open");
  must(ncmpi_get_var_int_all(file, id, values), "get_var");
  say("variable %d holds %08x, first %d, last %d", id, digest(values, length * ranks), values[0],
      values[length * ranks - 1]);
  if (own) must(ncmpi_close(file), "close");
}

static inline void together(void) { MPI_Barrier(MPI_COMM_WORLD); }

static inline void put_text(const char* path, const char* text) {
  FILE* const file = fopen(path, "w");
  fputs(text, file);
  fclose(file);
}

static inline int has_text(const char* path, const char* text) {
  char found[64] = "";
  FILE* const file = fopen(path, "r");
  const int read = file && fgets(found, sizeof found, file);
  if (file) fclose(file);
  return read && !strcmp(found, text);
}
