#pragma once

#include <string>

#include "core/base/error.hpp"

namespace slabmark::mpiio {

/// A call of MPI-IO failed, for a reason of a class of MPI's (MPI_ERR_NO_SPACE).
class Failure : public IoError {
 public:
  Failure(int error_class, const std::string& message)
      : IoError(message), error_class_(error_class) {}

  int error_class() const { return error_class_; }

 private:
  int error_class_;
};

/// Throws Failure with the call, the file, MPI's own text and a remedy if `code` is not
/// MPI_SUCCESS.
void check(int code, const char* call, const std::string& path);

}  // namespace slabmark::mpiio
