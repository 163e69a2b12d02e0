#pragma once

#include <cstdint>
#include <optional>

#include "rearrange/api/rearrange.h"

namespace slabmark::rearrange {

enum class Verb { write, read, iput, iget };

/// slabmark_write_darray() and its like. Returns a code. `type`: that of the buffer, where the
/// language knows it.
int move(Verb verb, int file, int variable, int decomp, std::int64_t count, void* data,
         const void* fill, std::optional<slabmark_type> type = std::nullopt);

}  // namespace slabmark::rearrange
