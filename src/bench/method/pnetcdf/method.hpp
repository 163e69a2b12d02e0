#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <mpi.h>

#include "bench/method/pnetcdf/info.hpp"
#include "bench/method/shared/typed_memory.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/pnetcdf/file.hpp"

namespace slabmark {

/// Defines the pattern's datasets as variables of `file` (define_netcdf()), and returns their
/// identifiers.
std::vector<int> define_variables(pnetcdf::File& file, const Pattern& pattern);
/// The same in a file that has them.
std::vector<int> find_variables(pnetcdf::File& file, const Pattern& pattern);

/// What the PnetCDF methods share: a CDF-5 file, with the hints of the original e3sm_io unless the
/// user says otherwise, and the report of what the library did.
///
/// The hint nc_in_place_swap lets PnetCDF swap the bytes of the caller's buffers from post to flush
/// (it swaps them back), so the buffers of one flush must not overlap.
class PnetcdfMethod : public Method {
 public:
  /// `hints` are those of the method, which the user's override.
  PnetcdfMethod(const MethodContext& context, PnetcdfOptions options, mpiio::Hints hints = {})
      : Method(context), options_(options), own_hints_(std::move(hints)) {}

  void create(const std::string& path) override;
  void define() override;
  void open(const std::string& path) override;
  void sync() override;
  void inspect() override;
  void close() override;
  Json effective() const override;

 protected:
  pnetcdf::File& file() { return *file_; }
  int variable(std::size_t dataset) const { return variables_[dataset]; }

  /// One call that moves `memory`: `put` or `get`, functions of pnetcdf::File whose last arguments
  /// are a memory.
  template <class Put, class Get, class... Where>
  void move(Put put, Get get, const TypedMemory& memory, const Where&... where) {
    if (writing()) {
      (*file_.*put)(where..., memory.address, memory.count, memory.type);
    } else {
      (*file_.*get)(where..., memory.address, memory.count, memory.type);
    }
  }
  /// `put` and `get` are the names of the calls.
  void count_calls(const char* put, const char* get, std::uint64_t count = 1) {
    calls_[writing() ? put : get] += count;
  }

  const PnetcdfOptions options_;

 private:
  mpiio::Hints hints() const;

  const mpiio::Hints own_hints_;
  std::optional<pnetcdf::File> file_;
  std::vector<int> variables_;
  std::map<std::string, std::uint64_t> calls_;
  Json at_close_;
};

template <class Class>
std::unique_ptr<Method> make_pnetcdf(const MethodContext& context) {
  return std::make_unique<Class>(context, pnetcdf_options("any").read(context.settings));
}

}  // namespace slabmark
