#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure/clock.hpp"
#include "bench/method/format.hpp"
#include "bench/pattern/pattern.hpp"
#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

enum class Direction { write, read };

/// Options in effect for a method: its own ("pnetcdf.blocking") and the MPI-IO hints of the user.
struct Settings {
  std::map<std::string, std::string> options;
  std::vector<std::pair<std::string, std::string>> hints;
};

/// One option of a method, as a row of an OptionTable states it. The name starts with the prefix of
/// the method's library.
struct OptionInfo {
  std::string name;
  std::string default_text;
  std::string help;
  std::string accepted_values;  ///< "on or off", "8 to 1G"
  /// A value as the default would be written; throws InputError for one that it does not take.
  std::function<std::string(const std::string& text)> canonical;
};

/// The context of a method. The references outlive it.
struct MethodContext {
  const Comm& comm;  ///< never MPI_COMM_WORLD
  const Pattern& pattern;
  Direction direction;
  const Settings& settings;
  PhaseClock& clock;  ///< for spans inside a phase
  /// Objects that a method leaves here are there when it makes the next file of the same run, as a
  /// program that writes a file each hour would keep them. Nothing of this file's communicator may
  /// be in it. Null: nothing lasts.
  std::shared_ptr<void>* kept = nullptr;
};

/// One way to move a pattern through one library. One object serves one trial. The calls come in
/// this order, each on all ranks together:
///   - writing: choose_hints create define prepare (post.. flush).. [sync] [inspect] close
///   - reading: open prepare (post.. flush).. [inspect] close
///
/// Buffers handed to post() stay untouched until flush() returns. Failures throw; they need not be
/// agreed, the caller does that. An object that failed is destroyed on all ranks together, so its
/// destructor may close files collectively, and must not throw.
class Method {
 public:
  explicit Method(const MethodContext& context) : context_(context) {}
  virtual ~Method() = default;

  /// Finds the hints that follow from the pattern. The clock stands still: a program knows its own.
  virtual void choose_hints() {}
  virtual void create(const std::string& path) = 0;  ///< `path` does not exist yet
  virtual void define() {}
  virtual void open(const std::string& path) = 0;
  virtual void prepare() {}
  /// `buffers[i]` belongs to pattern.transfers(round)[i]; it may be null where nothing moves.
  virtual void post(std::uint64_t round, std::span<std::byte* const> buffers) = 0;
  virtual void flush() {}
  virtual void sync() = 0;
  /// Asks the open file for what effective() will report. The clock stands still: no program but a
  /// benchmark asks.
  virtual void inspect() {}
  virtual void close() = 0;

  /// The settings in effect, for the record: hints, collective or not and why not, the library's
  /// own memory ("library_memory_bytes"), its own byte count ("library_bytes").
  /// Valid after close(); the values are this rank's.
  virtual Json effective() const = 0;

 protected:
  bool writing() const { return context_.direction == Direction::write; }

  const MethodContext context_;
};

enum class MethodKind {
  general,      ///< for files of any pattern
  slices,       ///< for slices of fields, and nothing else
  yardstick,    ///< to compare with: nobody's files should be written so
  as_captured,  ///< the program's own calls
};

/// A method's entry in the registry.
struct MethodInfo {
  std::string name;     ///< "pnetcdf-varn"
  std::string summary;  ///< one line
  FileFormat format = FileFormat::none;
  MethodKind kind = MethodKind::general;
  std::vector<OptionInfo> options = {};
  /// Nothing if the method can move this rank's `pattern` under `settings`, else the reason, which
  /// tables show. Not collective: the answer must be the same on all ranks or be agreed by the
  /// caller.
  std::function<std::optional<std::string>(const Pattern&, const Settings&)> supports;
  std::function<std::unique_ptr<Method>(const MethodContext&)> make = nullptr;
  /// True if elements that ranks share may meet in one collective call of MPI-IO; null: never.
  std::function<bool(const Pattern&, const Settings&)> overlaps_in_mpiio = nullptr;
  /// True if a file may be smaller than what is written to it; null: never.
  std::function<bool(const Settings&)> compresses = nullptr;
  /// Why the method is not in this build ("PnetCDF was not found at configure time"); empty: it is.
  std::string missing = "";

  const FormatInfo& file() const { return info_of(format); }
};

/// MethodInfo::overlaps_in_mpiio of what hands over to MPI-IO what ranks ask for.
inline bool has_overlaps(const Pattern& pattern, const Settings&) { return pattern.ranks_overlap; }

/// MethodInfo::make of a class that takes nothing else.
template <class Class>
std::unique_ptr<Method> make_method(const MethodContext& context) {
  return std::make_unique<Class>(context);
}

}  // namespace slabmark
