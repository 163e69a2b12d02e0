#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/format/event_flags.hpp"
#include "capture/read/recorded_program.hpp"

namespace slabmark {

/// A call of the program, with what it moves.
struct CapturedCall {
  struct Part {
    CapturedEvent event;
    std::vector<PlacedBoxes> placed;
    std::vector<CapturedWalk::Fragment> fragments;
    std::uint64_t elements = 0;
  };
  std::vector<Part> parts;
  std::string effect;
  std::string name;
  RoundKey round;
  bool orders_rounds = false;  ///< see CapturedWalk
  bool is_made_by_all = false;

  const CapturedEvent& event() const { return parts.front().event; }
  bool moves() const { return event().moves(); }
  bool creates() const { return effect == "create" || effect == "open"; }
  bool ends_definition() const { return moves() || effect == "flush" || effect == "close"; }
  bool has_elements() const;
  /// True if it is left out since it failed. A collective one that failed on this rank may have
  /// been well on others: it takes part, with nothing. A wait fails by what is waited for, which is
  /// others' elements now.
  bool is_left_out() const;
};

/// Goes through the calls of this process's recorded rank that are about some files, one at a time.
class CapturedCalls {
 public:
  /// `paths`: numbers of the files.
  CapturedCalls(const RecordedProgram& program, std::set<std::uint64_t> paths);

  /// The next call, or null after the last.
  const CapturedCall* ahead();
  CapturedCall take();
  const RankReader& rank() const { return walk_.rank(); }

 private:
  bool find_event();
  CapturedCall read();

  CapturedWalk walk_;
  std::set<std::uint64_t> paths_;
  bool has_event_ = false;
  std::optional<CapturedCall> ahead_;
};

}  // namespace slabmark
