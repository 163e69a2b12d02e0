#include "programs/probe/options.hpp"

#include "core/base/error.hpp"

namespace slabmark::probe {

namespace {

constexpr std::uint64_t most = 1'000'000;

void add_shared(CLI::App& app, Options& options) {
  app.add_option("-o,--output-dir", options.directory,
                 "Folder on the file system that is looked at (default .)");
  add_count(app, "--trials", options.trials, "Measured trials, after one warm-up",
            {.min = 1, .max = most});
  app.add_flag("--sync", options.run.sync, "Make what is written durable inside the times");
  add_count(app, "--seed", options.run.seed, "Of the order in which nodes meet");
  app.add_option("--json", options.run.records,
                 "Append a record for each thing measured (JSON Lines)");
  app.add_flag("--overwrite", options.run.overwrite,
               "Remove the folder slabmark-probe that a killed run left");
  app.add_flag("-q,--quiet", options.quiet, "Print no table");
  add_real(app, "--deadline", options.run.deadline,
           "Seconds that one phase may take before the job is taken to hang; 0: no limit");
}

void add_nodes(CLI::App& app, Options& options) {
  add_size(app, "--bytes", options.bytes, "That a node sends to another one, and gets from it");
  add_size(app, "--block", options.block, "Size of a message, and of a write");
  add_count(app, "--meetings", options.meetings,
            "Other nodes that a node meets in a trial, at most", {.min = 1, .max = most});
  add_size(app, "--file-bytes", options.file_bytes, "That a node writes to its own files; 0: none");
  add_count(app, "--writers", options.writers, "Nodes that write at the same time; 0: all",
            {.max = most});
  add_count(app, "--ranks-as-node", options.ranks_as_node,
            "Take so many ranks in a row for a node, wherever they are; 0: a node is a host",
            {.max = most});
}

void add_files(CLI::App& app, Options& options) {
  add_count(app, "--files", options.files, "Files of each rank", {.min = 1, .max = most});
  add_size(app, "--file-size", options.file_size, "Size of each file");
  add_word(app, "--folders", options.own_folders, "All files in one folder, or each rank its own",
           {{"one", false}, {"each", true}});
}

}  // namespace

Parsed<Options> parse(int argc, const char* const* argv) {
  CLI::App app("Looks at nodes and at the file system by themselves, apart from any pattern.",
               "slabmark-probe");
  Options options;
  options.trials = 5;
  app.require_subcommand(0, 1);
  CLI::App* nodes = app.add_subcommand(
      "nodes", "Messages between all pairs of nodes, and a file from each: which node is slow?");
  CLI::App* files =
      app.add_subcommand("files", "Many small files: create, stat, open and read, remove");
  for (CLI::App* command : {nodes, files}) {
    command->fallthrough(false);
    add_shared(*command, options);
  }
  add_nodes(*nodes, options);
  add_files(*files, options);
  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};
  if (app.get_subcommands().empty()) {
    throw InputError(
        "A command is missing: nodes or files; 'slabmark-probe --help' describes them.");
  }
  options.mode = nodes->parsed() ? Options::Mode::nodes : Options::Mode::files;
  if (options.bytes == 0 || options.block < sizeof(std::uint64_t) || options.block > (1u << 30)) {
    throw InputError("--bytes has to be more than 0, and --block between 8 bytes and 1G.");
  }
  if (options.file_size > (1u << 30)) {
    throw InputError("--file-size is 1G at most, since a file is in memory as a whole.");
  }
  resolve_common(options, {});
  options.run.warm_up = true;  // in which MPI connects the nodes
  options.configuration = options_given(nodes->parsed() ? *nodes : *files);
  return {std::move(options), ""};
}

}  // namespace slabmark::probe
