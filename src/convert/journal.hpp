#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convert/target.hpp"
#include "core/json/json.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::convert {

/// How an output is called until it is whole, where a later run may go on with it.
std::string resumable_name(const std::string& output);

/// What must be the same in the run that goes on: inputs as they are now, options, ranks, version.
Json conversion_identity(const std::vector<std::string>& inputs, const Json& options, int ranks);

/// The file OUTPUT.resume beside an output, which tells what a killed run has left. A lock on it
/// keeps a second run away. For one rank.
class Journal {
 public:
  /// Reads what is there. Throws InputError where another run has it, or it is of another
  /// conversion. Makes nothing.
  Journal(const std::string& output, Json identity);

  /// The last run has come to its end, and nothing has touched the file since. Gives the file its
  /// name if it does not have it yet.
  bool is_finished();

  /// Batches that are complete; 0: the file is begun anew.
  std::uint64_t batches() const { return batches_; }
  /// Makes the file what it was when those were complete.
  void restore() const;
  const TargetState& state() const { return state_; }

  /// From now on no other run has it. Removes what cannot be gone on with.
  void begin();
  void save(std::uint64_t batches, const TargetState& state);
  /// The file under the resumable name is whole.
  void finish();
  void remove();

 private:
  void parse(const std::string& text);
  void require_same(const Json& other) const;
  void replace(const Json& content, const std::vector<std::byte>& bytes);
  static posix::File locked(posix::File file, const std::string& path);

  std::string output_, path_;
  Json identity_;
  posix::File file_;  ///< locked
  std::uint64_t batches_ = 0;
  TargetState state_;
  Json finished_;  ///< size and time of the whole file
};

}  // namespace slabmark::convert
