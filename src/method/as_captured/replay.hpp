#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "captured/events.hpp"
#include "captured/pattern_file.hpp"
#include "method/method.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark {

/// Makes the calls of a recorded rank again, through its own library, one call at a time. All that
/// its events say of files is about one, which lies elsewhere now.
class Replay {
 public:
  struct Context {
    const Comm& comm;
    const RankReader& rank;  ///< whose definitions events name
    const Settings& settings;
    std::string path;  ///< of the file
  };

  virtual ~Replay() = default;

  /// A call with all its parts; one that failed is left out. `memory[i]` is where the elements of
  /// part i lie, which are of the dataset's type: one after another, or as its list of memory says,
  /// counted from there. It is null for what moves nothing, and stays as it is until the requests
  /// are waited for. Throws IoError.
  virtual void make(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) = 0;

  virtual void sync() = 0;  ///< makes the file durable
  /// Frees what is left open, where the program did not close it.
  virtual void end() = 0;
};

/// Throws InputError unless all ranks opened the file of this description together.
void check_opened_by_all(const nlohmann::json& file, const Comm& comm);

/// The program's hints for the file of this description, and after them those of the settings.
mpiio::Hints hints_of(const nlohmann::json& file, const Settings& settings);

/// What a method of this kind is made of.
using MakeReplay = std::unique_ptr<Replay> (*)(const Replay::Context& context);

/// The method's entry in the registry. `level` is that of files in a pattern file; `plain` the
/// method that writes what a program has only read.
MethodInfo as_captured_info(const std::string& level, FileFormat format, const char* plain,
                            MakeReplay make);

template <class Kind>
std::unique_ptr<Replay> make_replay(const Replay::Context& context) {
  return std::make_unique<Kind>(context);
}

}  // namespace slabmark
