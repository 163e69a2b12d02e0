#pragma once

namespace slabmark::capture {

/// Paths are told from the folder in which the process is now.
void remember_start_folder();

/// True if this process is the child of a fork in one that records: threads that hold locks in its
/// parent do not exist in it.
bool is_child_of_fork() noexcept;

}  // namespace slabmark::capture
