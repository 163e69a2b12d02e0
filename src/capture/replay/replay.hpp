#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "capture/read/recorded_program.hpp"
#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark {

/// Makes the calls of a recorded rank again, through its own library, one call at a time. The files
/// that its events name lie elsewhere now.
class Replay {
 public:
  struct Context {
    /// Of a file that the recorded ranks opened together, or each for itself.
    const Comm& comm_of(const Json& file) const {
      return file.value("ranks", 1) == together.size() ? together : alone;
    }
    const std::string& path_of(std::uint64_t opening) const {
      return places.at(number_of(opening));
    }
    bool is_shared(std::uint64_t opening) const {
      return program.shared_paths.contains(number_of(opening));
    }
    const Comm& together;
    const Comm& alone;  ///< of this rank
    const RecordedProgram& program;
    const RankReader& rank;                       ///< whose definitions events name
    const mpiio::Hints& hints;                    ///< of the user
    std::map<std::uint64_t, std::string> places;  ///< of files, by number of the path

   private:
    std::uint64_t number_of(std::uint64_t opening) const {
      return program.paths.number(rank.file_number(opening));
    }
  };

  explicit Replay(Context context) : context_(std::move(context)) {}
  virtual ~Replay() = default;

  /// Makes a call with all its parts. `memory[i]` is where the elements of part i lie, which are of
  /// the dataset's type: one after another, or as its list of memory says, counted from there. It
  /// is null for what moves nothing, and stays as it is until the requests are waited for. Throws
  /// IoError.
  virtual void make(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) = 0;

  /// True if what ranks have posted is written by one collective call of MPI-IO when they wait for
  /// it, in which a rank without requests takes part with nothing, and no rank takes a lock.
  virtual bool waits_write_together() const { return false; }

  virtual void sync() = 0;  ///< makes the files durable
  /// Frees what is left open, where the program did not close it.
  virtual void end() = 0;

 protected:
  /// The files that are open under the number of an opening in `files`. Throws InputError where
  /// nothing is.
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

/// The program's hints for the file of this description, and after them those of the user.
mpiio::Hints hints_of(const Json& file, const mpiio::Hints& of_user);

using MakeReplay = std::unique_ptr<Replay> (*)(const Replay::Context& context);

std::unique_ptr<Replay> make_hdf5_replay(const Replay::Context& context);
std::unique_ptr<Replay> make_mpiio_replay(const Replay::Context& context);
std::unique_ptr<Replay> make_posix_replay(const Replay::Context& context);

/// Why this rank's calls of HDF5 cannot be made again. Ranks may find different reasons, or none.
std::optional<std::string> hdf5_unsupported_reason(const RecordedProgram& program);

}  // namespace slabmark
