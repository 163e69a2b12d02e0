#pragma once

#include "accel/hdf5_connector/connector/object.hpp"

namespace slabmark::slablog {

// The log's own group is in the root of its file, where HDF5 counts and lists it. A program that
// uses the connector sees its own links only, whatever it calls and from wherever it comes.

/// Throws Refusal where a name leads into the log's own group: what is made or changed there would
/// be lost, or would lose something.
void refuse_own_group(const Object& object, const char* name);
void refuse_own_group(const Object& object, const H5VL_loc_params_t& place);

/// `place` as it is below: an index of a link counts the own group, too.
H5VL_loc_params_t place_below(const Object& object, const H5VL_loc_params_t& place);

/// True if the own group is among the links of the group at `place`.
bool holds_own_group(const Object& object, const H5VL_loc_params_t& place);

/// H5Literate and H5Lvisit, H5Ovisit, and H5Giterate.
herr_t iterate_links(const Object& object, const H5VL_loc_params_t& place,
                     H5VL_link_specific_args_t args, hid_t list);
herr_t visit_objects(const Object& object, const H5VL_loc_params_t& place,
                     H5VL_object_specific_args_t args, hid_t list);
herr_t iterate_group(const Object& object, H5VL_native_group_iterate_old_t args, hid_t list);

}  // namespace slabmark::slablog
