#pragma once

#include <stdexcept>
#include <string>

namespace slabmark {

/// The message of a program to its caller. The values are part of the command-line contract.
enum class ExitStatus : int {
  good = 0,       ///< everything asked for was done and verified
  failed = 1,     ///< I/O, verification or a comparison failed
  bad_input = 2,  ///< bad usage or bad input: nothing was written
};

/// Base of all errors thrown in Slabmark. The message is one full sentence that names the culprit
/// and, where there is one, the remedy; it is printed to the user as it stands.
class Error : public std::runtime_error {
 public:
  Error(ExitStatus status, const std::string& message)
      : std::runtime_error(message), status_(status) {}

  ExitStatus status() const { return status_; }

 private:
  ExitStatus status_;
};

/// The user's command line, input file or setting is at fault.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(ExitStatus::bad_input, message) {}
};

/// A call to the operating system or to a library failed, or contents are not what they should be.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message) : Error(ExitStatus::failed, message) {}
};

}  // namespace slabmark
