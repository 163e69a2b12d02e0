#pragma once

#include <string>

namespace slabmark::posix {

/// Whether the kernel lets only one process at a time write to the file at `path`, so that more
/// writers of one machine gain nothing: true of Linux's own file systems and of NFS, which hold the
/// lock of the file during a buffered write; false of all others and where that cannot be found
/// out. Measured on ext4 and tmpfs: 1, 2 and 4 processes take equally long for the same bytes.
bool locks_file_to_write(const std::string& path);

}  // namespace slabmark::posix
