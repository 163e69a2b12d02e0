#pragma once

#include <string>

namespace slabmark::slablog {

/// The reason for opening a log file.
enum class Opener {
  reader,  ///< must find the file as it should be
  writer,  ///< may put it in order
  maker,   ///< makes a new file in its place
  repair   ///< may do so also where the file system has no locks to ask who else writes it
};

/// Brings a file that its writer left in the middle of a step back to its last commit. Does nothing
/// where there is no file, or no journal with anything in it. Returns whether a journal was left
/// there at all, so a writer ended before it closed the file. Throws IoError where the file cannot
/// be used as `opener` wants to.
bool roll_back(const std::string& path, Opener opener);

}  // namespace slabmark::slablog
