// What HDF5 asks a plugin for.
#include <H5PLextern.h>

#include "slablog/connector/object.hpp"

H5PL_type_t H5PLget_plugin_type() { return H5PL_TYPE_VOL; }

const void* H5PLget_plugin_info() { return &slabmark::slablog::connector_class(); }
