#pragma once

#include <chrono>
#include <exception>

namespace slabmark::slice {

/// Keeps the first failure of several steps and leaves out those after it that are not collective,
/// so that a rank that failed still takes part in what the others wait for.
class Attempt {
 public:
  template <class Step>
  void run(const Step& step) {
    if (failure_) return;
    try {
      step();
    } catch (const std::exception&) {
      failure_ = std::current_exception();
    }
  }

  std::exception_ptr failure() const { return failure_; }

 private:
  std::exception_ptr failure_;
};

/// Runs `work` and adds its seconds to `sum`.
template <class Work>
void timed(double& sum, const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace slabmark::slice
