/* rearrange_hdf5.h: files of HDF5. Link slabmark_rearrange_hdf5 and HDF5.
 *
 * HDF5 makes the file, by its own calls. Datasets have their space from the start
 * (H5Pset_alloc_time(H5D_ALLOC_TIME_EARLY), best with H5Pset_fill_time(H5D_FILL_TIME_NEVER)), are
 * contiguous, or have one chunk a record of their first dimension; they have no filters, and hold
 * numbers as this machine does. */
#ifndef SLABMARK_REARRANGE_HDF5_H
#define SLABMARK_REARRANGE_HDF5_H

#include <hdf5.h>

#include "rearrange.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collective. A file that one rank has made and closed. slabmark_inq_varid() is collective in files
 * of HDF5, and its names may have groups ("atm/T"). */
int slabmark_open_hdf5(int system, const char* path, int mode, MPI_Info info, int* file);

/* Collective. A file that all ranks of the system have open through MPI-IO (H5Pset_fapl_mpio), and
 * go on using; with SLABMARK_WRITE it must be open for writing there. A flush returns when the data
 * are in the file, also with the option in_flight, so HDF5 may write the same elements next. Where
 * a dataset has been given more records, slabmark_inq_varid() learns of them. slabmark_close()
 * leaves the file open there, and must come before H5Fclose(). */
int slabmark_adopt_hdf5(int system, hid_t hdf5_file, int mode, MPI_Info info, int* file);

#ifdef __cplusplus
}
#endif

#endif
