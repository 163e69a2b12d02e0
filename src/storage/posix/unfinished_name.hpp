#pragma once

#include <functional>
#include <string>

namespace slabmark::posix {

/// A name for the file `path` until it is complete, beside it, that no other run and no file of the
/// user has: "PATH.partial-HOST-PROCESS". Files under such names that killed runs of this host left
/// there are given to `remove`, or unlinked if that is null. Makes nothing.
std::string unfinished_name(const std::string& path,
                            const std::function<void(const std::string& left)>& remove = nullptr);

}  // namespace slabmark::posix
