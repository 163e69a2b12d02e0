#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/format/coding.hpp"
#include "capture/record/recorder.hpp"

namespace slabmark::capture {

/// `text` as a string of JSON.
std::string as_json(std::string_view text);

/// The definitions of a process: their numbers, and the bytes of the stream that are not written
/// yet.
class DefinitionStream {
 public:
  bool is_empty() const { return !is_begun_; }
  Bytes& bytes() { return bytes_; }

  /// Adds one that has no number. The first of all says what the process is.
  void put(std::string_view json);
  Id open_file(std::string_view json);
  Id define(std::string_view json);
  Id define_call(std::string_view name, std::string_view effect);
  /// True if a block of events ends after this call: after a flush, a close and such, a program may
  /// come back with the same calls.
  bool ends_block(Id call) const { return call < ends_block_.size() && ends_block_[call]; }

 private:
  /// Looks up a std::string_view without making a std::string of it.
  struct HashOfText : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Bytes bytes_;
  bool is_begun_ = false;
  Id files_ = 0;
  std::unordered_map<std::string, Id, HashOfText, std::equal_to<>> known_;
  std::vector<bool> ends_block_;  ///< by definition
  std::string call_text_;         ///< kept for its memory
};

}  // namespace slabmark::capture
