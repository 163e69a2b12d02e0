#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/pattern/pattern.hpp"
#include "capture/read/recorded_program.hpp"
#include "core/geometry/piece.hpp"
#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// The part of a pattern file that becomes a pattern.
struct CapturedPatternRequest {
  enum class Moves { automatic, writes, reads };

  std::string path;
  FileChoice choice = {};
  Moves moves =
      Moves::automatic;          ///< automatic: what the program wrote, or read if it wrote nothing
  bool with_neighbours = false;  ///< also the pattern of the next rank, for reading back
};

struct CapturedPattern {
  Pattern mine;
  std::optional<Pattern> neighbours;    ///< what rank (r + 1) mod size has
  std::map<std::string, double> setup;  ///< slowest rank's seconds: "pattern_read"
};

/// The contents of Pattern::captured: the program's own calls, for methods that make the same.
struct CapturedRun : RecordedProgram {
  using RecordedProgram::RecordedProgram;

  std::string level;             ///< of all files that the rounds go to, or empty
  std::vector<RoundKey> rounds;  ///< of Pattern::transfers
  /// Of these and of other points in the order of calls.
  std::map<RoundKey, std::uint64_t> places;
  std::vector<std::uint64_t> datasets;  ///< definitions of Pattern::datasets
  /// Files differ, so that a pattern of one file has them all: the file of each of
  /// Pattern::datasets, and how it is called there. Else both are empty.
  std::vector<std::uint64_t> dataset_paths;
  std::vector<std::string> dataset_names;
  /// By round and transfer: where in its buffer the elements of this rank's calls are, if these
  /// move some more than once and the transfer does not. Else there is nothing.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Piece>> repeats;
  /// By round and transfer: positions, in the order of this rank's calls, of the elements that a
  /// later call writes again, sorted.
  std::map<std::pair<std::size_t, std::size_t>, RunList> superseded;
  /// Ranks move the same element in one collective call.
  bool overlaps_in_a_call = false;
  bool reads_too = false;           ///< what is written is played, and the program also read
  std::vector<double> think_times;  ///< seconds before each round, of the slowest rank
  /// Why the program's own calls cannot be made again; empty: they can.
  std::string unsupported_reason;
};

/// The pattern of what a program did, with each rank in the place of a block of recorded ranks. A
/// round is what lies between two points at which the ranks of a file met, and in blocking calls
/// one record; of several files, what ranks went to and fro between. Files of the same datasets,
/// each of one round and as many bytes, become a file a round; other files one file, with their
/// datasets beside each other. Types that are none of ElementType are moved as bytes, in one more
/// dimension. Where ranks wrote the same element, all do; one that a rank moves more than once
/// in a round is moved once. Collective. Throws an agreed InputError
/// where the file is no pattern file, or nothing in it moves.
CapturedPattern make_captured_pattern(const Comm& comm, const CapturedPatternRequest& request);

}  // namespace slabmark
