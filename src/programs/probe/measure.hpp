#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/measure/clock.hpp"
#include "bench/measure/record.hpp"
#include "core/parallel/abort.hpp"
#include "core/parallel/comm.hpp"
#include "programs/probe/options.hpp"

namespace slabmark::probe {

/// A folder that holds what a run writes and nothing else; it goes with all that is in it.
class ScratchFolder {
 public:
  /// Collective. Throws an agreed InputError if there is one already, unless `overwrite`: a killed
  /// run's is removed then.
  ScratchFolder(const Comm& comm, const std::string& parent, bool overwrite);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_made_ = false;  ///< by this rank
  RemoveOnAbort guard_;
};

/// Bytes that no other seed makes; the first of them can be stamped with the number of a block.
std::vector<std::byte> content(std::uint64_t seed, std::uint64_t bytes);
void stamp(std::span<std::byte> block, std::uint64_t number);

/// Of what a rank sends or writes in a trial.
std::uint64_t seed_of(int rank, std::uint64_t trial);

/// Throws IoError unless `found`, which was `what` of the rank `writer`, is as expected.
void require_same(std::span<const std::byte> expected, std::span<const std::byte> found, int writer,
                  const char* what);

/// One thing that is measured turn by turn with others: its record, and what a trial of it does on
/// this rank.
struct Turn {
  CellRecord record;
  std::function<void(PhaseClock& clock, std::uint64_t trial, bool warm_up)> run;
};

/// The members of a record that all of them have.
CellRecord begin_record(const Comm& comm, const Options& options, const std::string& pattern,
                        const std::string& method, const std::string& direction);

/// Collective. All trials of all turns, one after the other in each round; the records are
/// complete on root.
std::vector<CellRecord> run_turns(const Comm& comm, const Options& options,
                                  std::vector<Turn> turns);

}  // namespace slabmark::probe
