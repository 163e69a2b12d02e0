#pragma once

// The flags of an event; docs/reference/pattern-file.md explains them.

namespace slabmark::capture {

constexpr unsigned writes = 1, reads = 2, collective = 4, nonblocking = 8, buffered = 16,
                   has_memory_flag = 32, names_requests_flag = 64, failed = 128,
                   one_more_part = 256, cancels = 512;

}  // namespace slabmark::capture
