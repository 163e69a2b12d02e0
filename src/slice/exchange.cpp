#include "slice/exchange.hpp"

#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark::slice {

namespace {

constexpr int tag = 7;

int as_count(std::uint64_t value) {
  if (value > std::numeric_limits<int>::max()) {
    throw InputError(fmt::format(
        "A slice has {} rows or bytes a row on one rank, more than MPI counts; use more ranks.",
        value));
  }
  return static_cast<int>(value);
}

/// Rows of bytes: a datatype counts rows where bytes would not fit into an int.
MPI_Datatype row_type(std::uint64_t bytes) {
  MPI_Datatype row = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(as_count(bytes), MPI_BYTE, &row), "MPI_Type_contiguous");
  return row;
}

MPI_Datatype committed(MPI_Datatype type, MPI_Datatype row) {
  MPI_Type_free(&row);
  check_mpi(MPI_Type_commit(&type), "MPI_Type_commit");
  return type;
}

MPI_Datatype dense_rows(const Sent& sent) {
  const auto row = row_type(sent.row_bytes);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(as_count(sent.rows), row, &type), "MPI_Type_contiguous");
  return committed(type, row);
}

/// The distance of neighbouring rows if it is the same for all: a vector is moved faster than a
/// list of places.
bool evenly_apart(const std::vector<std::uint64_t>& offsets) {
  for (std::size_t i = 2; i < offsets.size(); ++i) {
    if (offsets[i] - offsets[i - 1] != offsets[1] - offsets[0]) return false;
  }
  return true;
}

/// Relative to the first row.
MPI_Datatype placed_rows(const Received& received) {
  const auto& offsets = received.offsets;
  const auto row = row_type(received.row_bytes);
  const auto rows = as_count(offsets.size());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (evenly_apart(offsets)) {
    const auto apart = rows > 1 ? offsets[1] - offsets[0] : received.row_bytes;
    check_mpi(MPI_Type_create_hvector(rows, 1, static_cast<MPI_Aint>(apart), row, &type),
              "MPI_Type_create_hvector");
  } else {
    std::vector<MPI_Aint> places;
    for (const auto offset : offsets) places.push_back(static_cast<MPI_Aint>(offset - offsets[0]));
    check_mpi(MPI_Type_create_hindexed_block(rows, 1, places.data(), row, &type),
              "MPI_Type_create_hindexed_block");
  }
  return committed(type, row);
}

}  // namespace

Exchange::Exchange(const Comm& comm, const Plan& plan) : comm_(comm.get()) {
  for (const auto& sent : plan.sent) sent_.push_back({sent.to, dense_rows(sent), sent.offset});
  for (const auto& received : plan.received) {
    received_.push_back({received.from, placed_rows(received), received.offsets.front()});
  }
}

Exchange::Exchange(Exchange&& other) noexcept
    : comm_(other.comm_), sent_(std::move(other.sent_)), received_(std::move(other.received_)) {
  other.sent_.clear();
  other.received_.clear();
}

Exchange::~Exchange() {
  for (auto& message : sent_) MPI_Type_free(&message.type);
  for (auto& message : received_) MPI_Type_free(&message.type);
}

void Exchange::run(const std::byte* outgoing, std::byte* written) {
  requests_.clear();
  for (const auto& message : received_) {
    check_mpi(MPI_Irecv(written + message.offset, 1, message.type, message.rank, tag, comm_,
                        &requests_.emplace_back()),
              "MPI_Irecv");
  }
  for (const auto& message : sent_) {
    check_mpi(MPI_Isend(outgoing + message.offset, 1, message.type, message.rank, tag, comm_,
                        &requests_.emplace_back()),
              "MPI_Isend");
  }
  check_mpi(MPI_Waitall(as_count(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
}

}  // namespace slabmark::slice
