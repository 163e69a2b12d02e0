#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <mpi.h>

#include "method/method.hpp"
#include "storage/pnetcdf/file.hpp"

namespace slabmark {

/// Element type of a dataset as PnetCDF wants it in memory.
MPI_Datatype mpi_type_of(ElementType type);

/// Defines the pattern's datasets as variables of `file`, in order, and returns their identifiers.
/// Dimensions of the same name and length are shared; one that meets an earlier one of another
/// length gets its length appended ("ncol_48602"). The unlimited dimension is called "time".
std::vector<int> define_variables(pnetcdf::File& file, const Pattern& pattern);

/// What the PnetCDF methods share: a CDF-5 file, with the hints of the original e3sm_io unless the
/// user says otherwise, and the report of what the library did.
///
/// The hint nc_in_place_swap lets PnetCDF swap the bytes of the caller's buffers from post to flush
/// (it swaps them back), so the buffers of one flush must not overlap.
class PnetcdfMethod : public Method {
 public:
  void create(const std::string& path) override;
  void define() override;
  void open(const std::string& path) override;
  void sync() override;
  void inspect() override;
  void close() override;
  nlohmann::json effective() const override;

 protected:
  explicit PnetcdfMethod(const MethodContext& context);

  bool writing() const { return context_.direction == Direction::write; }
  pnetcdf::File& file() { return *file_; }
  int variable(std::size_t dataset) const { return variables_[dataset]; }
  std::uint64_t call_bytes() const { return call_bytes_; }
  void count_calls(const char* call, std::uint64_t count) { calls_[call] += count; }
  void count_call(const char* call) { count_calls(call, 1); }

  MethodContext context_;

 private:
  std::optional<pnetcdf::File> file_;
  std::vector<int> variables_;
  std::uint64_t call_bytes_;
  std::map<std::string, std::uint64_t> calls_;
  nlohmann::json at_close_;
};

}  // namespace slabmark
