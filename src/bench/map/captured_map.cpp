#include "bench/map/captured_map.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/map/part_builder.hpp"
#include "bench/pattern/captured/captured_pattern.hpp"
#include "core/base/checksum.hpp"
#include "core/geometry/hyperslab.hpp"
#include "core/parallel/agree.hpp"

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

void append_placed(RunList& runs, const Extent& extent, CapturedWalk& walk,
                   const PlacedBoxes& placed) {
  if (placed.is_all) {
    append(runs, {0, element_count(extent)});
    return;
  }
  std::vector<std::int64_t> numbers;
  walk.append_boxes(placed, numbers);
  append_boxes(runs, extent, numbers);
}

struct FirstMoves {
  RunList runs;                ///< sorted, each element once
  std::uint64_t requests = 0;  ///< runs as they were asked for
};

/// Where the elements of a map are: a dataset in the file `path`; in the first of all that move it
/// (any_file); or in the first file of each rank that has one for itself (own_file).
struct Place {
  std::uint64_t path = 0;
  std::uint64_t definition = 0;

  auto operator<=>(const Place&) const = default;
};
constexpr std::uint64_t any_file = ~std::uint64_t{0};
constexpr std::uint64_t own_file = any_file - 1;

Place place_of(const CapturedRun& run, std::uint64_t path, std::uint64_t definition) {
  const bool is_own = run.paths.is_private(path) && !run.shared_paths.contains(path);
  return {is_own ? own_file : run.dataset_paths.empty() ? any_file : path, definition};
}

/// True if there are elements of it, in dimensions, that can be owned.
bool is_array(const Extent& extent) {
  return !extent.empty() && std::find(extent.begin(), extent.end(), 0) == extent.end();
}

/// The element of each array that a recorded rank moves first, or only in one place.
std::map<Place, FirstMoves> first_moves(const CapturedRun& run, std::uint64_t rank,
                                        std::optional<Place> only = {}) {
  std::map<Place, FirstMoves> found;
  std::map<Place, std::tuple<RoundKey, std::uint64_t, std::uint64_t>> when;
  CapturedWalk walk = run.walk(rank);
  while (walk.next()) {
    for (const PlacedBoxes& placed : walk.placed()) {
      const Extent& extent = run.shapes.of_definition.at(placed.definition).extent;
      const Place place = place_of(run, placed.path, placed.definition);
      if (!is_array(extent) || (only && *only != place)) continue;
      const std::uint64_t file = place.path == own_file ? placed.path : 0;
      const std::tuple now(placed.round, placed.time, file);
      if (when.try_emplace(place, now).first->second == now)
        append_placed(found[place].runs, extent, walk, placed);
    }
  }
  for (auto& [place, moves] : found) {
    moves.requests = moves.runs.size();
    sort_runs(moves.runs);
    unite(moves.runs);
  }
  return found;
}

class CapturedMap final : public MapFile {
 public:
  CapturedMap(const Comm& comm, const std::string& path)
      : comm_(comm), run_(make_captured_pattern(comm, {.path = path}).mine.captured) {
    path_ = path;
    const std::map<Place, Movers> movers = who_moves_what();
    std::map<std::tuple<Extent, bool, std::uint64_t>, std::size_t> known;
    std::vector<std::vector<std::string>> names;
    for (const Place& place : places_of_datasets()) {
      const std::vector<std::uint64_t>& files = movers.at(place).files;
      Extent extent = run_->shapes.of_definition.at(place.definition).extent;
      if (files.size() > 1) extent.insert(extent.begin(), files.size());
      const auto [map, is_new] =
          known.try_emplace({extent, files.size() > 1, movers.at(place).sum}, maps_.size());
      if (is_new) {
        element_count(extent);
        maps_.push_back({.dims = extent, .recorded_ranks = run_->file.ranks()});
        places_.push_back(place);
        files_.push_back(files);
        names.emplace_back();
      }
      names[map->second].push_back(name_of(place, files.size()));
    }
    if (maps_.empty()) {
      throw InputError(fmt::format("\"{}\" moves only scalars: it has no array.", path));
    }
    layout_ = describe(names);
  }

  MapPart read(std::size_t k, int as_rank, int size) override {
    const MapHeader& header = maps_.at(k);
    const Run block = recorded_block(header.recorded_ranks, as_rank, size);
    PartBuilder builder(header, fmt::format("map D{} of \"{}\"", k + 1, path_));
    MapPart part;
    agreed(comm_, [&] {
      for (std::uint64_t rank = block.offset; rank < block.end(); ++rank) {
        FirstMoves moves = first_moves(*run_, rank, places_[k])[places_[k]];
        for (Run& run : moves.runs) run.offset += offset_of(k, rank);
        builder.add_row(rank, moves.runs, moves.requests);
      }
      part = builder.finish();
    });
    return part;
  }

 private:
  struct Movers {
    std::uint64_t sum = 0;             ///< the same where all ranks move the same elements
    std::vector<std::uint64_t> files;  ///< of own_file: the ranks that have one, in order
  };

  /// Of each rank's own files, which are beside each other in a map: where its elements begin.
  std::uint64_t offset_of(std::size_t k, std::uint64_t rank) const {
    const std::vector<std::uint64_t>& files = files_[k];
    const auto place = std::lower_bound(files.begin(), files.end(), rank) - files.begin();
    return static_cast<std::uint64_t>(place) *
           element_count(run_->shapes.of_definition.at(places_[k].definition).extent);
  }

  /// Of the pattern's arrays, each once.
  std::vector<Place> places_of_datasets() const {
    std::vector<Place> places;
    std::set<Place> known;
    for (std::size_t i = 0; i < run_->datasets.size(); ++i) {
      const std::uint64_t definition = run_->datasets[i];
      const std::uint64_t path =
          run_->dataset_paths.empty() ? run_->files.front() : run_->dataset_paths[i];
      const Place place = place_of(*run_, path, definition);
      if (is_array(run_->shapes.of_definition.at(definition).extent) && known.insert(place).second)
        places.push_back(place);
    }
    return places;
  }

  /// Collective.
  std::map<Place, Movers> who_moves_what() const {
    const std::vector<Place> places = places_of_datasets();
    std::map<Place, std::size_t> numbers;
    for (const Place& place : places) numbers.emplace(place, numbers.size());
    std::vector<std::uint64_t> sums(numbers.size());
    std::map<Place, std::vector<std::uint64_t>> files;
    const Run mine = recorded_block(run_->file.ranks(), comm_.rank(), comm_.size());
    agreed(comm_, [&] {
      for (std::uint64_t rank = mine.offset; rank < mine.end(); ++rank) {
        for (const auto& [place, moves] : first_moves(*run_, rank)) {
          sums[numbers.at(place)] += checksum(rank, moves.runs);
          if (place.path == own_file) files[place].push_back(rank);
        }
      }
    });
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T,
                            MPI_SUM, comm_.get()),
              "MPI_Allreduce");
    std::map<Place, Movers> found;
    for (const auto& [place, number] : numbers) {
      found[place].sum = sums[number];
      if (place.path == own_file) found[place].files = of_all_processes(files[place]);
    }
    return found;
  }
  /// Collective. The numbers of all processes, in their order.
  std::vector<std::uint64_t> of_all_processes(const std::vector<std::uint64_t>& mine) const {
    const int count = static_cast<int>(mine.size());
    std::vector<int> counts(static_cast<std::size_t>(comm_.size()));
    check_mpi(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_.get()),
              "MPI_Allgather");
    std::vector<int> begins(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(begins.back() + counts.back()));
    check_mpi(MPI_Allgatherv(mine.data(), count, MPI_UINT64_T, all.data(), counts.data(),
                             begins.data(), MPI_UINT64_T, comm_.get()),
              "MPI_Allgatherv");
    return all;
  }

  std::string name_of(const Place& place, std::size_t files) const {
    std::string name = run_->file.definitions()[place.definition].value("name", "bytes");
    if (files > 1) return fmt::format("{} of {} files", name, files);
    if (place.path == own_file || place.path == any_file) return name;
    const std::string& path = run_->paths.all()[place.path].name;
    return fmt::format("{} of {}", name, path.substr(path.find_last_of('/') + 1));
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
  std::vector<Place> places_;                      ///< of a dataset of each map
  std::vector<std::vector<std::uint64_t>> files_;  ///< Movers::files of that
};

}  // namespace

std::unique_ptr<MapFile> open_captured_map(const Comm& comm, const std::string& path) {
  return std::make_unique<CapturedMap>(comm, path);
}

}  // namespace slabmark
