#include "program/slice_eval/measure.hpp"

#include <memory>

#include <fmt/format.h>

#include "measure/order.hpp"
#include "program/slice_eval/runner.hpp"

namespace slabmark::slice_eval {

namespace {

constexpr std::string_view limit = "gatherv";

Slice slice_of(const Options& options, bool strided) {
  auto all = whole_field(options.grid);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    all.ranges[axis].stride = strided ? options.stride[axis] : 1;
  }
  return plane_of(all, options.normal, options.position);
}

/// Evicts the fields from the caches, as the simulation's own work would.
class Sweep {
 public:
  explicit Sweep(std::uint64_t bytes) : memory_(bytes / sizeof(double), 1.0) {}
  void run() {
    for (auto& value : memory_) value += 1.0;
  }

 private:
  std::vector<double> memory_;
};

std::vector<Row> rows_asked_for(const Options& options) {
  std::vector<Row> rows;
  for (const auto& method : options.methods) {
    for (const bool strided : {false, true}) {
      if (!strided && copies_first(method)) continue;
      Row row;
      row.method = method;
      row.strided = strided;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// The limit's figures beside those of the ways that wrote the same bytes.
void enter_bounds(std::vector<Row>& rows) {
  for (const auto& bound : rows) {
    if (bound.method != limit) continue;
    const auto seconds = bound.record.summary.open_to_close.seconds.median;
    for (auto& row : rows) {
      const auto own = row.record.summary.open_to_close.seconds.median;
      if (row.method == limit || row.strided != bound.strided || own == 0) continue;
      row.record.bounds.push_back(
          {bound.method, bound.record.pattern.bytes, seconds, seconds / own});
    }
  }
}

}  // namespace

std::vector<Row> measure(const Comm& comm, const Options& options, Fields& fields) {
  auto rows = rows_asked_for(options);
  std::vector<std::unique_ptr<Runner>> runners;
  std::vector<std::size_t> row_of;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto& row = rows[i];
    const auto stem = fmt::format("{}/slice_eval_{}_{}", options.directory, row.method,
                                  row.strided ? "strided" : "plain");
    const WayContext context{comm, options, fields, slice_of(options, row.strided), stem};
    row.record = begin_record(row.method, context, rows.size());
    row.record.unsupported = reason_against(row.method, context);
    if (!row.record.unsupported.empty()) continue;
    runners.push_back(std::make_unique<Runner>(row, context));
    row_of.push_back(i);
  }
  Sweep sweep(options.sweep);
  TrialOrder order(runners.size(), options.run.seed);
  for (std::uint64_t round = 0; round <= options.outputs; ++round) {
    std::uint64_t position = 0;
    for (const auto i : order.next_round()) {
      for (std::uint64_t n = 0; n < options.computations; ++n) fields.compute();
      sweep.run();
      runners[i]->output(round, position++);
    }
  }
  for (std::size_t i = 0; i < runners.size(); ++i) rows[row_of[i]] = runners[i]->finish();
  if (comm.is_root()) enter_bounds(rows);
  return rows;
}

}  // namespace slabmark::slice_eval
