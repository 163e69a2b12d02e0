#pragma once

#include <chrono>

namespace slabmark {

/// Adds the seconds until it goes to `total`.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() {
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_;
};

/// Runs `work` and adds its seconds to `total`.
template <class Work>
void timed(double& total, const Work& work) {
  const Stopwatch watch(total);
  work();
}

}  // namespace slabmark
