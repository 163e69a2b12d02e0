/// slabmark-pattern: makes pattern files of what was captured, and shows what they hold.
///
///   slabmark-pattern merge run.pattern.parts -o run.pattern
///   slabmark-pattern show run.pattern --rank 0
///
/// docs/pattern-file.md has the format.

#include "core/parallel/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "capture/read/merge.hpp"
#include "capture/read/show.hpp"
#include "core/base/command_line.hpp"
#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "core/base/progress_line.hpp"
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

Parsed<Options> parse(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Makes pattern files of what was captured, and shows what they hold.",
               "slabmark-pattern");
  app.require_subcommand(1);
  CLI::App* merge = app.add_subcommand("merge", "Make a pattern file of a spool");
  merge->add_option("spool", options.merge.spool, "Folder that captured programs left")->required();
  merge->add_option("-o,--output", options.merge.output, "Pattern file to write")->required();
  merge->add_flag("--anonymous", options.merge.anonymous,
                  "Without names of files, datasets, attributes, hosts and program");
  merge->add_flag("--allow-missing", options.merge.allow_missing,
                  "Ranks that left nothing did nothing");
  add_count(*merge, "--run", options.merge.run,
            "Of several launches that left something there, the one of this number");
  add_count(*merge, "--status", options.merge.status, "With which the captured command ended");
  merge->add_flag("--overwrite", options.rules.overwrite, "Replace the pattern file");
  merge->add_option_function<std::string>(
      "--launch",
      [&](const std::string& words) {
        try {
          nlohmann::json::parse(words).get_to(options.merge.launch);
        } catch (const nlohmann::json::exception&) {
          throw CLI::ValidationError("--launch", "a JSON list of texts is asked for");
        }
      },
      "Words of the command that was captured, as JSON: they may be empty");
  CLI::App* show =
      app.add_subcommand("show", "Print the header as JSON, or the events of a rank, one a line");
  show->add_option("pattern", options.input, "Pattern file")->required();
  add_count(*show, "--rank", options.rank, "Print the events of this rank");
  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};
  options.merges = merge->parsed();
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
