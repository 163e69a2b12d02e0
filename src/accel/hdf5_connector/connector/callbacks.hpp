#pragma once

#include <H5VLconnector_passthru.h>

#include <H5VLconnector.h>
#include <hdf5.h>

namespace slabmark::slablog {

/// The lists that were made for datasets are HDF5's, which ends and may begin again without them.
void forget_access_lists();

/// The numbers of our operations on datasets.
int write_n_operation();
int read_n_operation();

const H5VL_class_t& connector_class();

// The callbacks, by kind of object.
extern const H5VL_dataset_class_t dataset_callbacks;
extern const H5VL_file_class_t file_callbacks;
extern const H5VL_group_class_t group_callbacks;
extern const H5VL_link_class_t link_callbacks;
extern const H5VL_object_class_t object_callbacks;

}  // namespace slabmark::slablog
