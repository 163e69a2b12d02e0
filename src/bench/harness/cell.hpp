#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "bench/measure/stopping.hpp"
#include "bench/method/method.hpp"
#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// One pattern through one method under one group of settings. Pointers outlive the run.
struct Cell {
  const MethodInfo* method = nullptr;
  Settings settings;
  Direction direction = Direction::write;
  const Pattern* written = nullptr;  ///< what this rank writes
  /// The part that this rank reads: another rank's, so that nothing comes out of the memory of the
  /// writer.
  const Pattern* read = nullptr;
  std::string path;       ///< of the file that the trials make, or see file_path()
  bool is_bound = false;  ///< the same bytes moved contiguously: the limit for the others
  /// Rounds that are posted one after another, each with buffers of its own, before the ranks meet
  /// and buffers are filled anew. At least 1, which is an application that computes between rounds;
  /// more is one that sends request after request. The same on all ranks.
  std::uint64_t rounds_together = 1;
  /// Rounds posted together move the same memory, which stays in the processor's cache. Nothing can
  /// be verified then; each buffer holds what the last of them filled or read.
  bool one_buffer = false;
  std::uint64_t rounds_in_memory() const { return one_buffer ? 1 : rounds_together; }
  /// Fills a buffer of the given round in place of the verified contents; null: those. Such
  /// contents cannot be verified.
  std::function<void(std::uint64_t round, const Transfer& transfer, std::span<std::byte> buffer)>
      fill = nullptr;
  /// Where an application's own buffers of the given transfers lie: they are written as they are,
  /// verified against the pattern's contents, and read like those of other cells. Null: the bench's
  /// buffers, which it fills.
  std::function<std::vector<std::byte*>(std::span<const Transfer> transfers)> memory = nullptr;
  /// Called on all ranks before a round's buffers are filled, with the clock stopped: what a
  /// simulation computes between outputs.
  std::function<void(std::uint64_t round)> before_round = nullptr;
  /// Called on all ranks as soon as the round has moved, with the clock stopped.
  std::function<void(std::uint64_t round)> after_round = nullptr;
  /// Called on all ranks when a file that stays open over the trials is complete, before it is
  /// verified and removed: adds what the program knows to the record's `effective`.
  std::function<void(Json& effective)> completed = nullptr;
  /// Why the program does not ask the method for this; empty: it does. As if the method said so.
  std::string reason;
  /// The file to read is there already: it is not made, and never removed.
  bool existing = false;
  /// Of a read: each file is read right after the trial of this cell of the same run has written
  /// it, out of warm caches, and the cell has no turn of its own. Rounds are no trials then.
  const Cell* after = nullptr;
  /// Called on root before each trial's file is created, with the clock stopped: `lfs setstripe`
  /// leaves an empty file, for methods that take one.
  std::function<void(const std::string& path)> before_create = nullptr;
};

/// How cells are run.
struct RunOptions {
  StoppingRule rule;
  bool warm_up = true;  ///< one trial more, first, outside the statistics
  bool verify = true;   ///< every element after every trial, with the clock stopped
  bool sync = false;    ///< make files durable inside open-to-close
  bool keep = false;    ///< leave the last trial's files
  bool overwrite = false;
  std::vector<std::string> inputs = {};  ///< files that the program reads: never an output
  std::string records;                   ///< file that records are appended to; empty: none
  std::string output_choice = "-o";      ///< with which the user names another place for files
  double deadline = 1800.0;  ///< seconds that one phase may take before it is taken to hang; 0: any
  std::uint64_t seed = 1;    ///< of the order in which cells take turns
  /// The first round takes the cells as they are given, so that reports of progress come in that
  /// order; the later rounds are in random order either way.
  bool first_round_in_order = false;
};

}  // namespace slabmark
