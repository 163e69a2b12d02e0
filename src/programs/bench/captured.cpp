#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "bench/pattern/captured/captured_pattern.hpp"
#include "capture/format/event_flags.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/command_line/command_line.hpp"
#include "programs/bench/pattern_command.hpp"

namespace slabmark::bench_program {

namespace {

/// The requests that a program was seen to make.
class CapturedCommand : public PatternCommand {
 public:
  std::string name() const override { return "captured"; }
  std::string help() const override {
    return "A captured program ('slabmark capture'), or a described pattern";
  }

  void add_options(Command& command) override {
    command.add_text("--pattern", "FILE", request_.path, "Pattern file").required();
    command.add_word<std::string>(
        "--library", request_.choice.library,
        "Only the files that the program opened through this library, and the ranks that "
        "opened one",
        {{"any", ""},
         {"pnetcdf", "pnetcdf"},
         {"hdf5", "hdf5"},
         {"mpiio", "mpiio"},
         {"posix", "posix"}});
    command
        .add_texts("--only-file", "NAME", paths_,
                   "Only this file of the program, as it named it; may be repeated")
        .retired("--file");
    command.add_word(
        "--moves", request_.moves,
        "Direction to play: what the program wrote, or what it read (automatic: what it wrote, or "
        "read "
        "if it wrote nothing)",
        {{"automatic", Moves::automatic}, {"writes", Moves::writes}, {"reads", Moves::reads}});
    command.add_text(
        "--think", "FACTOR", think_text_,
        "Think time of the program before each round, with the clock stopped: none, keep, "
        "or a factor");
  }

  void check() override {
    request_.choice.paths = {paths_.begin(), paths_.end()};
    if (think_text_ == "keep") {
      think_ = 1;
    } else if (think_text_ != "none") {
      think_ = parse_real(think_text_, "--think");
    }
  }

  std::vector<std::string> inputs() const override { return {request_.path}; }

  std::string method_name(const std::string& name) const override {
    if (name != "as-captured") return name;
    const PatternFile file(request_.path, request_.choice);
    const std::string level = highest_level(file);
    if (!level.empty()) return "as-captured-" + level;
    if (file.origin() == "captured") {
      throw InputError(fmt::format(
          "In '{}' the program opened no file, so there is nothing to play.", request_.path));
    }
    throw InputError(fmt::format(
        "No program made the calls of '{}': it was {}; leave the method as-captured out.",
        request_.path, file.origin()));
  }

  BuiltPattern build(const Comm& comm, bool for_reading) override {
    request_.with_neighbours = for_reading;
    CapturedPattern pattern = make_captured_pattern(comm, request_);
    const CapturedRun& run = *pattern.mine.captured;
    if (for_reading && run.direction == capture::writes) {
      not_read_ = run.reads_too ? "these are the program's writes; --moves reads plays its reads"
                                : "the program read nothing";
    }
    think_times_ = run.think_times;  // alone: the run holds the file open, and this outlives HDF5
    if (run.direction == capture::reads && for_reading) {
      // The program's own reads are what is measured: another rank has written that.
      return {std::move(*pattern.neighbours), std::move(pattern.mine), std::move(pattern.setup)};
    }
    return {std::move(pattern.mine), std::move(pattern.neighbours), std::move(pattern.setup)};
  }

  std::string unsupported_reason(const MethodInfo& method) const override {
    return method.kind == MethodKind::as_captured ? not_read_ : "";
  }

  std::function<void(std::uint64_t round)> before_round() const override {
    if (think_ == 0) return nullptr;
    return [this](std::uint64_t round) {
      if (round >= think_times_.size()) return;
      std::this_thread::sleep_for(std::chrono::duration<double>(think_times_[round] * think_));
    };
  }

 private:
  using Moves = CapturedPatternRequest::Moves;

  CapturedPatternRequest request_;
  std::vector<std::string> paths_;
  std::string think_text_ = "none";
  double think_ = 0;
  std::string not_read_;             ///< why the program's own calls are not played for reading
  std::vector<double> think_times_;  ///< seconds before each round
};

}  // namespace

std::unique_ptr<PatternCommand> make_captured_command() {
  return std::make_unique<CapturedCommand>();
}

}  // namespace slabmark::bench_program
