#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/parallel/comm.hpp"

namespace slabmark::slablog {

/// All who have a file open: the ranks of a communicator, or this process alone, which need not
/// have MPI.
class Ranks {
 public:
  /// `comm` null: this process alone.
  explicit Ranks(std::unique_ptr<Comm> comm = nullptr) : comm_(std::move(comm)) {}

  const Comm* comm() const { return comm_.get(); }
  int rank() const { return comm_ ? comm_->rank() : 0; }
  int size() const { return comm_ ? comm_->size() : 1; }
  bool is_root() const { return rank() == 0; }
  /// True if they are the same processes in the same order.
  bool are_as(const Ranks& others) const;

  // All below are collective.
  bool any(bool value) const { return comm_ ? comm_->any(value) : value; }
  std::uint64_t broadcast(std::uint64_t value) const {
    return comm_ ? comm_->broadcast(value) : value;
  }
  std::vector<std::uint64_t> sum(std::vector<std::uint64_t> values) const;
  /// The sums over the ranks before this one; 0 where there are none.
  std::vector<std::uint64_t> sum_before(const std::vector<std::uint64_t>& values) const;
  std::vector<std::uint64_t> max_before(const std::vector<std::uint64_t>& values) const;
  /// Runs `stage` and agrees on its outcome, as slabmark::agreed() does.
  void agreed(const std::function<void()>& stage) const;
  /// The same where no rank waits for another within `stage`, so that a failure ends nobody's job
  /// however long the others take. Early ranks sleep: MPI would let them spin, and on shared cores
  /// the working ranks then got half of a core.
  void agreed_sleeping(const std::function<void()>& stage) const;

 private:
  std::vector<std::uint64_t> reduce_before(const std::vector<std::uint64_t>& values,
                                           MPI_Op operation) const;

  std::unique_ptr<Comm> comm_;
};

}  // namespace slabmark::slablog
