/* rearrange_format.h: how a file format tells the library where its arrays lie. For who adds one;
 * programs need rearrange.h, and rearrange_pnetcdf.h or rearrange_hdf5.h. */
#ifndef SLABMARK_REARRANGE_FORMAT_H
#define SLABMARK_REARRANGE_FORMAT_H

#include "rearrange.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slabmark_array {
  slabmark_type type;
  int64_t elements; /* of the variable, or of one of its records */
  int64_t offset;   /* byte of the file at which it begins */
  int has_records;
} slabmark_array;

/* One that is about to be written: its place in its record, and its value, of the array's type. */
typedef struct slabmark_element {
  int64_t index;
  const void* value;
} slabmark_element;

/* Functions return a code, by slabmark_fail() where they fail. Those that are not needed may be
 * null. */
typedef struct slabmark_format {
  int swaps_bytes; /* numbers stand in the file in the other byte order */
  int64_t padding; /* most bytes between two arrays that are nobody's */
  int64_t
      fresh_from; /* nothing was written yet to what lies beyond this byte; -1: beyond the end */
  /* The program writes the file through its own library, too: a flush returns when its data are in
   * the file, also with the option in_flight. */
  int is_shared;

  /* Not collective. */
  int (*inq_varid)(void* context, const char* name, int* variable);
  /* Asked for each call, and again when it is moved. */
  int (*inq_array)(void* context, int variable, int64_t frame, int writing, slabmark_array* array);
  /* How many records there are, as far as this rank knows. Needed with grow(). */
  int64_t (*inq_records)(void* context);
  /* Collective. A rank knows of less than `records`, the last of which is about to be written, of
   * `variable` at least: `rank` has an element of that, the others null. */
  int (*grow)(void* context, int64_t records, int variable, int rank,
              const slabmark_element* element);
  /* Collective. So many records have been written, as far as is known on the lowest rank;
   * `durable`: the disk is to store what this writes. */
  int (*sync)(void* context, int64_t records, int durable);
  /* Collective. The data are written and the file is closed here. Frees the context. */
  int (*close)(void* context);
} slabmark_format;

/* Collective. `format` is copied; `context` is handed to its functions, and to its close() even
 * where the file is not opened. */
int slabmark_open_format(int system, const char* path, int mode, MPI_Info info,
                         const slabmark_format* format, void* context, int* file);

/* The communicator of a system: of the ranks that call it, without I/O ranks. */
int slabmark_inq_comm(int system, MPI_Comm* comm);

/* Collective. SLABMARK_EARGUMENT where a file that the program has open as `path` cannot be opened
 * by that name once more, since the program has gone to another directory. */
int slabmark_check_adopted(int system, const char* path);

/* Makes the sentence that slabmark_message() returns, as printf does, and returns `code`. */
int slabmark_fail(int code, const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Collective. Returns the code of the lowest rank that has one, with its sentence. */
int slabmark_agree(int system, int code);

#ifdef __cplusplus
}
#endif

#endif
