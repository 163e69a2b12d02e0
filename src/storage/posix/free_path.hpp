#pragma once

#include <string>
#include <vector>

namespace slabmark::posix {

/// The user's options for an output file.
struct Output {
  bool overwrite = false;   ///< --overwrite
  std::string choice = "";  ///< the option with which the user names another, if there is one
  std::vector<std::string> inputs = {};  ///< files that the run reads
  /// First bytes of the files that the program replaces without --overwrite, as its original did.
  std::string own_kind = "";
  std::string records = "";  ///< file that the run appends its records to; empty: none
};

/// The one rule for output files, which docs/reference/files.md tells users. An existing `path` is
/// refused unless `output` says that it may be replaced. Always refused are an input, the record
/// file, anything but a regular file, a symbolic link that leads nowhere, and a directory that is
/// missing or not writable. Returns whether a file stands there (at the end of a symbolic
/// link, it may be). Throws InputError.
bool require_output(const std::string& path, const Output& output);

/// The same for those who put another file in its place: a symbolic link is refused.
bool require_replaceable(const std::string& path, const Output& output);

/// The same for those who need the path to be free: the file that stands there is removed.
void require_free_path(const std::string& path, const Output& output);

}  // namespace slabmark::posix
