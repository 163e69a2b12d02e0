#include "bench/verify.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "bench/cell_record.hpp"
#include "exchange/ranges.hpp"
#include "method/format.hpp"
#include "parallel/agree.hpp"
#include "pattern/content.hpp"

namespace slabmark {

namespace {

// Bytes read at once; bounds the memory of verification whatever the size of the file.
constexpr std::uint64_t read_limit = 4u << 20;

// Holes up to this many bytes between written runs are read along rather than skipped.
constexpr std::uint64_t bridge_limit = 64u << 10;

using Target = std::pair<std::size_t, std::uint64_t>;  // dataset, time

// All selections of this rank in one (dataset, time), over all rounds.
std::map<Target, std::vector<SelectionPtr>> selections_by_target(const Pattern& pattern) {
  std::map<Target, std::vector<SelectionPtr>> targets;
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    for (const Transfer& transfer : pattern.transfers(round)) {
      targets[{transfer.dataset, transfer.time}].push_back(transfer.file);
    }
  }
  return targets;
}

RunList sorted_runs(const std::vector<SelectionPtr>& selections) {
  RunList runs;
  for (const SelectionPtr& selection : selections) {
    selection->for_each_run([&](Run run) { runs.push_back(run); });
  }
  sort_runs(runs);
  coalesce(runs);
  return runs;
}

class Checker {
 public:
  Checker(const Pattern& pattern, PlainReader& reader) : pattern_(pattern), reader_(reader) {}

  void check(const Target& target, const RunList& runs) {
    const ElementType type = pattern_.datasets[target.first].type;
    const std::uint64_t size = size_of(type);
    // Long runs are checked in pieces, short ones are read together.
    RunList batch;
    for (const Run& run : runs) {
      for (std::uint64_t at = run.offset; at < run.end();) {
        const Run part{at, std::min(run.end() - at, read_limit / size)};
        const bool fits =
            batch.empty() || ((part.offset - batch.back().end()) * size <= bridge_limit &&
                              (part.end() - batch.front().offset) * size <= read_limit);
        if (!fits) check_batch(target, batch);
        batch.push_back(part);
        at = part.end();
      }
    }
    check_batch(target, batch);
  }

  std::uint64_t checked = 0;
  std::optional<Mismatch> first;

 private:
  void check_batch(const Target& target, RunList& batch) {
    if (batch.empty()) return;
    const auto [dataset, time] = target;
    const ElementType type = pattern_.datasets[dataset].type;
    const Run span{batch.front().offset, batch.back().end() - batch.front().offset};
    buffer_.resize(span.length * size_of(type));
    reader_.read(dataset, time, span, buffer_.data());
    for (const Run& run : batch) {
      add_mismatch(first, check_run(pattern_, dataset, time, run,
                                    buffer_.data() + (run.offset - span.offset) * size_of(type)));
      checked += run.length;
    }
    batch.clear();
  }

  const Pattern& pattern_;
  PlainReader& reader_;
  std::vector<std::byte> buffer_;
};

}  // namespace

FileCheck verify_file(const Comm& comm, FileFormat format, const Pattern& pattern,
                      const std::string& path) {
  std::unique_ptr<PlainReader> reader;
  agreed(comm, [&] { reader = info_of(format).open(comm, pattern, path); });

  Checker checker(pattern, *reader);
  // Datasets that share their selections share the runs too, and the exchange is done once.
  std::vector<SelectionPtr> previous;
  RunList in_my_range;
  for (const auto& [target, selections] : selections_by_target(pattern)) {
    if (comm.any(previous.empty() || selections != previous)) {
      const std::uint64_t total = element_count(pattern.datasets[target.first].extent());
      in_my_range = runs_in_my_range(comm, sorted_runs(selections), total);
      previous = selections;
    }
    agreed(comm, [&] { checker.check(target, in_my_range); });
  }

  FileCheck result;
  result.elements_checked = comm.sum(checker.checked);
  result.elements_wrong = comm.sum(checker.first ? checker.first->count : 0);
  result.first_mismatch = describe_agreed(comm, checker.first, pattern);
  return result;
}

}  // namespace slabmark
