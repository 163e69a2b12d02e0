#include "programs/probe/nodes.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/parallel/agree.hpp"
#include "programs/probe/measure.hpp"
#include "programs/probe/messages.hpp"
#include "programs/probe/node_files.hpp"
#include "programs/probe/topology.hpp"

namespace slabmark::probe {

namespace {

CellRecord begin(const Comm& comm, const Options& options, const std::string& pattern,
                 const std::string& method, const std::string& direction, std::uint64_t bytes) {
  CellRecord record = begin_record(comm, options, pattern, method, direction);
  record.pattern.bytes = bytes;
  record.pattern.settings = {{"block", fmt::to_string(options.request_size)}};
  if (options.ranks_per_node > 0) {
    record.pattern.settings["ranks as node"] = fmt::to_string(options.ranks_per_node);
  }
  record.verified.elements = bytes;
  return record;
}

Json names_of(const Topology& topology) {
  Json names = Json::array();
  for (const Node& node : topology.nodes()) names.push_back(node.name);
  return names;
}

}  // namespace

std::vector<CellRecord> probe_nodes(const Comm& comm, const Options& options) {
  const Topology topology(comm, options.ranks_per_node);
  Messages messages(comm, options, topology);
  NodeFiles files(comm, options, topology);
  const ScratchFolder folder(comm, options.directory, options.run.overwrite);
  std::vector<Json> meetings, of_messages, of_files;
  std::vector<Turn> turns(1);
  turns[0].record =
      begin(comm, options, "messages between nodes", "messages", "exchange", messages.bytes());
  turns[0].record.method_summary = "each pair of nodes one way, then the other";
  turns[0].record.pattern.settings["bytes each way"] = fmt::to_string(options.pair_bytes);
  turns[0].record.verified.by = "each receiver, its last messages";
  if (topology.is_one_node()) {
    turns[0].record.unsupported =
        "there is one node only: start this on 3 or more, or see --ranks-per-node";
  }
  turns[0].run = [&](PhaseClock& clock, std::uint64_t trial, bool warm_up) {
    auto [seconds, pairs] = messages.meet(clock, trial);
    if (warm_up) return;
    of_messages.push_back(std::move(seconds));
    meetings.push_back(std::move(pairs));
  };
  if (options.node_bytes > 0) {
    agreed(comm, [&] { files.require_room(folder.path()); });
    Turn& turn = turns.emplace_back();
    turn.record =
        begin(comm, options, "a file from each node", "file-a-node", "write", files.bytes());
    turn.record.method_summary = "each rank writes its part of the node's bytes to its own file";
    turn.record.pattern.settings["bytes of a node"] = fmt::to_string(options.node_bytes);
    if (options.writers > 0) {
      turn.record.pattern.settings["nodes at a time"] = fmt::to_string(options.writers);
    }
    turn.record.verified.by = "plain reader on another node";
    turn.run = [&](PhaseClock& clock, std::uint64_t trial, bool warm_up) {
      auto seconds = files.write(clock, trial, folder.path());
      if (!warm_up) of_files.push_back(std::move(seconds));
    };
  }
  std::vector<CellRecord> records = run_turns(comm, options, std::move(turns));
  const auto enter = [&](CellRecord& record, const std::vector<Json>& seconds) {
    record.effective["of_nodes"] = {{"hosts", names_of(topology)}, {"seconds", seconds}};
  };
  if (!topology.is_one_node()) {
    enter(records[0], of_messages);
    records[0].effective["of_nodes"]["meetings"] = meetings;
  }
  if (records.size() > 1) enter(records[1], of_files);
  return records;
}

}  // namespace slabmark::probe
