// Datasets put together from the log, by all ranks: each reads a part of the log in large pieces,
// sends the elements to those who own them, and writes its own range of the dataset.
#include <optional>
#include <utility>
#include <vector>

#include "exchange/range_plan.hpp"
#include "logvol/log_file.hpp"
#include "parallel/agree.hpp"

namespace slabmark::logvol {

namespace {

// Large enough for a file system, small enough for what is kept of each hyperslab in it.
constexpr std::uint64_t window_bytes = 4 << 20;

}  // namespace

void LogFile::agreed(const std::function<void()>& stage) const {
  if (comm_) {
    slabmark::agreed(*comm_, stage);
  } else {
    stage();
  }
}

LogShare LogFile::share(std::span<LogDataset* const> datasets) {
  return {raw_, indices_, datasets, static_cast<std::uint64_t>(rank()),
          static_cast<std::uint64_t>(ranks())};
}

LogDataset LogFile::own_part(const LogShare& share, const LogDataset& dataset) const {
  std::optional<LogDataset> part;
  agreed([&] { part.emplace(share.part_of(dataset)); });
  return std::move(*part);
}

void LogFile::assemble(LogDataset& part, posix::File& target, std::uint64_t address) {
  const auto& runs = part.flushed();
  const auto size = part.element_bytes();
  const RangePlan plan(comm_.get(), elements_of(runs), element_count(part.extent()));
  plan.move(
      part.fill(), window_bytes,
      [&](std::span<const Run> wanted, std::byte* packed) {
        auto wishes = wishes_of(wanted, packed, size);
        LogRuns granted;
        std::vector<std::byte*> targets;
        look_up(runs, size, wishes, granted, targets);
        fetch(granted, targets, part);
      },
      [&](Run window, const std::byte* elements) {
        const auto at = address + window.offset * size;
        if (journal_) journal_->protect(at, window.length * size);  // it may be the file itself
        target.write_at(at, elements, window.length * size);
      });
}

}  // namespace slabmark::logvol
