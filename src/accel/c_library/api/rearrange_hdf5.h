/** @file
 * Files of HDF5 for rearrange.h. Link slabmark_rearrange_hdf5 and HDF5.
 *
 * HDF5 itself creates the file. Its datasets must have their space from the start
 * (H5Pset_alloc_time(H5D_ALLOC_TIME_EARLY), best with H5Pset_fill_time(H5D_FILL_TIME_NEVER)). They
 * are contiguous, or have one chunk per record of their first dimension. They have no filters, and
 * hold numbers in the byte order of this machine. */
#ifndef SLABMARK_REARRANGE_HDF5_H
#define SLABMARK_REARRANGE_HDF5_H

#include <hdf5.h>

#include "rearrange.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Opens a file that one rank has created and closed. Collective. In files of HDF5,
 * slabmark_inq_varid() is collective, and its names may contain groups ("atm/T"). */
int slabmark_open_hdf5(int system, const char* path, int mode, MPI_Info info, int* file);

/** Adopts a file that all ranks of the system have open through MPI-IO (H5Pset_fapl_mpio).
 * Collective.
 *
 * The program goes on using the file through HDF5. With SLABMARK_WRITE it must be open for writing
 * there. A flush returns when the data are in the file, also with the option `in_flight`, so HDF5
 * may write the same elements next. After a dataset has grown, slabmark_inq_varid() finds its new
 * records. slabmark_close() must come before H5Fclose(), and leaves the file open there. */
int slabmark_adopt_hdf5(int system, hid_t hdf5_file, int mode, MPI_Info info, int* file);

#ifdef __cplusplus
}
#endif

#endif
