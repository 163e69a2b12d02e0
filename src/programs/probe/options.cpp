#include "programs/probe/options.hpp"

#include "core/base/error.hpp"

namespace slabmark::probe {

namespace {

constexpr std::uint64_t most = 1'000'000;

void add_shared(Command& command, Options& options) {
  command
      .add_text("-d,--output-dir", "DIR", options.directory,
                "Directory for the files that are written")
      .retired("-o");
  command
      .add_count("--trials", options.trials, "Measured trials, after one warm-up",
                 {.min = 1, .max = most})
      .default_text("5");
  command.add_flag("--sync", options.run.sync, "Make files durable (fsync) inside the times");
  command.add_count("--seed", options.run.seed, "Random seed of the order in which nodes meet");
  add_json_argument(command, options);
  command.add_flag("--overwrite", options.run.overwrite,
                   "Replace output files that exist already: the folder slabmark-probe");
  command.add_flag("-q,--quiet", options.quiet, "Print less: no table");
  add_deadline_argument(command, options);
}

void add_nodes(Command& command, Options& options) {
  command
      .add_size("--pair-bytes", options.pair_bytes,
                "Bytes sent in each direction per pair of nodes")
      .retired("--bytes");
  command.add_size("--request-size", options.request_size, "Size of a message, and of a write")
      .retired("--block");
  command.add_count("--meetings", options.meetings,
                    "Other nodes that a node meets in a trial, at most", {.min = 1, .max = most});
  command
      .add_size("--node-bytes", options.node_bytes,
                "Bytes that a node writes to its own files; 0: none")
      .retired("--file-bytes");
  command.add_count("--writers", options.writers, "Nodes that write at the same time; 0: all",
                    {.max = most});
  command
      .add_count("--ranks-per-node", options.ranks_per_node,
                 "Count this many consecutive ranks as a node, wherever they are; 0: a node is a "
                 "host",
                 {.max = most})
      .retired("--ranks-as-node");
}

void add_files(Command& command, Options& options) {
  command
      .add_count("--files-per-rank", options.files_per_rank, "Files of each rank",
                 {.min = 1, .max = most})
      .retired("--files");
  command.add_size("--file-size", options.file_size, "Size of each file");
  command.add_word("--folders", options.own_folders,
                   "All files in one folder, or each rank its own",
                   {{"one", false}, {"each", true}});
}

}  // namespace

Parsed<Options> parse(int argc, const char* const* argv) {
  CommandLine line("slabmark probe",
                   "Looks at nodes and at the file system by themselves, apart from any pattern");
  Options options;
  options.trials = 5;
  Command& nodes = line.root().add_command(
      "nodes", "Messages between all pairs of nodes, and a file from each: which node is slow?");
  Command& files =
      line.root().add_command("files", "Many small files: create, stat, open and read, remove");
  for (Command* command : {&nodes, &files}) add_shared(*command, options);
  add_nodes(nodes, options);
  add_files(files, options);
  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};
  options.mode = nodes.is_given() ? Options::Mode::nodes : Options::Mode::files;
  if (options.pair_bytes == 0 || options.request_size < sizeof(std::uint64_t) ||
      options.request_size > (1u << 30)) {
    throw InputError(
        "--pair-bytes has to be more than 0, and --request-size between 8 bytes and 1G.");
  }
  if (options.file_size > (1u << 30)) {
    throw InputError("--file-size is 1G at most, since a file is in memory as a whole.");
  }
  resolve_common(options, {});
  options.run.warm_up = true;  // in which MPI connects the nodes
  options.configuration = (nodes.is_given() ? nodes : files).options_given();
  return {std::move(options), ""};
}

}  // namespace slabmark::probe
