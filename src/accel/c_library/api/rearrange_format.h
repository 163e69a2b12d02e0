/** @file
 * Adds a file format: tells the library where the arrays of a file lie. Programs do not need this
 * header, but rearrange.h with rearrange_pnetcdf.h or rearrange_hdf5.h. */
#ifndef SLABMARK_REARRANGE_FORMAT_H
#define SLABMARK_REARRANGE_FORMAT_H

#include "rearrange.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where an array lies in a file. */
typedef struct slabmark_array {
  slabmark_type type; /**< of its elements */
  int64_t elements;   /**< of the variable, or of one of its records */
  int64_t offset;     /**< byte of the file at which it begins */
  int has_records;    /**< 1 for a record variable */
} slabmark_array;

/** An element that is about to be written. */
typedef struct slabmark_element {
  int64_t index;     /**< its offset in the record */
  const void* value; /**< of the array's type */
} slabmark_element;

/** The functions and facts of a file format. A function that fails returns a code, which it makes
 * by slabmark_fail(). Functions that the format does not need may be null. */
typedef struct slabmark_format {
  int swaps_bytes;    /**< 1 if the file holds numbers in the other byte order */
  int64_t padding;    /**< upper bound of the unused bytes between two arrays */
  int64_t fresh_from; /**< nothing is written beyond this byte yet; -1 for the end of the file */
  /** 1 if the program also writes the file through its own library. A flush then returns when its
   * data are in the file, also with the option `in_flight`. */
  int is_shared;

  /** Finds a variable by its name. Not collective. */
  int (*inq_varid)(void* context, const char* name, int* variable);
  /** Describes an array. Called for each request, and again when the request is moved. */
  int (*inq_array)(void* context, int variable, int64_t frame, int writing, slabmark_array* array);
  /** The number of records that this rank knows. Needed together with grow(). */
  int64_t (*inq_records)(void* context);
  /** Adds records, because a rank knows fewer than `records`. Collective. The last record is about
   * to be written, at least in `variable`: `rank` passes one of its elements, other ranks null. */
  int (*grow)(void* context, int64_t records, int variable, int rank,
              const slabmark_element* element);
  /** Stores the number of records that the lowest rank knows to be written. Collective. If
   * `durable`, the disk must store what this writes. */
  int (*sync)(void* context, int64_t records, int durable);
  /** Frees the context. Collective. The data are written, and the file is closed here. */
  int (*close)(void* context);
} slabmark_format;

/** Opens a file of a format. Collective. `format` is copied. `context` is passed to its functions;
 * its close() gets it also if the file could not be opened. */
int slabmark_open_format(int system, const char* path, int mode, MPI_Info info,
                         const slabmark_format* format, void* context, int* file);

/** The communicator of the ranks that call a system, without its I/O ranks. */
int slabmark_inq_comm(int system, MPI_Comm* comm);

/** Checks that a file that the program has open as `path` can be opened by that name once more.
 * Collective. Returns SLABMARK_EARGUMENT if not, for example after the program changed to another
 * directory. */
int slabmark_check_adopted(int system, const char* path);

/** Makes the sentence that slabmark_message() returns, in the way of printf(), and returns `code`.
 */
int slabmark_fail(int code, const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/** Returns the code of the lowest rank that has one, with its sentence, on all ranks. Collective.
 */
int slabmark_agree(int system, int code);

#ifdef __cplusplus
}
#endif

#endif
