#include "program/slabmark-blob/convert.hpp"

#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "bench/buffers.hpp"
#include "method/raw/blob_file.hpp"
#include "parallel/agree.hpp"
#include "storage/mpiio/trial_file.hpp"

namespace slabmark::blob_program {

namespace {

/// The file as a pattern: in each round, every recorded rank's part of a dataset is a transfer of
/// its own. All ranks have the same number of them, as many as the one with the most parts.
class Content {
 public:
  Content(const Comm& comm, const std::string& path) : file_(path) {
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    const auto size = static_cast<std::uint64_t>(comm.size());
    const Run mine = equal_range(file_.ranks(), rank, size);
    slots_ = (file_.ranks() + size - 1) / size;
    for (std::uint64_t r = mine.offset; r < mine.end(); ++r) parts_.push_back(file_.index(r));
    // Rank 0 of the recorded run may have what no other has, so nobody's own list is complete.
    std::map<std::uint64_t, std::map<Target, bool>> seen;
    for (std::uint64_t r = 0; r < file_.ranks(); ++r) {
      for (const auto& entry : file_.index(r).entries) {
        seen[entry.round][{entry.dataset, entry.time}] = true;
      }
    }
    for (const auto& [round, targets] : seen) {
      for (const auto& [target, unused] : targets) targets_[round].push_back(target);
    }
  }

  Pattern pattern() {
    Pattern pattern = file_.description();
    pattern.transfers = [this](std::uint64_t round) {
      std::vector<Transfer> transfers;
      for (std::uint64_t slot = 0; slot < slots_; ++slot) {
        for (const Target& target : targets_[round])
          transfers.push_back(transfer(slot, round, target));
      }
      return transfers;
    };
    return pattern;
  }

  void read(const Pattern& pattern, std::uint64_t round, std::span<std::byte* const> buffers) {
    std::size_t i = 0;
    for (std::uint64_t slot = 0; slot < slots_; ++slot) {
      for (const Target& target : targets_[round]) {
        const auto* entry = find(slot, round, target);
        const auto bytes = size_of(pattern.datasets[target.first].type);
        if (entry != nullptr) {
          file_.read(entry->offset, buffers[i],
                     total_length(parts_[slot].maps[entry->map]) * bytes);
        }
        ++i;
      }
    }
  }

 private:
  using Target = std::pair<std::uint64_t, std::uint64_t>;  // dataset, time

  const BlobIndex::Entry* find(std::uint64_t slot, std::uint64_t round, const Target& target) {
    if (slot >= parts_.size()) return nullptr;
    auto& known = entry_of_[{slot, round}];
    if (known.empty()) {
      for (const auto& entry : parts_[slot].entries) {
        if (entry.round == round) known[{entry.dataset, entry.time}] = &entry;
      }
    }
    const auto found = known.find(target);
    return found == known.end() ? nullptr : found->second;
  }

  Transfer transfer(std::uint64_t slot, std::uint64_t round, const Target& target) {
    const Extent extent = file_.description().datasets[target.first].extent();
    const auto* entry = find(slot, round, target);
    auto& selection = selections_[{slot, entry == nullptr ? no_map : entry->map, extent}];
    if (selection) return {target.first, target.second, selection, nullptr};
    if (entry == nullptr) {
      selection = select_none(extent);
    } else if (extent.empty()) {
      selection = select_all(extent);
    } else {
      selection =
          select_row_runs(extent, split_at_rows(parts_[slot].maps[entry->map], extent.back()));
    }
    return {target.first, target.second, selection, nullptr};
  }

  static constexpr std::uint64_t no_map = ~std::uint64_t{0};

  BlobFile file_;
  std::uint64_t slots_ = 0;
  std::vector<BlobIndex> parts_;  ///< of the recorded ranks that this rank stands for
  std::map<std::uint64_t, std::vector<Target>> targets_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<Target, const BlobIndex::Entry*>>
      entry_of_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, Extent>, SelectionPtr> selections_;
};

}  // namespace

void convert(const Comm& comm, const std::string& input, const std::string& output,
             const MethodInfo& info, const Settings& settings, PhaseClock& clock) {
  std::unique_ptr<Content> content;
  agreed(comm, [&] { content = std::make_unique<Content>(comm, input); });
  const Pattern pattern = content->pattern();
  agreed(comm, [&] {
    if (const auto reason = info.supports(pattern, settings)) {
      throw InputError(fmt::format("Method {} cannot write '{}': {}.", info.name, input, *reason));
    }
  });
  mpiio::TrialFile file(comm, output);
  const auto method = info.make({comm, pattern, Direction::write, settings, clock});
  clock.time(Phase::create, [&] { method->create(output); });
  clock.time(Phase::define, [&] { method->define(); });
  clock.time(Phase::prepare, [&] { method->prepare(); });
  Buffers buffers;
  agreed(comm, [&] { buffers.fit(pattern); });
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    const auto memory = buffers.lay_out(pattern, pattern.transfers(round));
    clock.time(Phase::post, [&] {
      content->read(pattern, round, memory);
      method->post(round, memory);
    });
    clock.time(Phase::flush, [&] { method->flush(); });
  }
  clock.time(Phase::close, [&] { method->close(); });
  file.keep();
}

}  // namespace slabmark::blob_program
