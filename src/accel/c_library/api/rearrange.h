/* rearrange.h: decomposed arrays to and from files by a plan, for programs in C, C++ and Fortran.
 *
 * Each rank says once which elements of a global array it has (a decomposition). All variables that
 * are laid out so are then written or read in large contiguous pieces.
 * docs/reference/rearrange-library.md has a program, what owns what, and the same program with PIO.
 *
 * Every function returns SLABMARK_OK or a negative code; slabmark_message() has the sentence.
 * Nothing aborts. Calls marked "collective" are made by all ranks of the system in the same order;
 * they return the same code on all of them. Calls come from one thread at a time.
 */
#ifndef SLABMARK_REARRANGE_H
#define SLABMARK_REARRANGE_H

#include <stdint.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SLABMARK_OK = 0,
  SLABMARK_EHANDLE = -1,   /* no such system, decomposition or file, or no longer */
  SLABMARK_EARGUMENT = -2, /* a null pointer, a negative size, an unknown option or value */
  SLABMARK_EDECOMP = -3,   /* an element outside the array, or named twice by a rank */
  SLABMARK_EOVERLAP = -4,  /* two ranks write the same element */
  SLABMARK_ELENGTH = -5,   /* a buffer or variable of another length than the decomposition */
  SLABMARK_ETYPE = -6,     /* a variable of another type than the decomposition */
  SLABMARK_EVARIABLE = -7, /* no such variable */
  SLABMARK_EFRAME = -8,    /* no such record */
  SLABMARK_EREADONLY = -9, /* the file is open for reading */
  SLABMARK_ERANKS = -10,   /* ranks made different calls */
  SLABMARK_ENOMEM = -11,   /* memory is exhausted on a rank */
  SLABMARK_EIO = -12,      /* the file system or a file library failed */
  SLABMARK_EFORMAT = -13,  /* what a file holds cannot be moved by a plan */
  SLABMARK_ETHREADS = -14  /* MPI was not initialized with MPI_THREAD_MULTIPLE */
};

/* clang-format off */
typedef enum slabmark_type
#ifdef __cplusplus
    : int /* as in C: a wrong one is refused, which C++ must be able to look at */
#endif
{
  /* clang-format on */
  SLABMARK_INT8 = 1,
  SLABMARK_UINT8 = 2, /* also characters */
  SLABMARK_INT16 = 3,
  SLABMARK_UINT16 = 4,
  SLABMARK_INT32 = 5,
  SLABMARK_UINT32 = 6,
  SLABMARK_INT64 = 7,
  SLABMARK_UINT64 = 8,
  SLABMARK_FLOAT32 = 9,
  SLABMARK_FLOAT64 = 10
} slabmark_type;

enum {
  SLABMARK_READ = 0,
  SLABMARK_WRITE = 1, /* an existing file; it can be read, too */
  SLABMARK_CREATE = 2 /* a new raw file, which must not exist yet */
};

/* A code in words, and the sentence that goes with this thread's last failure. */
const char* slabmark_strerror(int code);
const char* slabmark_message(void);

/* ---- The ranks that work together ------------------------------------------------------------ */

/* Collective over `comm`, which is duplicated. MPI must be initialized. */
int slabmark_init(MPI_Comm comm, int* system);

/* Collective over `comm`. The same with `io_ranks` of its ranks for I/O alone: for all others,
 * which get a communicator of their own (theirs to free), it is slabmark_init(), and the calls
 * below are made by them. The I/O ranks, each the last of an equal share of `comm`, move the data
 * of the others; for them the call returns at slabmark_finalize(), with MPI_COMM_NULL and system 0.
 * 0 I/O ranks: none. */
int slabmark_init_io(MPI_Comm comm, int io_ranks, MPI_Comm* program_comm, int* system);

/* The same on all ranks, before the first file. Sizes take suffixes ("64M").
 *   aggregators  ranks that access files, or "auto"; I/O ranks all do, and no others
 *   window       most bytes that a rank holds for the exchange, or "auto"
 *   align        aggregators' ranges begin at multiples of it, or "auto"
 *   writers      aggregators of a node that write at once, or "auto"
 *   holes        holes up to this size are written over with zeros where nothing was written
 *   node_ranks   ranks that share memory; 0: as MPI says
 *   held         most bytes of copies that a rank holds; 0 (default): no bound
 *   in_flight    flushes that I/O ranks, or else a thread, write while the program goes on; 0
 *                (default): none */
int slabmark_set_option(int system, const char* name, const char* value);

/* Collective. Its files must be closed; its decompositions go with it, and I/O ranks are free. */
int slabmark_finalize(int system);

/* ---- Decompositions -------------------------------------------------------------------------- */

/* Collective. This rank's elements of an array of `ndims` `extents` (slowest first): for each
 * element of a buffer its offset in the array, from 0, row-major; -1: none, the element of the
 * buffer is left out. A rank names an element once. */
int slabmark_init_decomp(int system, slabmark_type type, int ndims, const int64_t* extents,
                         int64_t count, const int64_t* offsets, int* decomp);

/* The same as runs of consecutive elements; a start of -1 leaves a run of the buffer out. */
int slabmark_init_decomp_runs(int system, slabmark_type type, int ndims, const int64_t* extents,
                              int64_t runs, const int64_t* starts, const int64_t* lengths,
                              int* decomp);

/* Not collective. Files that still need it keep it. */
int slabmark_free_decomp(int decomp);

/* ---- Files ----------------------------------------------------------------------------------- */

/* Collective. A file without a header. rearrange_pnetcdf.h and rearrange_hdf5.h have the others. */
int slabmark_open_raw(int system, const char* path, int mode, MPI_Info info, int* file);

/* The same on all ranks: an array of `elements` at byte `offset` of a raw file; with `record_bytes`
 * > 0, a record of it at every multiple of that. */
int slabmark_def_raw(int file, slabmark_type type, int64_t elements, int64_t offset,
                     int64_t record_bytes, int* variable);

int slabmark_inq_varid(int file, const char* name, int* variable);

/* Which record, from 0, the next calls for the variable mean. */
int slabmark_set_frame(int file, int variable, int64_t frame);

/* All ranks, in the same order. Writes `count` elements (those of the decomposition) at the next
 * flush at the latest; `data` is copied. `fill`: NULL, or an element to be written where no rank
 * has one. What is refused here is told to all ranks by the next flush. */
int slabmark_write_darray(int file, int variable, int decomp, int64_t count, const void* data,
                          const void* fill);

/* Collective. Flushes, and reads. */
int slabmark_read_darray(int file, int variable, int decomp, int64_t count, void* data);

/* As above, but nothing is copied or read before slabmark_flush(): `data` stays as it is until
 * then. All puts of a flush go before its gets, whatever their order: a get brings what the last
 * put of an element left. */
int slabmark_iput_darray(int file, int variable, int decomp, int64_t count, const void* data,
                         const void* fill);
int slabmark_iget_darray(int file, int variable, int decomp, int64_t count, void* data);

/* Collective. Moves all that is pending. Where a call before it was refused on a rank, every rank
 * gets that code here, and nothing is moved. With the option in_flight, what is put is copied, or
 * handed over to the I/O ranks, and written later; a failure is then told by a later call, at the
 * latest by slabmark_close(). Not so in a file that was adopted, which another library may write
 * next: there all is in the file when the flush returns. */
int slabmark_flush(int file);

/* Collective. Flushes, waits for what is in flight, and has the file system store it. */
int slabmark_sync(int file);

/* Collective. Flushes, waits and closes, whatever it returns. */
int slabmark_close(int file);

#ifdef __cplusplus
}
#endif

#endif
