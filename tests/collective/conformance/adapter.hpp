#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collective/conformance/plain_file.hpp"
#include "collective/conformance/program.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::conformance {

/// How files are opened, beside their arrays.
struct OpenOptions {
  std::vector<std::pair<std::string, std::string>> hints = {};  ///< of MPI-IO
  bool little_memory = false;     ///< so little that each step takes several windows, or flushes
  bool no_shared_memory = false;  ///< each rank is a node of its own
  bool overlap = false;           ///< data waits in memory while the program goes on
};

/// Abilities that some interfaces lack.
enum class Ability {
  share_elements,   ///< ranks write the same element in one step, and overlap() says whose stays
  repeat_elements,  ///< a rank names an element twice in a request, and the last one stays
  overlap_in_few_pieces,  ///< so it is in requests of few pieces
  rewrite,                ///< a rank writes an element in two requests of a step
  overrun,                ///< a request that leaves its array is refused, and the file goes on
  leave_holes,            ///< what nobody writes reads as zero
  fail,                   ///< a write that the file system refuses fails
  go_on,                  ///< the file goes on after a flush that failed
};

/// A file that is open through an adapter. A call that fails throws an exception with a sentence.
class Session {
 public:
  virtual ~Session() = default;

  /// Collective: moves this rank's part of a step, and flushes. A failure of the file is thrown on
  /// all ranks.
  virtual void move(std::size_t step, Buffers& buffers) = 0;

  /// Collective.
  virtual void close() = 0;
};

/// One interface of the engine. An object lives for several files, one after another.
class Adapter {
 public:
  virtual ~Adapter() = default;

  /// Why programs cannot do this; empty: they can.
  virtual std::string lacks(Ability) const { return ""; }
  virtual Overlap overlap() const { return Overlap::later_call; }

  // Collective. The program outlives the session.
  virtual std::unique_ptr<Session> create(const std::string& path, const Program& program) = 0;
  virtual std::unique_ptr<Session> open(const std::string& path, const Program& program) = 0;

  /// On one rank: through the file library alone.
  virtual std::unique_ptr<PlainFile> open_plainly(const std::string& path,
                                                  const Program& program) const = 0;
};

/// An entry in the list of adapters.
struct AdapterInfo {
  std::string name;
  /// Collective; `comm` outlives the adapter.
  std::function<std::unique_ptr<Adapter>(const Comm& comm, const OpenOptions& options)> make;
};

// These functions return the adapters that this build has.
std::vector<AdapterInfo> method_adapters();
std::vector<AdapterInfo> library_adapters();
std::vector<AdapterInfo> dropin_adapters();
std::vector<AdapterInfo> connector_adapters();

}  // namespace slabmark::conformance
