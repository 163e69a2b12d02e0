#pragma once

#include <string>

#include "bench/measure/record.hpp"
#include "core/json/json.hpp"

namespace slabmark {

/// In place of a path: what would be appended is printed.
inline constexpr const char* standard_output = "-";

/// Appends a JSON document as one line to the file `path`, which is created if need be. The line
/// goes out in one write to a descriptor opened with O_APPEND and is then made durable, so that
/// programs that share a record file do not cut into each other's lines and a later crash loses
/// nothing. Call it on one rank. Throws IoError that names the file and the reason; a line that
/// could only be written in part is cut off again.
void append_document(const std::string& path, const Json& document);

/// Does the same with a record.
void append_record(const std::string& path, const CellRecord& record);

/// Throws InputError if no record could be appended to `path` (not writable, its directory is
/// missing, no regular file), or none should be since it holds something else: to be asked before
/// hours of measuring. Leaves no new file behind.
void check_record_path(const std::string& path);

}  // namespace slabmark
