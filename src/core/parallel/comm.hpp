#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

namespace slabmark {

/// MPI's own text for an error: one line, without an end. MPI's may hold line breaks and trailing
/// blanks, which would tear our one sentence.
std::string mpi_error_text(int code);

/// Throws IoError with that text if `code` is not MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// An owned communicator of the ranks of another: what Slabmark sends never meets the messages of
/// others. It has none of the attributes of the other one.
/// Errors are returned (MPI_ERRORS_RETURN) and thrown by check_mpi.
class Comm {
 public:
  explicit Comm(MPI_Comm other);  ///< collective over `other`
  /// Takes over a duplicate that the caller owns already.
  static std::unique_ptr<Comm> taking_over(MPI_Comm own);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }

  // All below are collective over the communicator.
  void barrier() const;
  std::uint64_t sum(std::uint64_t value) const;
  std::uint64_t max(std::uint64_t value) const;
  std::uint64_t min(std::uint64_t value) const;
  double max(double value) const;
  double min(double value) const;
  bool any(bool value) const;
  /// Of each value the largest, and of each byte the bits that any rank has; equally many on all
  /// ranks.
  void max(std::span<std::uint64_t> values) const;
  void bitwise_or(std::span<std::uint8_t> bytes) const;
  /// Sum over the ranks before this one (0 on rank 0).
  std::uint64_t sum_before(std::uint64_t value) const;
  /// Every rank's value, in rank order, on root only (empty elsewhere).
  std::vector<double> gather(double value) const;
  std::vector<std::uint64_t> gather(std::uint64_t value) const;
  std::vector<std::string> gather(const std::string& value) const;
  std::string broadcast(const std::string& value, int root = 0) const;
  std::uint64_t broadcast(std::uint64_t value, int root = 0) const;

 private:
  Comm() = default;
  void look_up();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace slabmark
