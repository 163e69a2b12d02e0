#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include "core/parallel/comm.hpp"
#include "core/parallel/datatype.hpp"

namespace slabmark {

/// Rows that this rank sends to another: dense, from byte `offset` of what it sends.
struct SentRows {
  int to = 0;
  std::uint64_t offset = 0;
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;
};

/// Rows that this rank gets from another, each at its place.
struct ReceivedRows {
  int from = 0;
  std::uint64_t row_bytes = 0;
  std::vector<std::uint64_t> offsets;  ///< bytes, one a row
};

/// Moves rows between ranks, the same ones again and again, with datatypes made once.
class RowExchange {
 public:
  /// All of a communicator are run in the same order on all ranks. Throws InputError for more rows
  /// or bytes than MPI counts.
  RowExchange(const Comm& comm, std::span<const SentRows> sent,
              std::span<const ReceivedRows> received);

  void run(const std::byte* outgoing, std::byte* incoming);

 private:
  struct Message {
    int rank;
    Datatype type;
    std::uint64_t offset;
  };

  MPI_Comm comm_;
  std::vector<Message> sent_;
  std::vector<Message> received_;
  std::vector<MPI_Request> requests_;
};

}  // namespace slabmark
