#if SLABMARK_WITH_PNETCDF

#include "bench/map/netcdf_input.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "storage/mpiio/implementation.hpp"

namespace slabmark {

namespace {

// What one collective call reads: 32 MiB in memory, far below the 2 GiB that PnetCDF 1.12 can move
// at once, and large enough that the maps at hand take a single call.
constexpr std::uint64_t values_per_call = std::uint64_t{1} << 22;

std::uint64_t checked_header(const Comm& comm, const std::string& path) {
  std::uint64_t bytes = 0;
  agreed(comm, [&] {
    if (!comm.is_root()) return;
    mpiio::require_path_for_mpi_io(path);
    bytes = check_classic_header(path);
  });
  return comm.broadcast(bytes);
}

pnetcdf::File open_file(const Comm& comm, const std::string& path) {
  try {
    return pnetcdf::File::open(comm.get(), path);
  } catch (const pnetcdf::CallError& error) {
    throw InputError(error.what());
  }
}

std::uint64_t pieces(std::uint64_t count, std::uint64_t of) { return (count + of - 1) / of; }

}  // namespace

NetcdfInput::NetcdfInput(const Comm& comm, const std::string& path)
    : comm_(comm),
      path_(path),
      file_bytes_(checked_header(comm, path)),
      file_(open_file(comm, path)) {}

void NetcdfInput::fail(const std::string& what) const {
  throw InputError(fmt::format("\"{}\" is no sound decomposition: {}.", path_, what));
}

std::uint64_t NetcdfInput::dimension(const std::string& name) const {
  if (!has_dimension(name)) fail(fmt::format("the dimension {} is missing", name));
  return file_.inq_dimlen(file_.inq_dimid(name));
}

std::uint64_t NetcdfInput::ranks(const std::string& name) const {
  const std::uint64_t length = dimension(name);
  if (length == 0) fail("it claims to hold 0 ranks");
  return length;
}

bool NetcdfInput::has_attribute(const std::string& name) const {
  return file_.inq_attlen(NC_GLOBAL, name).has_value();
}

std::vector<long long> NetcdfInput::attribute(const std::string& name) const {
  if (!has_attribute(name)) fail(fmt::format("the global attribute {} is missing", name));
  std::vector<long long> values;
  try {
    values = file_.get_att(NC_GLOBAL, name);
  } catch (const pnetcdf::CallError&) {
    fail(fmt::format("the global attribute {} is no whole number", name));
  }
  if (values.empty()) fail(fmt::format("the global attribute {} has no value", name));
  return values;
}

Extent NetcdfInput::extent_attribute(const std::string& name) const {
  Extent extent;
  for (const long long length : attribute(name)) {
    if (length <= 0) fail(fmt::format("the global attribute {} has a length of {}", name, length));
    extent.push_back(static_cast<std::uint64_t>(length));
  }
  return extent;
}

NetcdfInput::Variable NetcdfInput::variable(const std::string& name, const Extent& extent) const {
  if (!has_variable(name)) fail(fmt::format("the variable {} is missing", name));
  const int id = file_.inq_varid(name);
  const pnetcdf::VariableInfo info = file_.inq_var(id);
  if (info.type != NC_INT && info.type != NC_INT64) {
    fail(fmt::format("the variable {} is not of type int or int64", name));
  }
  Extent found;
  for (const int dim : info.dimensions) found.push_back(file_.inq_dimlen(dim));
  if (found != extent) {
    fail(fmt::format("the variable {} is {} where {} is expected", name, to_string(found),
                     to_string(extent)));
  }
  return {name, id, info.type, extent};
}

void NetcdfInput::require_elements(const Variable& variable, std::uint64_t elements) const {
  const std::uint64_t bytes = variable.type == NC_INT ? 4 : 8;
  const std::uint64_t begin = file_.inq_varoffset(variable.id);
  if (begin <= file_bytes_ && elements <= (file_bytes_ - begin) / bytes) return;
  throw InputError(
      fmt::format("\"{}\" is truncated: its variable {} has {} elements from byte {} on, and the "
                  "file ends at {}; "
                  "copy or make it again.",
                  path_, variable.name, elements, begin, file_bytes_));
}

void NetcdfInput::get(const Variable& variable, const Extent& start, const Extent& count,
                      std::span<long long> values) const {
  const std::vector<MPI_Offset> starts(start.begin(), start.end());
  const std::vector<MPI_Offset> counts(count.begin(), count.end());
  const auto elements = static_cast<MPI_Offset>(values.size());
  // Left to PnetCDF, the widening takes a second buffer and several times as long.
  const bool is_narrow = variable.type == NC_INT;
  if (is_narrow) narrow_.resize(values.size());
  void* const target = is_narrow ? static_cast<void*>(narrow_.data()) : values.data();
  agreed(comm_, [&] {
    file_.get_vara_all(variable.id, starts.data(), counts.data(), target, elements,
                       is_narrow ? MPI_INT : MPI_LONG_LONG_INT);
  });
  if (is_narrow) std::copy(narrow_.begin(), narrow_.end(), values.begin());
}

std::vector<long long> NetcdfInput::read_whole(const Variable& variable) const {
  return read_range(variable, 0, variable.extent.front());
}

std::vector<long long> NetcdfInput::read_range(const Variable& variable, std::uint64_t start,
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

void NetcdfInput::read_rows(const Variable& variable, Run block, const RowVisitor& visit) const {
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

#endif  // SLABMARK_WITH_PNETCDF
