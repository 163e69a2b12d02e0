#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/method/method.hpp"
#include "bench/pattern/pattern.hpp"
#include "core/command_line/command_line.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::bench_program {

/// A pattern as built on this rank.
struct BuiltPattern {
  Pattern written;
  std::optional<Pattern> read;          ///< another rank's part, where reading was asked for
  std::map<std::string, double> setup;  ///< seconds before the trials, for the record
  /// What ranks read is not what they write: they read elements together, or on another layout.
  bool reads_otherwise = false;
};

/// Of a pattern: each is looked at before the space on the disk is.
constexpr CountRange rounds_of_pattern{.min = 1, .max = 1'000'000};
constexpr CountRange variables_of_pattern{.min = 1, .max = 1'000'000};

/// One kind of pattern as a subcommand: its options, and how they become a pattern. A new kind is
/// one file that derives from this class and one line in pattern_commands().
class PatternCommand {
 public:
  virtual ~PatternCommand() = default;

  virtual std::string name() const = 0;
  virtual std::string help() const = 0;
  virtual void add_options(Command& command) = 0;

  /// Throws InputError for values that make no sense together. Called before anything collective.
  virtual void check() {}

  /// Files that the pattern is read from, which no method may write over.
  virtual std::vector<std::string> inputs() const { return {}; }

  /// The method that a name means for this pattern.
  virtual std::string method_name(const std::string& name) const { return name; }

  /// Why a method is not asked for the pattern that was built; empty: it is.
  virtual std::string unsupported_reason(const MethodInfo&) const { return ""; }

  /// Reading is measured, whatever the user asks for.
  virtual bool only_reads() const { return false; }

  /// True if set_writers() may be called.
  virtual bool takes_writers() const { return false; }
  /// Has only the first `writers` ranks write, as that many would, or, with more writers than
  /// ranks, each rank for several. Called before check().
  virtual void set_writers(std::uint64_t /*writers*/) {}

  /// The work on all ranks before each round, with the clock stopped; null: nothing.
  virtual std::function<void(std::uint64_t round)> before_round() const { return nullptr; }

  /// Collective. As it stands: this rank's part(), and to read the next rank's.
  virtual BuiltPattern build(const Comm& comm, bool for_reading);

 protected:
  virtual Pattern part(std::uint64_t /*rank*/, std::uint64_t /*ranks*/) { return {}; }
};

std::unique_ptr<PatternCommand> make_decomp_command();
std::unique_ptr<PatternCommand> make_slice_command();
std::unique_ptr<PatternCommand> make_transfer_command();
std::unique_ptr<PatternCommand> make_checkpoint_command();
std::unique_ptr<PatternCommand> make_e3sm_command();
std::unique_ptr<PatternCommand> make_captured_command();
std::vector<std::unique_ptr<PatternCommand>> make_workload_commands();

/// An option that names one of `types`.
OptionHandle add_type(Command& command, const std::string& names, ElementType& value,
                      const std::string& help,
                      std::initializer_list<ElementType> types = {
                          ElementType::uint8, ElementType::int32, ElementType::int64,
                          ElementType::float32, ElementType::float64, ElementType::character});

/// All kinds, in the order of the help text.
std::vector<std::unique_ptr<PatternCommand>> pattern_commands();

}  // namespace slabmark::bench_program
