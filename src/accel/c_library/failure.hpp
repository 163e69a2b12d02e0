#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>

#include "core/parallel/comm.hpp"

namespace slabmark::rearrange {

/// The code and the sentence that a call of the library returns instead of success.
class Failure : public std::exception {
 public:
  Failure(int code, std::string message) : code_(code), message_(std::move(message)) {}

  int code() const { return code_; }  ///< SLABMARK_E...
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  int code_;
  std::string message_;
};

/// Any exception as one: errors of the room's own are SLABMARK_EIO, or `input_error` where input is
/// at fault.
Failure failure_of(const std::exception_ptr& exception, int input_error);

/// The exception that `step` throws, or null.
std::exception_ptr caught(const std::function<void()>& step);

/// Collective. Where a rank brings an exception, every rank throws the Failure of the lowest of
/// them; else `values` become the largest of all ranks'. Nobody gives up waiting: a library does
/// not end its program.
void agree(const Comm& comm, const std::exception_ptr& exception, int input_error,
           std::span<std::int64_t> values = {});

/// Does `step`, and has all ranks agree on how it went.
void agreed(const Comm& comm, int input_error, const std::function<void()>& step);

}  // namespace slabmark::rearrange
