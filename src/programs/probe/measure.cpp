#include "programs/probe/measure.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "bench/measure/record_gather.hpp"
#include "core/base/error.hpp"
#include "core/base/mixing.hpp"
#include "core/base/progress_line.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/deadline.hpp"

namespace slabmark::probe {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const Comm& comm, const std::string& parent, bool overwrite)
    : path_((fs::path(parent) / "slabmark-probe").string()), guard_(path_) {
  agreed(comm, [&] {
    if (!comm.is_root()) return;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path_, error);
    if (fs::exists(status) && !(overwrite && fs::is_directory(status))) {
      throw InputError(fmt::format(
          "'{}' is there already: another run works in it, or was killed; wait for that, remove it "
          "(--overwrite does that with a folder), or choose another with -d.",
          path_));
    }
    if (fs::exists(status)) fs::remove_all(path_, error);
    if (!error || error == std::errc::no_such_file_or_directory) {
      is_made_ = fs::create_directory(path_, error);
    }
    if (is_made_) return;
    throw InputError(fmt::format("The folder '{}' cannot be made ({}); choose another with -d.",
                                 path_, error.message()));
  });
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (is_made_) fs::remove_all(path_, ignored);
}

std::vector<std::byte> content(std::uint64_t seed, std::uint64_t bytes) {
  std::vector<std::byte> made(bytes);
  std::uint64_t word = (seed + 1) * golden_gamma;
  for (std::size_t i = 0; i < bytes; i += sizeof word) {
    word ^= word << 13;  // xorshift of Marsaglia (2003)
    word ^= word >> 7;
    word ^= word << 17;
    std::memcpy(&made[i], &word, std::min(sizeof word, made.size() - i));
  }
  return made;
}

void stamp(std::span<std::byte> block, std::uint64_t number) {
  std::memcpy(block.data(), &number, std::min(sizeof number, block.size()));
}

std::uint64_t seed_of(int rank, std::uint64_t trial) {
  return static_cast<std::uint64_t>(rank) << 32 ^ trial;
}

void require_same(std::span<const std::byte> expected, std::span<const std::byte> found, int writer,
                  const char* what) {
  if (std::equal(found.begin(), found.end(), expected.begin())) return;
  throw IoError(
      fmt::format("{} of rank {} did not arrive as it was; no figure is given.", what, writer));
}

CellRecord begin_record(const Comm& comm, const Options& options, const std::string& pattern,
                        const std::string& method, const std::string& direction) {
  CellRecord record;
  record.pattern.name = pattern;
  record.pattern.rounds = 1;
  record.pattern.ranks = static_cast<std::uint64_t>(comm.size());
  record.method = method;
  record.direction = direction;
  record.settings = {{"options", Json::object()}, {"hints", Json::object()}};
  record.sync = options.run.sync && direction == "write";
  record.rule = options.run.rule;
  record.seed = options.run.seed;
  record.stop = StopReason::fixed;
  return record;
}

std::vector<CellRecord> run_turns(const Comm& comm, const Options& options,
                                  std::vector<Turn> turns) {
  Deadline deadline(options.run.deadline);
  ProgressLine line("slabmark probe", options.quiet || !comm.is_root());
  const std::uint64_t warm_ups = options.run.warm_up ? 1 : 0;
  const std::uint64_t trials = *options.trials + warm_ups;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    for (std::size_t turn = 0; turn < turns.size(); ++turn) {
      if (!turns[turn].record.unsupported.empty()) continue;
      line.show_step(turns[turn].record.method, trial * turns.size() + turn, trials * turns.size());
      PhaseClock clock(comm, &deadline);
      turns[turn].run(clock, trial, trial < warm_ups);
      TrialRecord gathered = gather_trial(comm, clock.times());
      gathered.warm_up = trial < warm_ups;
      gathered.round = trial + 1 - warm_ups;
      gathered.position = turn;
      turns[turn].record.trials.push_back(std::move(gathered));
    }
  }
  std::vector<CellRecord> records;
  for (Turn& turn : turns) {
    turn.record.cells = turns.size();
    if (turn.record.unsupported.empty())
      turn.record.verified.state = Verified::yes;  // else the run has ended
    if (comm.is_root())
      turn.record.summary = summarise(turn.record.trials, turn.record.pattern.bytes);
    records.push_back(std::move(turn.record));
  }
  return records;
}

}  // namespace slabmark::probe
