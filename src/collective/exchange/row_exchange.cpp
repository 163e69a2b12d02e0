#include "collective/exchange/row_exchange.hpp"

#include <limits>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

namespace {

constexpr int row_tag = 7;

int as_count(std::uint64_t value) {
  if (value > std::numeric_limits<int>::max()) {
    throw InputError(fmt::format(
        "A slice has {} rows or bytes a row on one rank, more than MPI counts; use more ranks.",
        value));
  }
  return static_cast<int>(value);
}

/// Rows of bytes: a datatype counts rows where bytes would not fit into an int.
Datatype row_type(std::uint64_t bytes) { return contiguous(as_count(bytes), MPI_BYTE); }

/// The distance of neighbouring rows if it is the same for all: a vector is moved faster than a
/// list of places.
bool evenly_apart(const std::vector<std::uint64_t>& offsets) {
  for (std::size_t i = 2; i < offsets.size(); ++i) {
    if (offsets[i] - offsets[i - 1] != offsets[1] - offsets[0]) return false;
  }
  return true;
}

/// Relative to the first row.
Datatype placed_rows(const ReceivedRows& received) {
  const auto& offsets = received.offsets;
  const auto row = row_type(received.row_bytes);
  const auto rows = as_count(offsets.size());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (evenly_apart(offsets)) {
    const auto apart = rows > 1 ? offsets[1] - offsets[0] : received.row_bytes;
    check_mpi(MPI_Type_create_hvector(rows, 1, static_cast<MPI_Aint>(apart), row.get(), &type),
              "MPI_Type_create_hvector");
  } else {
    std::vector<MPI_Aint> places;
    for (const auto offset : offsets) places.push_back(static_cast<MPI_Aint>(offset - offsets[0]));
    check_mpi(MPI_Type_create_hindexed_block(rows, 1, places.data(), row.get(), &type),
              "MPI_Type_create_hindexed_block");
  }
  return Datatype(type);
}

}  // namespace

RowExchange::RowExchange(const Comm& comm, std::span<const SentRows> sent,
                         std::span<const ReceivedRows> received)
    : comm_(comm.get()) {
  for (const auto& one : sent) {
    const auto row = row_type(one.row_bytes);
    sent_.push_back({one.to, contiguous(as_count(one.rows), row.get()), one.offset});
  }
  for (const auto& one : received) {
    received_.push_back({one.from, placed_rows(one), one.offsets.front()});
  }
}

void RowExchange::run(const std::byte* outgoing, std::byte* incoming) {
  requests_.clear();
  for (const auto& message : received_) {
    check_mpi(MPI_Irecv(incoming + message.offset, 1, message.type.get(), message.rank, row_tag,
                        comm_, &requests_.emplace_back()),
              "MPI_Irecv");
  }
  for (const auto& message : sent_) {
    check_mpi(MPI_Isend(outgoing + message.offset, 1, message.type.get(), message.rank, row_tag,
                        comm_, &requests_.emplace_back()),
              "MPI_Isend");
  }
  check_mpi(MPI_Waitall(as_count(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
}

}  // namespace slabmark
