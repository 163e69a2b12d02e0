#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/pattern/workload/workload.hpp"
#include "core/command_line/command_line.hpp"
#include "core/json/json.hpp"

namespace slabmark::bench_program {

/// The command that lists the workloads with what they move, in sizes and on ranks of the user's
/// choice.
class WorkloadList {
 public:
  explicit WorkloadList(Command& root);

  Command& command() { return *command_; }

  struct Row {
    const Workload* workload = nullptr;
    WorkloadSizes sizes;
    WorkloadVolume volume;
    std::string unsupported_reason;  ///< why these sizes or ranks make no workload; empty: they do
  };

  /// After parsing.
  std::vector<Row> rows() const;
  std::string text(const std::vector<Row>& rows) const;
  Json description(const std::vector<Row>& rows) const;

 private:
  Command* command_;
  std::uint64_t ranks_ = 4;
  WorkloadSizes given_;
  std::vector<std::function<void(WorkloadSizes&)>> enter_given_;
};

}  // namespace slabmark::bench_program
