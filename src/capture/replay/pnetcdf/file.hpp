#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <mpi.h>

#include "capture/read/pattern_file.hpp"
#include "core/json/json.hpp"

namespace slabmark {

/// A file of the captured program that is open again, with its variables and requests by the
/// numbers that the recorded rank gave them.
class ReplayedNetcdf {
 public:
  /// `rank` is this process's, for messages.
  ReplayedNetcdf(int id, std::string path, int rank, const RankReader& recorded)
      : id_(id), path_(std::move(path)), rank_(rank), recorded_(recorded) {}

  int id() const { return id_; }
  /// Throws pnetcdf::CallError if `code` is not NC_NOERR.
  void check(int code, const char* call) const;

  /// The program defines this dataset before it leaves define mode.
  void add_definition(std::uint64_t dataset) { to_define_.push_back(dataset); }
  /// Makes all definitions that precede the end of define mode, which `end` records.
  void define(const CapturedEvent& end);
  void put_attributes_of(std::uint64_t dataset);

  int variable(std::uint64_t dataset);
  MPI_Offset offset_of(std::uint64_t dataset);  ///< of its variable in the file, in bytes

  void add_request(std::uint64_t number, int request) { requests_[number] = request; }
  /// PnetCDF's requests of those numbers, which are no longer pending.
  std::vector<int> take_requests(const std::vector<std::uint64_t>& numbers);
  void forget_requests() { requests_.clear(); }

 private:
  void define_dimensions(const Json& dimensions);
  void define_variable(std::uint64_t dataset);
  void put_attributes(int variable, const Json& attributes);

  int id_;
  std::string path_;
  int rank_;
  const RankReader& recorded_;
  std::vector<std::uint64_t> to_define_;
  std::map<std::uint64_t, int> variables_;  ///< by dataset
  std::map<std::uint64_t, int> requests_;
};

}  // namespace slabmark
