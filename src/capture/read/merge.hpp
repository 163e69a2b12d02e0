#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slabmark {

struct MergeRequest {
  std::string spool = {};      ///< the folder
  std::string output = {};     ///< takes the place of what is there
  bool anonymous = false;      ///< without names
  bool allow_missing = false;  ///< ranks that left nothing did nothing
  /// Of several launches that left something there, the one of this number, from 1 in the order of
  /// their start.
  std::optional<std::uint64_t> run = {};
  std::vector<std::string> launch = {};      ///< the command that was captured; empty: not known
  std::optional<std::uint64_t> status = {};  ///< with which that ended
  /// Told which of the ranks are copied. Empty: nobody is told.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_rank = {};
};

struct MergeResult {
  std::uint64_t ranks = 0;
  std::uint64_t bytes = 0;         ///< of events and lists
  std::vector<std::string> notes;  ///< sentences on what is not in the file, and why
};

/// Makes a pattern file of what processes left in a spool. Lists and events are copied as they are,
/// some at a time, so memory does not grow with them. Throws InputError where there is no spool,
/// its processes are not of one program, ranks are missing, or no rank made a call.
MergeResult merge_spool(const MergeRequest& request);

}  // namespace slabmark
