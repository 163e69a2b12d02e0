/* rearrange_pnetcdf.h: files of PnetCDF. Link slabmark_rearrange_pnetcdf and PnetCDF.
 *
 * PnetCDF makes the header, by its own calls; variables are called by PnetCDF's numbers. */
#ifndef SLABMARK_REARRANGE_PNETCDF_H
#define SLABMARK_REARRANGE_PNETCDF_H

#include "rearrange.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collective. A file that is complete but for its data: one rank has defined it (on MPI_COMM_SELF,
 * which is faster than all ranks together) and closed it. The number of records is right in its
 * header after slabmark_sync() and slabmark_close(). */
int slabmark_open_pnetcdf(int system, const char* path, int mode, MPI_Info info, int* file);

/* Collective. The same to write a file that rank 0 alone (on MPI_COMM_SELF) has made and still has
 * open by this path: PnetCDF ends the definition if it must, and closes it here, and need not read
 * the header again. `ncid` counts on rank 0 only. */
int slabmark_take_pnetcdf(int system, const char* path, int ncid, MPI_Info info, int* file);

/* Collective. A file that all ranks of the system have open in data mode, and go on using through
 * PnetCDF; with SLABMARK_WRITE it must be open for writing there. `info`: hints for the data, such
 * as cb_nodes. slabmark_close() leaves it open there; it must come before ncmpi_close(). What is
 * pending in one library is not seen by the other: flush here, or wait there, first. A flush
 * returns when the data are in the file, also with the option in_flight, so PnetCDF may write the
 * same elements next. It may be defined further: flush here before. */
int slabmark_adopt_pnetcdf(int system, int ncid, int mode, MPI_Info info, int* file);

#ifdef __cplusplus
}
#endif

#endif
