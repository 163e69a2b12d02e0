#if SLABMARK_WITH_PNETCDF

#include "bench/map/netcdf_output.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/mpiio/implementation.hpp"

namespace slabmark {

namespace {

pnetcdf::File create(const std::string& path, int mode) {
  mpiio::require_path_for_mpi_io(path);
  return pnetcdf::File::create(MPI_COMM_SELF, path, mode);
}

// CDF-1 keeps the positions of variables in 31 bits; the header takes a few KiB of them.
constexpr std::uint64_t most_bytes_of_cdf1 = (std::uint64_t{1} << 31) - (std::uint64_t{1} << 20);
constexpr std::uint64_t largest_int = std::numeric_limits<std::int32_t>::max();

std::vector<long long> signed_values(const Extent& values) {
  return {values.begin(), values.end()};
}

}  // namespace

NetcdfOutput::NetcdfOutput(const std::string& path, std::uint64_t largest, std::uint64_t values)
    : value_bytes_(largest <= largest_int ? 4 : 8),
      version_(value_bytes_ == 4 && 4 * values <= most_bytes_of_cdf1 ? 1 : 5),
      type_(value_bytes_ == 4 ? NC_INT : NC_INT64),
      target_(path, value_bytes_ * values),
      file_(create(target_.written_as(), NC_CLOBBER | (version_ == 5 ? NC_64BIT_DATA : 0))) {}

int NetcdfOutput::define_dimension(const std::string& name, std::uint64_t length) {
  lengths_.push_back(length);
  return file_.def_dim(name, length);
}

int NetcdfOutput::define_variable(const std::string& name, const std::vector<int>& dimensions) {
  const int id = file_.def_var(name, type_, dimensions);
  std::uint64_t bytes = value_bytes_;
  for (const int dimension : dimensions) bytes *= lengths_[static_cast<std::size_t>(dimension)];
  variables_.push_back({id, bytes});
  return id;
}

void NetcdfOutput::put_attribute(int variable, const std::string& name, const Extent& values) {
  file_.put_att(variable, name, type_, signed_values(values));
}

void NetcdfOutput::put_attribute(int variable, const std::string& name, const std::string& text) {
  file_.put_att_text(variable, name, text);
}

void NetcdfOutput::put(int variable, const Extent& start, const Extent& count,
                       std::span<const long long> values) {
  if (values.empty()) return;
  const std::vector<MPI_Offset> starts(start.begin(), start.end());
  const std::vector<MPI_Offset> counts(count.begin(), count.end());
  file_.put_vara_all(variable, starts.data(), counts.data(), values.data(),
                     static_cast<MPI_Offset>(values.size()), MPI_LONG_LONG_INT);
}

std::uint64_t NetcdfOutput::finish() {
  std::uint64_t end = file_.inq_header_size();
  for (const Variable& variable : variables_) {
    end = std::max(end, file_.inq_varoffset(variable.id) + variable.bytes);
  }
  file_.close();
  target_.commit(end);
  return end;
}

void ColumnWriter::flush() {
  output_.put(variable_, {written_}, {pending_.size()}, pending_);
  written_ += pending_.size();
  pending_.clear();
}

}  // namespace slabmark

#endif  // SLABMARK_WITH_PNETCDF
