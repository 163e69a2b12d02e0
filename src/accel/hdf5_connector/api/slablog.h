/** @file
 * The log-layout HDF5 connector, for C and C++ programs.
 *
 * Header only: a program that includes it links HDF5, and no library of Slabmark. The connector is
 * a plugin, which HDF5 finds through HDF5_PLUGIN_PATH (or H5PLprepend) at run time.
 *
 *     hid_t access = H5Pcreate(H5P_FILE_ACCESS);
 *     H5Pset_fapl_mpio(access, comm, info);
 *     slablog_set(access, "view=vds");   // or HDF5_VOL_CONNECTOR in the environment
 *     hid_t file = H5Fcreate("a.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
 *     ...
 *     H5Dwrite_n(dataset, H5T_NATIVE_INT, n, starts, counts, H5P_DEFAULT, buffer);
 */
#ifndef SLABLOG_H
#define SLABLOG_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <H5VLconnector.h>
#include <hdf5.h>

/** The name of the connector. */
#define SLABLOG_NAME "slablog"
/** The registered number of the connector. */
#define SLABLOG_VALUE ((H5VL_class_value_t)6204)
/** The name of the optional dataset operation behind H5Dwrite_n(). */
#define SLABLOG_WRITE_N "slablog.H5Dwrite_n"
/** The name of the optional dataset operation behind H5Dread_n(). */
#define SLABLOG_READ_N "slablog.H5Dread_n"
/** The ending of a journal, which lies beside its file while the file is open for writing
 * (docs/reference/hdf5-connector.md, "After a crash"). */
#define SLABLOG_JOURNAL ".slablog-journal"

/** The arguments of the optional dataset operations. */
typedef struct slablog_n_args {
  hid_t mem_type;               /**< type of the elements in memory */
  size_t n;                     /**< number of hyperslabs */
  const hsize_t* const* starts; /**< first element of each hyperslab */
  const hsize_t* const* counts; /**< lengths of each hyperslab */
  void* buf;                    /**< elements of all hyperslabs, one hyperslab after another */
  int taken;                    /**< 1 if the connector has moved them; 0 if it did nothing */
} slablog_n_args;

#ifdef __cplusplus
extern "C" {
#endif

/** Makes files that are opened with this access list go through the connector.
 *
 * `options` is NULL, or a list such as "view=materialise;buffer=64M;cap=1000000"
 * (docs/reference/hdf5-connector.md). Returns a negative number on failure. */
static inline herr_t slablog_set(hid_t access, const char* options) {
  char text[512];
  void* info = NULL;
  hid_t connector = H5VLregister_connector_by_name(SLABLOG_NAME, H5P_DEFAULT);
  herr_t status = -1;
  if (connector < 0) return -1;
  if (snprintf(text, sizeof text, "under_vol=0;under_info={};%s", options ? options : "") <
          (int)sizeof text &&
      H5VLconnector_str_to_info(text, connector, &info) >= 0) {
    status = H5Pset_vol(access, connector, info);
    H5VLfree_connector_info(connector, info);
  }
  H5VLclose(connector);
  return status;
}

#include "slablog_native.h"

/** Tries an optional dataset operation. Returns 1 if the connector did it, 0 if the dataset is not
 * in a log, and a negative number on failure. */
static inline int slablog_try(const char* operation, hid_t dataset, slablog_n_args* args,
                              hid_t transfer) {
  H5VL_optional_args_t call;
  uint64_t known = 0;
  int number = 0;
  H5E_BEGIN_TRY {
    if (H5VLfind_opt_operation(H5VL_SUBCLS_DATASET, operation, &number) < 0 ||
        H5VLquery_optional(dataset, H5VL_SUBCLS_DATASET, number, &known) < 0) {
      known = 0;
    }
  }
  H5E_END_TRY
  if ((known & H5VL_OPT_QUERY_SUPPORTED) == 0) return 0;
  args->taken = 0;
  call.op_type = number;
  call.args = args;
  if (H5VLdataset_optional_op(dataset, &call, transfer, H5ES_NONE) < 0) return -1;
  return args->taken;
}

/** Moves n hyperslabs through the connector or, without it, as one union. */
static inline herr_t slablog_move_n(int writes, hid_t dataset, hid_t mem_type, int n,
                                    hsize_t** starts, hsize_t** counts, hid_t transfer, void* buf) {
  slablog_n_args args = {mem_type,
                         n > 0 ? (size_t)n : 0,
                         (const hsize_t* const*)starts,
                         (const hsize_t* const*)counts,
                         buf,
                         0};
  const int done = slablog_try(writes ? SLABLOG_WRITE_N : SLABLOG_READ_N, dataset, &args, transfer);
  return done != 0 ? (done < 0 ? -1 : 0) : slablog_native_n(dataset, &args, transfer, writes);
}

/** Writes n hyperslabs in one call.
 *
 * Hyperslab i holds the elements from starts[i] to starts[i] + counts[i]. `buf` has the elements of
 * one hyperslab after another. Where hyperslabs overlap, the last one counts. Without the connector
 * this is one H5Dwrite of their union. */
static inline herr_t H5Dwrite_n(hid_t dataset, hid_t mem_type, int n, hsize_t** starts,
                                hsize_t** counts, hid_t transfer, void* buf) {
  return slablog_move_n(1, dataset, mem_type, n, starts, counts, transfer, buf);
}

/** Reads n hyperslabs in one call, else as H5Dwrite_n(). */
static inline herr_t H5Dread_n(hid_t dataset, hid_t mem_type, int n, hsize_t** starts,
                               hsize_t** counts, hid_t transfer, void* buf) {
  return slablog_move_n(0, dataset, mem_type, n, starts, counts, transfer, buf);
}

#ifdef __cplusplus
}
#endif

#endif
