#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accel/c_library/api/rearrange_format.h"
#include "accel/c_library/decomposition.hpp"
#include "accel/c_library/failure.hpp"
#include "accel/c_library/file_data.hpp"
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
  /// has more than the system's held().
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
  /// What is to be moved. A flush has as many rounds of puts, and then of gets, as it takes to move
  /// no array twice in one: the later call stays. No rank needs to know of the others' calls for
  /// that.
  struct Request {
    bool writes;
    int round;
    int variable;
    std::int64_t frame;  ///< -1: the variable has no records
    std::shared_ptr<Decomposition> decomposition;
    ArrayPlace place;
    std::byte* data;
    std::shared_ptr<std::byte[]> copy;
    std::optional<std::uint64_t> position;  ///< of a copy for I/O ranks, see Handover
    bool has_fill = false;
    std::vector<std::byte> fill;  ///< as many elements as a piece of a hole may have
    const std::string* name;      ///< of the variable
  };
  using Requests = std::vector<Request>;
  /// The round of the next calls of one direction.
  struct Rounds {
    int round = 0;
    std::set<std::pair<int, std::int64_t>> arrays;  ///< in it: variable, frame

    int round_of(const Request& request);
  };
  /// What the file has when all of it is written.
  struct Growth {
    std::int64_t records = 0;
    int variable = 0;
    int rank = 0;
    std::optional<slabmark_element> element;  ///< of the last, on this rank
  };

  Variable& variable(int number);
  slabmark_array array_of(int variable, std::int64_t frame, bool writes);
  Request request_of(const Call& call);
  void copy(Request& request);
  void prepare_copy(Request& request);
  void copy_apart(Request& request);
  void locate(Requests& requests);
  static std::int64_t digest(Operation operation, const Requests& requests);
  std::vector<const Request*> growing(const Requests& requests) const;
  std::int64_t offer(const std::vector<const Request*>& growing) const;
  Growth growth(const std::vector<const Request*>& growing, std::int64_t offer) const;
  void flush_as(Operation operation);
  void move_rounds(const Requests& requests, std::int64_t records, bool later);
  void move(const Requests& requests, int round, bool writing, std::int64_t records, bool later);
  void move_by_thread(Requests requests, std::int64_t records);
  bool widen_handover(std::uint64_t bytes, Requests& requests);
  bool hand_over(Requests& requests, std::int64_t records);
  void enter_records(bool durable);
  void check(int code) const;

  std::shared_ptr<System> system_;
  slabmark_format format_;
  void* context_;
  bool writable_;
  std::int64_t number_;
  std::unique_ptr<FileData> data_;

  std::unordered_map<int, Variable> variables_;
  Requests requests_;
  Rounds put_rounds_, get_rounds_;
  std::int64_t put_records_ = 0;  ///< in requests_
  std::exception_ptr refused_;    ///< the first call of this rank that failed since the last flush
  std::uint64_t held_ = 0;      ///< bytes of copies in requests_, of the rank that has most in each
  std::uint64_t may_copy_ = 0;  ///< bytes before ranks must ask each other, the same on all
};

}  // namespace slabmark::rearrange
