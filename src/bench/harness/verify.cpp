#include "bench/harness/verify.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/harness/cell_record.hpp"
#include "bench/method/format.hpp"
#include "bench/pattern/content.hpp"
#include "collective/exchange/flush_plan.hpp"
#include "collective/exchange/ranges.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

// Bytes read at once; bounds the memory of verification whatever the size of the file.
constexpr std::uint64_t read_limit = 4u << 20;

// Holes up to this many bytes between written runs are read along rather than skipped.
constexpr std::uint64_t bridge_limit = 64u << 10;

using Target = std::pair<std::size_t, std::uint64_t>;  // dataset, time

using SelectionsByTarget = std::map<Target, std::vector<SelectionPtr>>;

// All selections of this rank in one (dataset, time), over all rounds.
SelectionsByTarget selections_by_target(const Pattern& pattern) {
  SelectionsByTarget targets;
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    for (const Transfer& transfer : pattern.transfers(round)) {
      targets[{transfer.dataset, transfer.time}].push_back(transfer.file);
    }
  }
  return targets;
}

// Collective. The targets together that have the same selections on every rank: they share the
// runs, whose exchange is then done once, and one agreement. Between nodes these take longer than
// reading.
std::vector<std::vector<Target>> alike(const Comm& comm, const SelectionsByTarget& all) {
  std::map<std::vector<SelectionPtr>, std::size_t> first_with;
  std::vector<std::size_t> first_alike;
  for (const auto& [target, selections] : all) {
    first_alike.push_back(first_with.try_emplace(selections, first_alike.size()).first->second);
  }
  const std::vector<std::size_t> group_of = agreed_maps(comm, first_alike);
  std::vector<std::vector<Target>> groups;
  std::size_t i = 0;
  for (const auto& [target, selections] : all) {
    if (group_of[i] == groups.size()) groups.emplace_back();
    groups[group_of[i++]].push_back(target);
  }
  return groups;
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
      note(check_run(pattern_, dataset, time, run,
                     buffer_.data() + (run.offset - span.offset) * size_of(type)));
      checked += run.length;
    }
    batch.clear();
  }

  // Of all, whatever the order in which they are checked, the first in the file is told.
  void note(std::optional<Mismatch> found) {
    if (!found) return;
    const auto place = [](const Mismatch& one) {
      return std::tuple(one.dataset, one.time, one.element);
    };
    if (first && place(*found) < place(*first)) std::swap(found, first);
    add_mismatch(first, found);
  }

  const Pattern& pattern_;
  PlainReader& reader_;
  std::vector<std::byte> buffer_;
};

}  // namespace

FileCheck verify_file(const Comm& comm, FileFormat format, const Pattern& pattern,
                      const std::string& path) {
  return verify_file(comm, pattern, [&] { return info_of(format).open(comm, pattern, path); });
}

FileCheck verify_file(const Comm& comm, const Pattern& pattern,
                      const std::function<std::unique_ptr<PlainReader>()>& open) {
  std::unique_ptr<PlainReader> reader;
  agreed(comm, [&] { reader = open(); });

  Checker checker(pattern, *reader);
  const auto selections_of = selections_by_target(pattern);
  for (const auto& targets : alike(comm, selections_of)) {
    const auto total = element_count(pattern.datasets[targets.front().first].extent());
    const auto selected = sorted_runs(selections_of.at(targets.front()));
    const RunList in_my_range = runs_in_my_range(comm, selected, total);
    agreed(comm, [&] {
      for (const Target& target : targets) checker.check(target, in_my_range);
    });
  }

  FileCheck result;
  result.elements_checked = comm.sum(checker.checked);
  result.elements_wrong = comm.sum(checker.first ? checker.first->count : 0);
  result.first_mismatch = describe_agreed(comm, checker.first, pattern);
  return result;
}

}  // namespace slabmark
