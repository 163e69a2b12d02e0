#pragma once

#include <string>

namespace slabmark::posix {

/// Throws InputError if something stands at `path` already (unless `overwrite`, when a regular file
/// there is removed), or if its directory is missing or not writable.
/// `choice` is the option with which the user chooses another, if there is one.
void require_free_path(const std::string& path, bool overwrite, const std::string& choice = "");

}  // namespace slabmark::posix
