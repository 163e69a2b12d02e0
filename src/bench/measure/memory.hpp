#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slabmark {

/// Greatest resident set of this process since it began, in bytes (getrusage; Linux counts it in
/// KiB), or since the last reset_high_water(), which lowers this mark as well.
std::uint64_t peak_resident_bytes();

/// Resident set of this process now, in bytes (VmRSS). Nothing where /proc is not mounted.
std::optional<std::uint64_t> resident_bytes();

/// Greatest resident set since the last successful reset_high_water(), or since the process began,
/// in bytes (VmHWM). Nothing where /proc is not mounted.
std::optional<std::uint64_t> high_water_bytes();

/// Starts high_water_bytes() anew at what is resident now, by writing 5 to /proc/self/clear_refs.
/// False where the kernel does not permit it: high_water_bytes() is then the peak since the start.
bool reset_high_water();

/// Value of `field` ("VmRSS") in the text of a /proc/PID/status file, in bytes; nothing if the
/// field is not there or not in kB.
std::optional<std::uint64_t> status_bytes(std::string_view status, std::string_view field);

}  // namespace slabmark
