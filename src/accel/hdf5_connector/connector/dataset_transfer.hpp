#pragma once

#include "accel/hdf5_connector/api/slablog.h"
#include "accel/hdf5_connector/connector/object.hpp"

namespace slabmark::slablog {

// How elements of datasets are read and written through the connector.

/// H5VL_dataset_class_t's `read` and `write`.
herr_t read_datasets(size_t count, void* objects[], hid_t types[], hid_t memory[], hid_t file[],
                     hid_t list, void* buffers[], void** request);
herr_t write_datasets(size_t count, void* objects[], hid_t types[], hid_t memory[], hid_t file[],
                      hid_t list, const void* buffers[], void** request);

/// H5Dwrite_n and H5Dread_n; says in `call` whether the dataset's elements go past HDF5.
herr_t move_boxes(Object& dataset, slablog_n_args& call, bool writes, hid_t list);

/// show_all(), before HDF5 looks at this dataset alone: others may fail.
void show_dataset(const Object& dataset);

}  // namespace slabmark::slablog
