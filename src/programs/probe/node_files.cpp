#include "programs/probe/node_files.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "core/base/number.hpp"
#include "core/base/stopwatch.hpp"
#include "programs/probe/measure.hpp"
#include "storage/posix/file.hpp"
#include "storage/posix/file_size_limit.hpp"

namespace slabmark::probe {

namespace {

std::string path_of(const std::string& folder, int rank) {
  return fmt::format("{}/rank-{}", folder, rank);
}

}  // namespace

NodeFiles::NodeFiles(const Comm& comm, const Options& options, const Topology& topology)
    : comm_(comm),
      options_(options),
      topology_(topology),
      order_(topology.nodes().size(), options.run.seed) {}

Json NodeFiles::write(PhaseClock& clock, std::uint64_t trial, const std::string& folder) {
  const std::vector<std::size_t> order = order_.next_round();
  const std::size_t at_once = options_.writers > 0 ? options_.writers : topology_.nodes().size();
  double seconds = 0.0;
  std::unique_ptr<RemoveOnAbort> guard;
  const std::string path = path_of(folder, comm_.rank());
  for (std::size_t first = 0; first < order.size(); first += at_once) {
    const auto last = std::min(first + at_once, order.size());
    clock.time(Phase::post, [&] {
      for (std::size_t i = first; i < last; ++i) {
        if (order[i] != topology_.node_of_this_rank()) continue;
        guard = std::make_unique<RemoveOnAbort>(path);
        timed(seconds, [&] { write_file(path, trial); });
      }
    });
  }
  clock.pause([&] { check_file(folder, trial); });
  clock.pause([&] { posix::unlink(path); });
  const std::vector<double> all = comm_.gather(seconds);
  Json of_nodes = Json::array();
  for (const Node& node : topology_.nodes()) {
    if (comm_.is_root()) of_nodes.push_back(slowest(node.ranks, node.ranks.size(), all));
  }
  return of_nodes;
}

std::uint64_t NodeFiles::bytes() const {
  return product_or_most(options_.node_bytes, topology_.nodes().size());
}

void NodeFiles::require_room(const std::string& folder) const {
  posix::require_file_size_allowed(path_of(folder, comm_.rank()), own_bytes());
  if (comm_.is_root()) posix::require_space(folder, bytes());
}

/// Ranks of a node share what it writes.
std::uint64_t NodeFiles::bytes_of(std::size_t node, std::size_t number) const {
  const std::size_t ranks = topology_.nodes()[node].ranks.size();
  return options_.node_bytes / ranks + (number < options_.node_bytes % ranks ? 1 : 0);
}

std::uint64_t NodeFiles::own_bytes() const {
  return bytes_of(topology_.node_of_this_rank(), topology_.number_on_node());
}

/// Blocks of the content of a rank's file; the first bytes of each are its number.
template <class Move>
void NodeFiles::each_part(int rank, std::uint64_t bytes, std::uint64_t trial,
                          const Move& move) const {
  std::vector<std::byte> block = content(seed_of(rank, trial), options_.request_size);
  for (std::uint64_t offset = 0; offset < bytes; offset += options_.request_size) {
    stamp(block, offset / options_.request_size);
    move(offset, std::span(block).first(std::min(options_.request_size, bytes - offset)));
  }
}

void NodeFiles::write_file(const std::string& path, std::uint64_t trial) const {
  posix::File file = posix::File::create(path);
  each_part(comm_.rank(), own_bytes(), trial,
            [&](std::uint64_t offset, std::span<std::byte> block) {
              file.write_at(offset, block.data(), block.size());
            });
  if (options_.run.sync) file.sync();
  file.close();
}

void NodeFiles::check_file(const std::string& folder, std::uint64_t trial) const {
  const int writer = topology_.rank_to_look_at();
  std::uint64_t bytes = 0;
  for (std::size_t node = 0; node < topology_.nodes().size(); ++node) {
    const auto& ranks = topology_.nodes()[node].ranks;
    const auto found = std::find(ranks.begin(), ranks.end(), writer);
    if (found == ranks.end()) continue;
    bytes = bytes_of(node, static_cast<std::size_t>(found - ranks.begin()));
  }
  posix::File file = posix::File::open(path_of(folder, writer), posix::File::Access::read);
  std::vector<std::byte> read(options_.request_size);
  each_part(writer, bytes, trial, [&](std::uint64_t offset, std::span<std::byte> block) {
    file.read_at(offset, read.data(), block.size());
    require_same(block, std::span(read).first(block.size()), writer, "A file");
  });
}

}  // namespace slabmark::probe
