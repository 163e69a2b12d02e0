#pragma once

#include <string>

#include "bench/measure/record.hpp"

namespace slabmark {

/// In place of a path: what would be appended is printed.
inline constexpr const char* standard_output = "-";

/// One line of JSON. Host names and values of the environment may hold any bytes, which are replaced.
template <class Json>
std::string line_of(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// Appends a line to the file `path`, which is created if need be. The line
/// goes out in one write to a descriptor opened with O_APPEND and is then made durable, so that
/// programs that share a record file do not cut into each other's lines and a later crash loses
/// nothing. Call it on one rank. Throws IoError that names the file and the reason; a line that
/// could only be written in part is cut off again.
void append_line(const std::string& path, std::string line);

/// The same of a record, as JSON.
void append_record(const std::string& path, const CellRecord& record);

/// Throws InputError if no record could be appended to `path` (not writable, its directory is
/// missing, no regular file), or none should be since it holds something else: to be asked before
/// hours of measuring. Leaves no new file behind.
void check_record_path(const std::string& path);

}  // namespace slabmark
