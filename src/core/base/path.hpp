#pragma once

#include <string>

namespace slabmark {

/// The directory that `path` names a file in; "." where it names none.
std::string directory_of(const std::string& path);

}  // namespace slabmark
