/// slabmark pattern: makes pattern files of what was captured, and shows what they hold.
///
///   slabmark pattern merge run.pattern.parts -o run.pattern
///   slabmark pattern show run.pattern --rank 0
///
/// docs/reference/pattern-file.md has the format.

#include "core/parallel/program.hpp"

#include <fmt/format.h>

#include "capture/read/merge.hpp"
#include "capture/read/show.hpp"
#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "core/base/progress_line.hpp"
#include "core/command_line/command_line.hpp"
#include "core/json/json.hpp"
#include "core/parallel/agree.hpp"
#include "programs/programs.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark::pattern_program {

namespace {

struct Options {
  bool merges = false;
  MergeRequest merge;
  posix::Output rules;
  std::string input;  ///< to show
  std::optional<std::uint64_t> rank;
};

void add_merge_options(Command& merge, Options& options) {
  merge.add_argument("SPOOL", options.merge.spool, "Folder that captured programs left").required();
  merge.add_text("-o,--output", "FILE", options.merge.output, "File to write").required();
  merge.add_flag("--anonymous", options.merge.anonymous,
                 "Leave out the names of files, datasets, hosts and program");
  merge.add_flag("--allow-missing", options.merge.allow_missing,
                 "Take ranks that left nothing for ranks that did nothing");
  merge.add_count("--run", options.merge.run,
                  "Number of the launch to take, where there are several");
  merge.add_flag("--overwrite", options.rules.overwrite, "Replace output files that exist already");
  // These two are for `slabmark capture`, which merges what it has started.
  merge.add_count("--command-status", options.merge.status, "With which the captured command ended")
      .retired("--status")
      .hidden();
  const auto set_launch = [&options](const std::string& words, const std::string& what) {
    try {
      options.merge.launch = Json::parse(words).get<std::vector<std::string>>();
    } catch (const JsonError&) {
      throw InputError(fmt::format("{} is '{}'; give a JSON list of texts.", what, words));
    }
  };
  merge
      .add_parsed("--command-json", "JSON", {},
                  "Words of the command that was captured, which may be empty", set_launch)
      .retired("--launch")
      .hidden();
}

Parsed<Options> parse(int argc, const char* const* argv) {
  Options options;
  CommandLine line("slabmark pattern",
                   "Makes pattern files of what was captured, and shows what they hold");
  Command& merge = line.root().add_command("merge", "Make a pattern file of a spool");
  add_merge_options(merge, options);
  Command& show = line.root().add_command(
      "show", "Print the header as JSON, or the events of a rank, one per line");
  show.add_argument("PATTERN", options.input, "Pattern file").required();
  show.add_count("--rank", options.rank, "Print the events of this rank");
  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};
  options.merges = merge.is_given();
  options.rules.choice = "-o";
  return {std::move(options), ""};
}

void merge(const Options& options) {
  posix::require_replaceable(options.merge.output, options.rules);  // once the new one is whole
  MergeRequest request = options.merge;
  ProgressLine line("slabmark pattern");
  request.on_rank = line.steps_of("merging what the ranks left");
  const MergeResult result = merge_spool(request);
  line.clear();
  for (const std::string& note : result.notes) fmt::print("{}\n", note);
  fmt::print("{}: {} rank{}, {} bytes of events and lists\n", printable(options.merge.output),
             result.ranks, result.ranks == 1 ? "" : "s", result.bytes);
}

ExitStatus run(const Comm& world, const Options& options) {
  agreed(world, [&] {
    if (!world.is_root()) return;
    if (options.merges) {
      merge(options);
    } else {
      show_pattern(options.input, options.rank);
    }
  });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::pattern_program

const slabmark::Program& slabmark::programs::pattern() {
  static const Program program =
      make_program("slabmark pattern", pattern_program::parse, pattern_program::run);
  return program;
}
