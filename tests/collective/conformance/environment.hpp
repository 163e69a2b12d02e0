#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace slabmark::conformance {

/// While it lives, a variable of the environment has a value.
class WithVariable {
 public:
  WithVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* const before = std::getenv(name_.c_str())) before_ = before;
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~WithVariable() {
    if (before_) {
      setenv(name_.c_str(), before_->c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }
  WithVariable(const WithVariable&) = delete;
  WithVariable& operator=(const WithVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace slabmark::conformance
