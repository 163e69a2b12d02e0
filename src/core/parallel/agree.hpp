#pragma once

#include <exception>
#include <functional>
#include <string>

#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// All ranks learn whether any of them failed. `failure` is what this rank caught (null: it is
/// well). Returns if all are well; otherwise every rank throws the same InputError or IoError:
/// that of the lowest failing rank, with "rank R on host H: " before a message that is not from
/// rank 0 alone.
///
/// A failing rank whose peers do not come within `patience` seconds (they wait inside a collective
/// call that this rank will never join) prints its message and ends the job with MPI_Abort.
void agree(const Comm& comm, std::exception_ptr failure, double patience = 10.0);

/// Keeps the first failure of several steps and leaves out those after it that are not collective,
/// so that a rank that failed still takes part in what the others wait for.
class Attempt {
 public:
  template <class Step>
  void run(const Step& step) {
    if (failure_) return;
    try {
      step();
    } catch (const std::exception&) {  // not "...": the end of a thread must go through
      failure_ = std::current_exception();
    }
  }

  std::exception_ptr failure() const { return failure_; }

 private:
  std::exception_ptr failure_;
};

/// Runs `stage` and agrees on its outcome. Collective; `stage` itself need not be.
void agreed(const Comm& comm, const std::function<void()>& stage);

}  // namespace slabmark
