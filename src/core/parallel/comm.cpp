#include "core/parallel/comm.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/parallel/end_of_mpi.hpp"

namespace slabmark {

std::string mpi_error_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return fmt::format("error {}", code);
  std::string line(text, static_cast<std::size_t>(length));
  std::replace(line.begin(), line.end(), '\n', ' ');
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  return line;
}

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  throw IoError(fmt::format("{} failed: {}.", call, mpi_error_text(code)));
}

// A duplicate would have what a program has attached to its communicator, by the program's own
// functions to copy it and to free it, which may not work any more when ours goes.
Comm::Comm(MPI_Comm other) {
  MPI_Group group = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(other, &group), "MPI_Comm_group");
  const int code = MPI_Comm_create(other, group, &comm_);
  MPI_Group_free(&group);
  check_mpi(code, "MPI_Comm_create");
  look_up();
}

std::unique_ptr<Comm> Comm::taking_over(MPI_Comm own) {
  std::unique_ptr<Comm> comm(new Comm);
  comm->comm_ = own;
  comm->look_up();
  return comm;
}

void Comm::look_up() {
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Comm::~Comm() {
  if (!mpi_has_ended()) MPI_Comm_free(&comm_);
}

void Comm::barrier() const { check_mpi(MPI_Barrier(comm_), "MPI_Barrier"); }

namespace {

template <typename T>
T reduce_everywhere(T value, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  T result{};
  check_mpi(MPI_Allreduce(&value, &result, 1, type, op, comm), "MPI_Allreduce");
  return result;
}

/// In parts, since MPI counts in int.
template <typename T>
void reduce_each(std::span<T> values, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  for (std::size_t first = 0; first < values.size(); first += most) {
    const auto part = static_cast<int>(std::min(most, values.size() - first));
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &values[first], part, type, op, comm), "MPI_Allreduce");
  }
}

template <typename T>
std::vector<T> gather_on_root(T value, MPI_Datatype type, const Comm& comm) {
  std::vector<T> all(comm.is_root() ? comm.size() : 0);
  check_mpi(MPI_Gather(&value, 1, type, all.data(), 1, type, 0, comm.get()), "MPI_Gather");
  return all;
}

}  // namespace

std::uint64_t Comm::sum(std::uint64_t value) const {
  return reduce_everywhere(value, MPI_UINT64_T, MPI_SUM, comm_);
}
std::uint64_t Comm::max(std::uint64_t value) const {
  return reduce_everywhere(value, MPI_UINT64_T, MPI_MAX, comm_);
}
std::uint64_t Comm::min(std::uint64_t value) const {
  return reduce_everywhere(value, MPI_UINT64_T, MPI_MIN, comm_);
}
double Comm::max(double value) const {
  return reduce_everywhere(value, MPI_DOUBLE, MPI_MAX, comm_);
}
double Comm::min(double value) const {
  return reduce_everywhere(value, MPI_DOUBLE, MPI_MIN, comm_);
}
bool Comm::any(bool value) const {
  return reduce_everywhere(value ? 1 : 0, MPI_INT, MPI_MAX, comm_) != 0;
}

void Comm::max(std::span<std::uint64_t> values) const {
  reduce_each(values, MPI_UINT64_T, MPI_MAX, comm_);
}
void Comm::bitwise_or(std::span<std::uint8_t> bytes) const {
  reduce_each(bytes, MPI_UINT8_T, MPI_BOR, comm_);
}

std::uint64_t Comm::sum_before(std::uint64_t value) const {
  std::uint64_t before = 0;
  check_mpi(MPI_Exscan(&value, &before, 1, MPI_UINT64_T, MPI_SUM, comm_), "MPI_Exscan");
  return is_root() ? 0 : before;  // MPI leaves rank 0's result undefined
}

std::vector<double> Comm::gather(double value) const {
  return gather_on_root(value, MPI_DOUBLE, *this);
}
std::vector<std::uint64_t> Comm::gather(std::uint64_t value) const {
  return gather_on_root(value, MPI_UINT64_T, *this);
}

std::vector<std::string> Comm::gather(const std::string& value) const {
  const int length = static_cast<int>(value.size());
  const std::vector<int> lengths = gather_on_root(length, MPI_INT, *this);
  std::vector<int> offsets;
  int total = 0;
  for (const int n : lengths) {
    offsets.push_back(total);
    total += n;
  }
  std::string joined(static_cast<std::size_t>(total), '\0');
  check_mpi(MPI_Gatherv(value.data(), length, MPI_CHAR, joined.data(), lengths.data(),
                        offsets.data(), MPI_CHAR, 0, comm_),
            "MPI_Gatherv");
  std::vector<std::string> all;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    all.push_back(joined.substr(offsets[i], lengths[i]));
  return all;
}

std::string Comm::broadcast(const std::string& value, int root) const {
  int length = static_cast<int>(value.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, root, comm_), "MPI_Bcast");
  std::string result = value;
  result.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Bcast(result.data(), length, MPI_CHAR, root, comm_), "MPI_Bcast");
  return result;
}

std::uint64_t Comm::broadcast(std::uint64_t value, int root) const {
  check_mpi(MPI_Bcast(&value, 1, MPI_UINT64_T, root, comm_), "MPI_Bcast");
  return value;
}

}  // namespace slabmark
