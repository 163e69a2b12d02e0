#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "bench/method/method.hpp"
#include "capture/read/captured_walk.hpp"
#include "capture/read/events.hpp"
#include "capture/read/pattern_file.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark {

/// Makes the calls of a recorded rank again, through its own library, one call at a time. The files
/// that its events name lie elsewhere now.
class Replay {
 public:
  struct Context {
    /// Of a file that the recorded ranks opened together, or each for itself.
    const Comm& comm_of(const nlohmann::json& file) const {
      return file.value("ranks", 1) == together.size() ? together : alone;
    }
    const std::string& path_of(std::uint64_t opening) const {
      return places.at(paths.number(rank.file_number(opening)));
    }
    bool is_shared(std::uint64_t opening) const {
      return shared.contains(paths.number(rank.file_number(opening)));
    }

    const Comm& together;
    const Comm& alone;       ///< of this rank
    const RankReader& rank;  ///< whose definitions events name
    const Settings& settings;
    const Paths& paths;
    std::map<std::uint64_t, std::string> places;  ///< of files, by number of the path
    const std::set<std::uint64_t>& shared;        ///< paths that several ranks open
  };

  explicit Replay(Context context) : context_(std::move(context)) {}

  virtual ~Replay() = default;

  /// A call with all its parts; one that failed is left out. `memory[i]` is where the elements of
  /// part i lie, which are of the dataset's type: one after another, or as its list of memory says,
  /// counted from there. It is null for what moves nothing, and stays as it is until the requests
  /// are waited for. Throws IoError.
  virtual void make(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) = 0;

  /// Whether what ranks have posted is written by one collective call of MPI-IO when they wait for
  /// it, in which a rank without requests takes part with nothing, and no rank takes a lock.
  virtual bool waits_write_together() const { return false; }

  virtual void sync() = 0;  ///< makes the files durable
  /// Frees what is left open, where the program did not close it.
  virtual void end() = 0;

 protected:
  /// What is open under the number of an opening in `files`. Throws InputError where nothing is.
  template <class File>
  File& opened(std::map<std::uint64_t, File>& files, std::uint64_t opening) const {
    const auto found = files.find(opening);
    if (found == files.end()) refuse_unopened(opening);
    return found->second;
  }

  const Context context_;

 private:
  [[noreturn]] void refuse_unopened(std::uint64_t opening) const;
};

/// The program's hints for the file of this description, and after them those of the settings.
mpiio::Hints hints_of(const nlohmann::json& file, const Settings& settings);

/// What a method of this kind is made of.
using MakeReplay = std::unique_ptr<Replay> (*)(const Replay::Context& context);

/// Why this rank's calls cannot be made again, beside what all levels have in common.
using ReasonAgainst = std::optional<std::string> (*)(const CapturedRun& run);

/// The method's entry in the registry. `level` is that of files in a pattern file; `plain` the
/// method that writes what a program has only read.
MethodInfo as_captured_info(const std::string& level, FileFormat format, const char* plain,
                            MakeReplay make, ReasonAgainst reason_against = nullptr);

template <class Kind>
std::unique_ptr<Replay> make_replay(const Replay::Context& context) {
  return std::make_unique<Kind>(context);
}

}  // namespace slabmark
