#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <unordered_map>

#include "accel/c_library/api/rearrange_format.h"
#include "accel/c_library/decomposition.hpp"
#include "accel/c_library/failure.hpp"
#include "accel/c_library/file_data.hpp"
#include "accel/c_library/growth.hpp"
#include "accel/c_library/request.hpp"
#include "accel/c_library/system.hpp"

namespace slabmark::rearrange {

/// A file of a system, with what is pending for it. Functions throw Failure; collective ones the
/// same on all ranks.
class OpenFile {
 public:
  /// Collective. `context` is handed to the format's functions; who made it closes it if this
  /// throws.
  OpenFile(std::shared_ptr<System> system, const std::string& path, int mode,
           const mpiio::Hints& hints, const slabmark_format& format, void* context);

  System& system() { return *system_; }
  void* context() { return context_; }
  bool is_raw() const;

  int inq_varid(const char* name);
  void set_frame(int variable, std::int64_t frame);

  /// A call of the program.
  struct Call {
    bool writes;
    bool copies;  ///< the buffer is the caller's again
    int variable;
    std::shared_ptr<Decomposition> decomposition;
    std::int64_t count;
    std::byte* data;
    const void* fill;
  };
  void post(const Call& call);
  /// A call of this rank was refused, which the next flush tells all ranks.
  void refuse(const std::exception_ptr& failure, bool copies);
  /// Collective, after each call that copies, also where it was refused: all ranks flush where one
  /// has more than the option held.
  void bound_copies();

  // Collective.
  void flush() { flush_as(Operation::flush); }
  void sync();
  void close();  ///< closed, whatever it throws

 private:
  enum class Operation : std::int64_t { flush = 1, sync, close };

  struct Variable {
    std::int64_t frame = 0;  ///< that the next calls mean
    std::string name;        ///< for messages
  };
  /// Work that calls have left for the next flush.
  struct Pending {
    Requests requests;
    Rounds put_rounds, get_rounds;
    std::int64_t put_records = 0;  ///< in requests
    std::exception_ptr refused;    ///< the first call of this rank that failed
    std::uint64_t held = 0;        ///< bytes of copies, of the rank that has most in each request
  };
  /// Says who moves a flush, and if the program waits for it.
  enum class Delivery { now, by_io_ranks, by_thread };

  Variable& variable(int number);
  slabmark_array array_of(int variable, std::int64_t frame, bool writes);
  Request request_of(const Call& call);
  void copy(Request& request);
  void locate(Requests& requests);
  Delivery delivery_of(Operation operation, const Requests& requests) const;
  Growth agree_on(Operation operation, Pending& pending, Delivery delivery);
  void grow(const Growth& growth, Delivery delivery);
  void flush_as(Operation operation);
  void deliver(Requests requests, std::int64_t records, Delivery delivery);
  void move_rounds(const Requests& requests, std::int64_t records, bool later);
  void move(const Requests& requests, int round, bool writing, std::int64_t records, bool later);
  void move_by_thread(Requests requests, std::int64_t records);
  void enter_records(bool durable);
  void check(int code) const;

  std::shared_ptr<System> system_;
  slabmark_format format_;
  void* context_;
  bool writable_;
  std::int64_t number_;
  std::unique_ptr<FileData> data_;

  std::unordered_map<int, Variable> variables_;
  Pending pending_;
  std::uint64_t may_copy_ = 0;  ///< bytes before ranks must ask each other, the same on all
};

}  // namespace slabmark::rearrange
