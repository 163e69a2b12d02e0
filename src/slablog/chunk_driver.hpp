#pragma once

#include <hdf5.h>

namespace slabmark::slablog {

/// Makes files that are opened with `access`, which has the MPI-IO driver, leave placeholders of
/// chunks out (storage/hdf5/placeholder.hpp). Nothing else about them changes. Throws IoError.
void leave_out_placeholders_together(hid_t access);

/// Changes the driver of `access` back.
void forget_placeholders(hid_t access);

}  // namespace slabmark::slablog
