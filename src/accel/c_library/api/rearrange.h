/** @file
 * Writes and reads decomposed arrays by collective rearrangement, from C, C++ and Fortran.
 *
 * Each rank describes once which elements of a global array it owns: a decomposition. All variables
 * with that decomposition are then written or read in large contiguous requests.
 * docs/reference/rearrange-library.md has a complete program and the same program with PIO.
 *
 * Every function returns SLABMARK_OK or a negative code, and slabmark_message() explains it. No
 * function aborts the program. All ranks of the system make the calls marked "collective" in the
 * same order; such a call returns the same code on all of them. Calls must come from one thread at
 * a time.
 */
#ifndef SLABMARK_REARRANGE_H
#define SLABMARK_REARRANGE_H

#include <stdint.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a function returns. */
enum {
  SLABMARK_OK = 0,         /**< success */
  SLABMARK_EHANDLE = -1,   /**< the system, decomposition or file does not exist, or is closed */
  SLABMARK_EARGUMENT = -2, /**< a null pointer, a negative size, an unknown option or value */
  SLABMARK_EDECOMP = -3,   /**< an element lies outside the array, or a rank names it twice */
  SLABMARK_EOVERLAP = -4,  /**< two ranks write the same element */
  SLABMARK_ELENGTH = -5,   /**< a buffer or variable is not as long as the decomposition */
  SLABMARK_ETYPE = -6,     /**< a variable and the decomposition differ in type */
  SLABMARK_EVARIABLE = -7, /**< the variable does not exist */
  SLABMARK_EFRAME = -8,    /**< the record does not exist */
  SLABMARK_EREADONLY = -9, /**< the file is open for reading */
  SLABMARK_ERANKS = -10,   /**< ranks made different calls */
  SLABMARK_ENOMEM = -11,   /**< memory is exhausted on a rank */
  SLABMARK_EIO = -12,      /**< the file system or a file library failed */
  SLABMARK_EFORMAT = -13,  /**< the library cannot move data of this layout */
  SLABMARK_ETHREADS = -14  /**< MPI was not initialized with MPI_THREAD_MULTIPLE */
};

/* clang-format off */
/** The type of an array's elements. */
typedef enum slabmark_type
#ifdef __cplusplus
    : int /* as in C: a wrong one is refused, which C++ must be able to look at */
#endif
{
  /* clang-format on */
  SLABMARK_INT8 = 1,    /**< signed, 1 byte */
  SLABMARK_UINT8 = 2,   /**< unsigned, 1 byte; also characters */
  SLABMARK_INT16 = 3,   /**< signed, 2 bytes */
  SLABMARK_UINT16 = 4,  /**< unsigned, 2 bytes */
  SLABMARK_INT32 = 5,   /**< signed, 4 bytes */
  SLABMARK_UINT32 = 6,  /**< unsigned, 4 bytes */
  SLABMARK_INT64 = 7,   /**< signed, 8 bytes */
  SLABMARK_UINT64 = 8,  /**< unsigned, 8 bytes */
  SLABMARK_FLOAT32 = 9, /**< floating point, 4 bytes */
  SLABMARK_FLOAT64 = 10 /**< floating point, 8 bytes */
} slabmark_type;

/** How to open a file. */
enum {
  SLABMARK_READ = 0,  /**< an existing file, only to read it */
  SLABMARK_WRITE = 1, /**< an existing file, to write and read it */
  SLABMARK_CREATE = 2 /**< a new raw file, which must not exist yet */
};

/** Describes a code in words. */
const char* slabmark_strerror(int code);

/** The sentence that explains the last failure of the calling thread. */
const char* slabmark_message(void);

/* ---- Systems --------------------------------------------------------------------------------- */

/** Makes a system of the ranks of a communicator, which it duplicates. Collective over `comm`.
 * MPI must be initialized. */
int slabmark_init(MPI_Comm comm, int* system);

/** Makes a system that keeps some ranks for I/O alone. Collective over `comm`.
 *
 * For the ranks of the program this is slabmark_init(): they get a communicator of their own, which
 * they free, and only they make the calls below. Each I/O rank is the last of an equal share of
 * `comm`. On an I/O rank the call moves the data of the others and returns at slabmark_finalize(),
 * with MPI_COMM_NULL and system 0. With 0 `io_ranks`, no rank is kept for I/O. */
int slabmark_init_io(MPI_Comm comm, int io_ranks, MPI_Comm* program_comm, int* system);

/** Sets an option. All ranks set the same, before they open the first file.
 *
 * Sizes accept suffixes ("64M"). The options:
 *
 * - `aggregators`: number of ranks that access files, or "auto"; I/O ranks are always all of them
 * - `window`: upper bound of the bytes that a rank holds for the exchange, or "auto"
 * - `align`: file domains of aggregators begin at multiples of it, or "auto"
 * - `writers`: aggregators of a node that write at the same time, or "auto"
 * - `holes`: unwritten gaps of up to this size are filled with zeros
 * - `node_ranks`: number of ranks that share memory; 0 asks MPI
 * - `held`: upper bound of the bytes of copies that a rank holds; 0 (default) for no bound
 * - `in_flight`: flushes that I/O ranks or a thread write while the program goes on; default 0
 * - `overlap`: flushes of a file whose data waits in memory while the program goes on, until a
 *   thread without MPI calls has written it; default 0. Not with `in_flight` or I/O ranks
 * - `overlap_memory`: upper bound of the bytes of a process that wait so; 0 (default) for a share
 *   of the node's free memory */
int slabmark_set_option(int system, const char* name, const char* value);

/** Ends a system. Collective. Its files must be closed. This frees its decompositions, and releases
 * its I/O ranks. */
int slabmark_finalize(int system);

/* ---- Decompositions -------------------------------------------------------------------------- */

/** Describes which elements of an array this rank owns, one by one. Collective.
 *
 * The array has `ndims` dimensions of the lengths `extents`, slowest first. `offsets` holds, for
 * each element of a buffer, its row-major offset in the array, from 0. An offset of -1 leaves this
 * element of the buffer out. A rank names an element only once. */
int slabmark_init_decomp(int system, slabmark_type type, int ndims, const int64_t* extents,
                         int64_t count, const int64_t* offsets, int* decomp);

/** Describes which elements of an array this rank owns, as runs of consecutive elements.
 * Collective. Otherwise this is slabmark_init_decomp(). Elements of a run that starts at -1 are not
 * moved. */
int slabmark_init_decomp_runs(int system, slabmark_type type, int ndims, const int64_t* extents,
                              int64_t runs, const int64_t* starts, const int64_t* lengths,
                              int* decomp);

/** Frees a decomposition. Not collective. Files that still need it keep it. */
int slabmark_free_decomp(int decomp);

/* ---- Files ----------------------------------------------------------------------------------- */

/** Opens a file without a header. Collective. rearrange_pnetcdf.h and rearrange_hdf5.h open files
 * of these libraries. */
int slabmark_open_raw(int system, const char* path, int mode, MPI_Info info, int* file);

/** Keeps what a file library wrote when it defined a file, for the next files that are defined
 * alike. Collective.
 *
 * The file at `path` is closed, and holds no data yet that the next file shall not have. All of its
 * bytes that are not zero stay in the memory of rank 0. */
int slabmark_keep_definition(int system, const char* path, int* definition);

/** Makes a new file with those bytes, in place of the calls of the library. Collective.
 *
 * No file may be at `path`. Open it like one that the library has defined. Attributes that differ
 * from those of the kept file must be changed by the library, which may open the file before. */
int slabmark_create_defined(int definition, const char* path, MPI_Info info);

/** Frees what slabmark_keep_definition() keeps. Not collective. */
int slabmark_free_definition(int definition);

/** Defines an array of `elements` at byte `offset` of a raw file. All ranks define the same. With
 * `record_bytes` > 0 the array has records, one at every multiple of that. */
int slabmark_def_raw(int file, slabmark_type type, int64_t elements, int64_t offset,
                     int64_t record_bytes, int* variable);

/** Finds a variable by its name. */
int slabmark_inq_varid(int file, const char* name, int* variable);

/** Chooses the record, from 0, that the next calls for the variable move. */
int slabmark_set_frame(int file, int variable, int64_t frame);

/** Writes the `count` elements of this rank's decomposition, at the latest in the next flush. All
 * ranks call it in the same order.
 *
 * `data` is copied. `fill` is NULL, or the element to write where no rank owns one. If this call
 * fails on a rank, the next flush returns the error on all ranks. */
int slabmark_write_darray(int file, int variable, int decomp, int64_t count, const void* data,
                          const void* fill);

/** Flushes, then reads the `count` elements of this rank's decomposition. Collective. */
int slabmark_read_darray(int file, int variable, int decomp, int64_t count, void* data);

/** Writes like slabmark_write_darray(), without a copy: `data` must not change before
 * slabmark_flush(). All ranks call it in the same order. */
int slabmark_iput_darray(int file, int variable, int decomp, int64_t count, const void* data,
                         const void* fill);

/** Reads like slabmark_read_darray(), in the next slabmark_flush(). All ranks call it in the same
 * order. A flush writes before it reads, so it returns the last value that was put. */
int slabmark_iget_darray(int file, int variable, int decomp, int64_t count, void* data);

/** Moves all pending data. Collective.
 *
 * If an earlier call failed on a rank, every rank gets its code here, and no data are moved. With
 * the option `in_flight`, a flush copies the data or hands them to the I/O ranks, which write them
 * later. A later call returns an error of that, at the latest slabmark_close(). An adopted file is
 * an exception, since another library may write it next: its data are in the file when the flush
 * returns. */
int slabmark_flush(int file);

/** Flushes, waits for flushes in flight, and has the file system store the data. Collective. */
int slabmark_sync(int file);

/** Flushes, waits for flushes in flight, and closes the file, also after an error. Collective. */
int slabmark_close(int file);

#ifdef __cplusplus
}
#endif

#endif
