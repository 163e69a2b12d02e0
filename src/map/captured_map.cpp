#include "map/captured_map.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/checksum.hpp"
#include "captured/captured_pattern.hpp"
#include "geometry/hyperslab.hpp"
#include "map/part_builder.hpp"
#include "parallel/agree.hpp"

namespace slabmark {

namespace {

constexpr std::size_t most_named = 4;  ///< maps whose datasets the layout names

/// The runs of boxes, as PlacedBoxes::numbers has them: start, count, stride and block of each.
void append_boxes(RunList& runs, const Extent& extent, std::span<const std::int64_t> numbers) {
  const std::size_t rank = extent.size();
  Hyperslab slab;
  RunWalk walk;
  for (std::size_t at = 0; at < numbers.size(); at += 4 * rank) {
    Extent* const rows[] = {&slab.start, &slab.count, &slab.stride, &slab.block};
    for (std::size_t row = 0; row < std::size(rows); ++row) {
      const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(at + row * rank);
      rows[row]->assign(begin, begin + static_cast<std::ptrdiff_t>(rank));
    }
    if (const auto reason = outside(slab, extent)) {
      throw InputError(fmt::format("A call selects outside of its dataset ({}): {}.",
                                   to_string(extent), *reason));
    }
    walk.restart(slab, extent);
    for (Run run; walk.next(run);) append(runs, run);
  }
}

void append_placed(RunList& runs, const Extent& extent, const CapturedWalk& walk,
                   const PlacedBoxes& placed) {
  if (placed.is_all) {
    append(runs, {0, element_count(extent)});
    return;
  }
  if (placed.list == CapturedEvent::none) {
    append_boxes(runs, extent, placed.numbers);
    return;
  }
  const BoxArray boxes = walk.rank().lists.get(placed.list);
  const std::size_t skipped = boxes.rank - placed.rank;  // the dimension of records
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < boxes.count; ++i) {
    const std::size_t at = i * boxes.rank + skipped;
    for (std::size_t d = 0; d < placed.rank; ++d)
      numbers.push_back(boxes.starts[at + d] + placed.origin[d]);
    for (const auto* row : {&boxes.counts, &boxes.strides, &boxes.blocks}) {
      for (std::size_t d = 0; d < placed.rank; ++d)
        numbers.push_back(row->empty() ? 1 : (*row)[at + d]);
    }
  }
  append_boxes(runs, extent, numbers);
}

struct FirstMoves {
  RunList runs;                ///< sorted, each element once
  std::uint64_t requests = 0;  ///< runs as they were asked for
};

/// What a recorded rank moves first of each dataset with dimensions, or only of one, by definition.
std::map<std::uint64_t, FirstMoves> first_moves(const CapturedRun& run, std::uint64_t rank,
                                                std::optional<std::uint64_t> only = {}) {
  std::map<std::uint64_t, FirstMoves> found;
  std::map<std::uint64_t, std::pair<RoundKey, std::uint64_t>> when;
  CapturedWalk walk = run.walk(rank);
  while (walk.next()) {
    for (const PlacedBoxes& placed : walk.placed()) {
      const std::uint64_t definition = placed.definition;
      const Extent& extent = run.shapes.of_definition.at(definition).extent;
      if (extent.empty() || (only && *only != definition)) continue;
      const std::pair now(placed.round, placed.time);
      if (when.try_emplace(definition, now).first->second == now)
        append_placed(found[definition].runs, extent, walk, placed);
    }
  }
  for (auto& [definition, moves] : found) {
    moves.requests = moves.runs.size();
    sort_runs(moves.runs);
    RunList united;
    for (const Run& part : moves.runs) {
      if (!united.empty() && part.offset <= united.back().end()) {
        united.back().length = std::max(united.back().end(), part.end()) - united.back().offset;
      } else if (part.length > 0) {
        united.push_back(part);
      }
    }
    moves.runs = std::move(united);
  }
  return found;
}

class CapturedMap final : public MapFile {
 public:
  CapturedMap(const Comm& comm, const std::string& path)
      : comm_(comm), run_(make_captured_pattern(comm, {.path = path}).mine.captured) {
    path_ = path;
    const std::map<std::uint64_t, std::uint64_t> alike = who_moves_what();
    std::map<std::pair<Extent, std::uint64_t>, std::size_t> known;
    std::vector<std::vector<std::string>> names;
    for (const std::uint64_t definition : run_->datasets) {
      const auto what = alike.find(definition);
      if (what == alike.end()) continue;
      const Extent& extent = run_->shapes.of_definition.at(definition).extent;
      const auto [place, is_new] = known.try_emplace({extent, what->second}, maps_.size());
      if (is_new) {
        element_count(extent);
        maps_.push_back({.dims = extent, .recorded_ranks = run_->file.ranks()});
        definitions_.push_back(definition);
        names.emplace_back();
      }
      names[place->second].push_back(
          run_->file.definitions()[definition].value("name", std::string("bytes")));
    }
    if (maps_.empty()) {
      throw InputError(
          fmt::format("All that is moved in \"{}\" are scalars: there is no array.", path));
    }
    layout_ = describe(names);
  }

  MapPart read(std::size_t k, int as_rank, int size) override {
    const MapHeader& header = maps_.at(k);
    const Run block = recorded_block(header.recorded_ranks, as_rank, size);
    PartBuilder builder(header, fmt::format("map D{} of \"{}\"", k + 1, path_), block);
    MapPart part;
    agreed(comm_, [&] {
      for (std::uint64_t rank = block.offset; rank < block.end(); ++rank) {
        FirstMoves moves = first_moves(*run_, rank, definitions_[k])[definitions_[k]];
        builder.add_row(rank, moves.runs, moves.requests);
      }
      part = builder.finish();
    });
    return part;
  }

 private:
  /// By definition a number that is the same where all ranks move the same elements. Collective.
  std::map<std::uint64_t, std::uint64_t> who_moves_what() const {
    std::map<std::uint64_t, std::size_t> places;
    for (const auto& [definition, shape] : run_->shapes.of_definition) {
      if (!shape.extent.empty()) places.emplace(definition, places.size());
    }
    std::vector<std::uint64_t> sums(places.size());
    const Run mine = recorded_block(run_->file.ranks(), comm_.rank(), comm_.size());
    agreed(comm_, [&] {
      for (std::uint64_t rank = mine.offset; rank < mine.end(); ++rank) {
        for (const auto& [definition, moves] : first_moves(*run_, rank))
          sums[places.at(definition)] += checksum(rank, moves.runs);
      }
    });
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T,
                            MPI_SUM, comm_.get()),
              "MPI_Allreduce");
    std::map<std::uint64_t, std::uint64_t> found;
    for (const auto& [definition, place] : places) found[definition] = sums[place];
    return found;
  }

  static std::uint64_t checksum(std::uint64_t rank, const RunList& runs) {
    Checksum sum;
    sum.add(rank);
    for (const Run& run : runs) sum.add(run.offset).add(run.length);
    return sum.value();
  }

  std::string describe(const std::vector<std::vector<std::string>>& names) const {
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < std::min(names.size(), most_named); ++k) {
      parts.push_back(
          fmt::format("D{} is {}{}", k + 1, names[k].front(),
                      names[k].size() > 1 ? fmt::format(" and {} more", names[k].size() - 1) : ""));
    }
    std::string text = fmt::format("pattern file ({}{})", fmt::join(parts, ", "),
                                   names.size() > most_named ? ", ..." : "");
    if (!run_->file.guess().empty()) text += ", a guess";
    return text;
  }

  const Comm& comm_;
  std::shared_ptr<const CapturedRun> run_;
  std::vector<std::uint64_t> definitions_;  ///< of a dataset of each map
};

}  // namespace

std::unique_ptr<MapFile> open_captured_map(const Comm& comm, const std::string& path) {
  return std::make_unique<CapturedMap>(comm, path);
}

}  // namespace slabmark
