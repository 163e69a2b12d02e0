#pragma once

#include "accel/c_library/api/rearrange_format.h"

namespace slabmark::rearrange {

/// A file without a header: where its arrays lie is what the program says.
slabmark_format raw_format();
void* new_raw_context();

/// Returns a code, as the functions of formats do.
int define_raw(void* context, const slabmark_array& array, int64_t record_bytes, int* variable);

}  // namespace slabmark::rearrange
