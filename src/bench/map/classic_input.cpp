#if SLABMARK_WITH_PNETCDF

#include <algorithm>

#include "bench/map/map_input.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "storage/mpiio/implementation.hpp"
#include "storage/pnetcdf/file.hpp"

namespace slabmark {

namespace {

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

class ClassicInput final : public MapInput {
 public:
  ClassicInput(const Comm& comm, const std::string& path)
      : MapInput(comm, path),
        file_bytes_(checked_header(comm, path)),
        file_(open_file(comm, path)) {}

  std::string format() const override { return "NetCDF"; }

  bool has_variable(const std::string& name) const override { return file_.has_var(name); }

  void require_elements(const Variable& variable, std::uint64_t elements) const override {
    const std::uint64_t begin = file_.inq_varoffset(file_.inq_varid(variable.name));
    if (begin <= file_bytes_ && elements <= (file_bytes_ - begin) / variable.bytes_each) return;
    fail_truncated(variable, elements, begin, file_bytes_);
  }

 protected:
  Variable find_variable(const std::string& name) const override {
    const pnetcdf::VariableInfo info = file_.inq_var(file_.inq_varid(name));
    Variable found{name, info.type == NC_INT ? 4U : info.type == NC_INT64 ? 8U : 0U, {}};
    for (const int dim : info.dimensions) found.extent.push_back(file_.inq_dimlen(dim));
    return found;
  }

  std::optional<std::uint64_t> find_dimension(const std::string& name) const override {
    if (!file_.has_dim(name)) return std::nullopt;
    return file_.inq_dimlen(file_.inq_dimid(name));
  }

  std::optional<std::vector<long long>> find_attribute(const std::string& name) const override {
    if (!file_.inq_attlen(NC_GLOBAL, name)) return std::nullopt;
    try {
      return file_.get_att(NC_GLOBAL, name);
    } catch (const pnetcdf::CallError&) {
      return std::vector<long long>();
    }
  }

  void read_box(const Variable& variable, const Extent& start, const Extent& count,
                std::span<long long> values) const override {
    const std::vector<MPI_Offset> starts(start.begin(), start.end());
    const std::vector<MPI_Offset> counts(count.begin(), count.end());
    const auto elements = static_cast<MPI_Offset>(values.size());
    // Left to PnetCDF, the widening takes a second buffer and several times as long.
    const bool is_narrow = variable.bytes_each == 4;
    if (is_narrow) narrow_.resize(values.size());
    void* const target = is_narrow ? static_cast<void*>(narrow_.data()) : values.data();
    file_.get_vara_all(file_.inq_varid(variable.name), starts.data(), counts.data(), target,
                       elements, is_narrow ? MPI_INT : MPI_LONG_LONG_INT);
    if (is_narrow) std::copy(narrow_.begin(), narrow_.end(), values.begin());
  }

 private:
  std::uint64_t file_bytes_;
  pnetcdf::File file_;
  mutable std::vector<int> narrow_;  ///< what a call read of a 32-bit variable
};

}  // namespace

std::unique_ptr<MapInput> open_classic_input(const Comm& comm, const std::string& path) {
  return std::make_unique<ClassicInput>(comm, path);
}

}  // namespace slabmark

#endif  // SLABMARK_WITH_PNETCDF
