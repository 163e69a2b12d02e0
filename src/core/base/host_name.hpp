#pragma once

#include <string>

namespace slabmark {

/// Name of the host this process runs on.
std::string host_name();

}  // namespace slabmark
