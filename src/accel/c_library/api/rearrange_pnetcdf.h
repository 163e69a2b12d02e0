/** @file
 * Files of PnetCDF for rearrange.h. Link slabmark_rearrange_pnetcdf and PnetCDF.
 *
 * PnetCDF itself creates the header. Variables have the numbers that PnetCDF gives them. */
#ifndef SLABMARK_REARRANGE_PNETCDF_H
#define SLABMARK_REARRANGE_PNETCDF_H

#include "rearrange.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Opens a file that is complete except for its data. Collective.
 *
 * One rank has defined and closed it, on MPI_COMM_SELF, which is faster than defining it on all
 * ranks. After slabmark_sync() and slabmark_close() its header has the right number of records. */
int slabmark_open_pnetcdf(int system, const char* path, int mode, MPI_Info info, int* file);

/** Opens, for writing, a file that rank 0 alone has created and still has open. Collective.
 *
 * Rank 0 opened it by this path on MPI_COMM_SELF. PnetCDF ends the definition if necessary, and
 * closes the file here; no rank reads the header again. `ncid` matters on rank 0 only. */
int slabmark_take_pnetcdf(int system, const char* path, int ncid, MPI_Info info, int* file);

/** Adopts a file that all ranks of the system have open in data mode. Collective.
 *
 * The program goes on using the file through PnetCDF. With SLABMARK_WRITE it must be open for
 * writing there. `info` has hints for the data, such as cb_nodes. Neither library sees the pending
 * requests of the other: call slabmark_flush() or PnetCDF's wait first. A flush returns when the
 * data are in the file, also with the option `in_flight`, so PnetCDF may write the same elements
 * next. Flush before you define more variables. slabmark_close() must come before ncmpi_close(),
 * and leaves the file open there. */
int slabmark_adopt_pnetcdf(int system, int ncid, int mode, MPI_Info info, int* file);

#ifdef __cplusplus
}
#endif

#endif
