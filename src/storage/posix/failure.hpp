#pragma once

#include <string>

#include "core/base/error.hpp"

namespace slabmark::posix {

/// A system call failed with this value of errno.
class Failure : public IoError {
 public:
  Failure(int error, const std::string& message) : IoError(message), error_(error) {}

  int error() const { return error_; }

 private:
  int error_;
};

}  // namespace slabmark::posix
