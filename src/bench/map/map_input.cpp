#include "bench/map/map_input.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

// The bytes of one collective read: 32 MiB in memory, far below the 2 GiB that PnetCDF 1.12 can
// move at once, and large enough that the maps at hand take a single call.
constexpr std::uint64_t values_per_call = std::uint64_t{1} << 22;

std::uint64_t pieces(std::uint64_t count, std::uint64_t of) { return (count + of - 1) / of; }

}  // namespace

void MapInput::fail(const std::string& what) const {
  throw InputError(fmt::format("\"{}\" is no sound decomposition: {}.", path_, what));
}

void MapInput::fail_truncated(const Variable& variable, std::uint64_t elements, std::uint64_t begin,
                              std::uint64_t file_bytes) const {
  throw InputError(
      fmt::format("\"{}\" is truncated: its variable {} has {} elements from byte {} on, and the "
                  "file ends at {}; "
                  "copy or make it again.",
                  path_, variable.name, elements, begin, file_bytes));
}

std::uint64_t MapInput::dimension(const std::string& name) const {
  const auto length = find_dimension(name);
  if (!length) fail(fmt::format("the dimension {} is missing", name));
  return *length;
}

std::uint64_t MapInput::ranks(const std::string& name) const {
  const std::uint64_t length = dimension(name);
  if (length == 0) fail("it claims to hold 0 ranks");
  return length;
}

std::vector<long long> MapInput::attribute(const std::string& name) const {
  const auto values = find_attribute(name);
  if (!values) fail(fmt::format("the global attribute {} is missing", name));
  if (values->empty()) fail(fmt::format("the global attribute {} is no whole number", name));
  return *values;
}

Extent MapInput::extent_attribute(const std::string& name) const {
  Extent extent;
  for (const long long length : attribute(name)) {
    if (length <= 0) fail(fmt::format("the global attribute {} has a length of {}", name, length));
    extent.push_back(static_cast<std::uint64_t>(length));
  }
  return extent;
}

MapInput::Variable MapInput::variable(const std::string& name, const Extent& extent) const {
  if (!has_variable(name)) fail(fmt::format("the variable {} is missing", name));
  Variable found = find_variable(name);
  if (found.bytes_each == 0) {
    fail(fmt::format("the variable {} is not of type int or int64", name));
  }
  if (found.extent != extent) {
    fail(fmt::format("the variable {} is {} where {} is expected", name, to_string(found.extent),
                     to_string(extent)));
  }
  return found;
}

void MapInput::get(const Variable& variable, const Extent& start, const Extent& count,
                   std::span<long long> values) const {
  agreed(comm_, [&] { read_box(variable, start, count, values); });
}

std::vector<long long> MapInput::read_whole(const Variable& variable) const {
  return read_range(variable, 0, variable.extent.front());
}

std::vector<long long> MapInput::read_range(const Variable& variable, std::uint64_t start,
                                            std::uint64_t count) const {
  std::vector<long long> values(count);
  const std::uint64_t calls = comm_.max(pieces(count, values_per_call));
  for (std::uint64_t call = 0; call < calls; ++call) {
    const std::uint64_t done = std::min(call * values_per_call, count);
    const std::uint64_t now = std::min(values_per_call, count - done);
    get(variable, {now > 0 ? start + done : 0}, {now}, std::span(values).subspan(done, now));
  }
  return values;
}

void MapInput::read_rows(const Variable& variable, Run block, const RowVisitor& visit) const {
  const std::uint64_t columns = variable.extent[1];
  if (columns == 0) return;
  const std::uint64_t columns_a_call = std::min(columns, values_per_call);
  const std::uint64_t rows_a_call = std::max<std::uint64_t>(1, values_per_call / columns);
  const std::uint64_t calls_a_row = pieces(columns, columns_a_call);
  const std::uint64_t calls = comm_.max(pieces(block.length, rows_a_call) * calls_a_row);

  Attempt attempt;  // a rank that finds a fault still takes part in the calls of the others
  std::vector<long long> values;
  for (std::uint64_t call = 0; call < calls; ++call) {
    const std::uint64_t row = std::min(call / calls_a_row * rows_a_call, block.length);
    const std::uint64_t rows = std::min(rows_a_call, block.length - row);
    const std::uint64_t column = call % calls_a_row * columns_a_call;
    const std::uint64_t width = std::min(columns_a_call, columns - column);
    values.resize(rows * width);
    get(variable, {rows > 0 ? block.offset + row : 0, rows > 0 ? column : 0}, {rows, width},
        values);
    attempt.run([&] {
      for (std::uint64_t i = 0; i < rows; ++i) {
        visit(block.offset + row + i, column, std::span(values).subspan(i * width, width));
      }
    });
  }
  agree(comm_, attempt.failure());
}

}  // namespace slabmark
