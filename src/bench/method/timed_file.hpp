#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "bench/method/method.hpp"
#include "core/json/json.hpp"

namespace slabmark {

/// A method on its way through one file: the one place that calls its phases. Each is timed by the
/// clock, and what fails on any rank throws an agreed Error. All functions are collective, and
/// called in the order in which they stand here.
class TimedFile {
 public:
  /// The method gets a communicator of its own: what a failing rank leaves half-done on it must not
  /// meet the agreement about that failure. Everything referred to outlives the object.
  TimedFile(const MethodInfo& info, const MethodContext& context);

  /// Creates and defines the file, or opens it, and prepares. `created` is called as soon as the
  /// file is made, with the clock stopped.
  void begin(const std::string& path, const std::function<void()>& created = nullptr);

  /// Posts the rounds from `first` on, one for each element of `buffers` (see Method::post()), and
  /// then flushes.
  void move(std::uint64_t first, std::span<const std::span<std::byte* const>> buffers);

  void sync();

  /// Closes the file. Returns what the method says that its library did.
  Json end();

 private:
  Comm comm_;
  Direction direction_;
  PhaseClock& clock_;
  std::unique_ptr<Method> method_;
};

}  // namespace slabmark
