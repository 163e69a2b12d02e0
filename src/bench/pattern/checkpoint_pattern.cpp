#include "bench/pattern/checkpoint_pattern.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"

namespace slabmark {

namespace {

using Triple = std::array<std::uint64_t, 3>;

constexpr std::array<const char*, 3> axis_names = {"x", "y", "z"};

std::string text_of(const Triple& triple) {
  return fmt::format("{} x {} x {}", triple[0], triple[1], triple[2]);
}

void require_positive(const Triple& triple, const char* what) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (triple[d] > 0) continue;
    throw InputError(
        fmt::format("The {} is 0 in {}; give at least 1 in each direction.", what, axis_names[d]));
  }
}

bool has_chunk(const CheckpointGrid& grid) {
  return std::any_of(grid.chunk.begin(), grid.chunk.end(), [](auto n) { return n > 0; });
}

void check(const CheckpointGrid& grid) {
  require_positive(grid.processor, "processor grid");
  require_positive(grid.domain, "domain of a process");
  if (grid.steps == 0) throw InputError("0 time steps write nothing; ask for 1 or more.");
  auto everything = grid.extent();
  everything.push_back(grid.steps);
  everything.push_back(size_of(ElementType::float32));
  element_count(everything);  // throws where the file could not be addressed
  if (!has_chunk(grid)) return;
  require_positive(grid.chunk, "chunk");
  const Extent extent = grid.extent();
  for (std::size_t d = 0; d < 3; ++d) {
    if (grid.chunk[d] <= extent[d]) continue;
    throw InputError(fmt::format(
        "The chunk is {}, but the dataset is only {} in {}; make the chunk at most as long, or the "
        "domain longer.",
        text_of(grid.chunk), extent[d], axis_names[d]));
  }
}

Hyperslab box_of_block(const CheckpointGrid& grid, std::uint64_t block) {
  const Triple at = grid.block_at(block);
  Extent start(3);
  for (std::size_t d = 0; d < 3; ++d) start[d] = at[d] * grid.domain[d];
  return make_box(std::move(start), {grid.domain.begin(), grid.domain.end()});
}

/// One of `parts` parts of a block, cut between its rows.
std::vector<Hyperslab> part_of_block(const CheckpointGrid& grid, std::uint64_t block,
                                     std::uint64_t part, std::uint64_t parts) {
  const Hyperslab whole = box_of_block(grid, block);
  const Run rows = equal_range(grid.domain[0] * grid.domain[1], part, parts);
  std::vector<Hyperslab> slabs;
  if (rows.length == 0) return slabs;
  for (const Hyperslab& of_rows : boxes_of_range(rows, {grid.domain[0], grid.domain[1]})) {
    slabs.push_back(make_box(
        {whole.start[0] + of_rows.start[0], whole.start[1] + of_rows.start[1], whole.start[2]},
        {of_rows.block[0], of_rows.block[1], whole.block[2]}));
  }
  return slabs;
}

std::vector<Hyperslab> slabs_of(const CheckpointGrid& grid, std::uint64_t rank,
                                std::uint64_t size) {
  const std::uint64_t blocks = grid.blocks();
  if (size <= blocks) {
    const Run mine = equal_range(blocks, rank, size);
    std::vector<Hyperslab> slabs;
    for (std::uint64_t block = mine.offset; block < mine.end(); ++block) {
      slabs.push_back(box_of_block(grid, block));
    }
    return slabs;
  }
  // The ranks in turn are dealt out to the blocks.
  const std::uint64_t block = equal_range_of(rank, size, blocks);
  const Run sharers = equal_range(size, block, blocks);
  return part_of_block(grid, block, rank - sharers.offset, sharers.length);
}

}  // namespace

std::uint64_t CheckpointGrid::blocks() const {
  return element_count(Extent(processor.begin(), processor.end()));
}

Extent CheckpointGrid::extent() const {
  Extent lengths;
  for (std::size_t d = 0; d < 3; ++d) {
    lengths.push_back(element_count(Extent{processor[d], domain[d]}));
  }
  return lengths;
}

Triple CheckpointGrid::block_at(std::uint64_t block) const {
  return {block / processor[2] / processor[1], block / processor[2] % processor[1],
          block % processor[2]};
}

std::uint64_t CheckpointGrid::block_number(const Triple& at) const {
  return (at[0] * processor[1] + at[1]) * processor[2] + at[2];
}

Pattern make_checkpoint_pattern(const CheckpointGrid& grid, std::uint64_t rank,
                                std::uint64_t size) {
  check(grid);
  const Extent extent = grid.extent();
  Pattern pattern;
  pattern.name = "checkpoint";
  pattern.settings = {{"processor", text_of(grid.processor)},
                      {"domain", text_of(grid.domain)},
                      {"chunk", has_chunk(grid) ? text_of(grid.chunk) : "none"},
                      {"time", fmt::to_string(grid.steps)}};
  Dataset dataset;
  dataset.name = "chunked";
  dataset.type = ElementType::float32;
  dataset.dimensions = {{"X", extent[0]}, {"Y", extent[1]}, {"Z", extent[2]}};
  dataset.has_time = true;
  if (has_chunk(grid)) dataset.chunk = Extent(grid.chunk.begin(), grid.chunk.end());
  pattern.datasets.push_back(std::move(dataset));
  pattern.rounds = grid.steps;
  const SelectionPtr mine = select_hyperslabs(extent, slabs_of(grid, rank, size));
  pattern.transfers = [mine](std::uint64_t round) {
    return std::vector<Transfer>{{0, round, mine, nullptr}};
  };
  return pattern;
}

}  // namespace slabmark
