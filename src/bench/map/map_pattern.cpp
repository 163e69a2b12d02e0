#include "bench/map/map_pattern.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "bench/map/part_builder.hpp"
#include "bench/pattern/decomposition_pattern.hpp"
#include "bench/pattern/output_table.hpp"
#include "collective/exchange/ranges.hpp"
#include "core/base/error.hpp"
#include "core/base/stopwatch.hpp"

namespace slabmark {

namespace {

/// The maps of a file, and what reading them takes.
class Maps {
 public:
  Maps(const Comm& comm, const std::string& path, bool for_reading, int writers)
      : comm_(comm),
        for_reading_(for_reading),
        writers_(writers == 0 ? comm.size() : std::min(writers, comm.size())) {
    comm.barrier();
    timed(open_seconds_, [&] { file_ = open_map(comm, path); });
  }

  const MapFile& file() const { return *file_; }
  std::size_t count() const { return file_->maps().size(); }
  std::string count_text() const {
    return fmt::format("'{}' holds {} map{}", file_->path(), count(), count() == 1 ? "" : "s");
  }

  /// Makes the patterns of this rank and, if that is wanted, of the next.
  using Make = std::function<Pattern(int rank)>;
  MapPattern patterns(const Make& make) {
    MapPattern result;
    result.layout = file_->layout();
    result.mine = make(comm_.rank());
    result.setup = {{"map_open", comm_.max(open_seconds_)},
                    {"map_read", comm_.max(read_seconds_)},
                    {"map_sort", comm_.max(sort_seconds_)}};
    result.max_requests = comm_.max(max_requests_);
    result.is_shared = is_shared_;
    is_checked_ = true;
    if (for_reading_) {
      result.neighbours = make((comm_.rank() + 1) % comm_.size());
      result.neighbours->ranks_overlap = is_shared_ && comm_.size() > 1;
    }
    return result;
  }

  /// Collective: what `rank` owns of map `k`. Ranks may read an element together. The first parts
  /// are written, by each rank its own, and have each element once.
  SelectionPtr read(std::size_t k, int rank) {
    MapPart part = rank < writers_ ? file_->read(k, rank, writers_) : nothing_of(k);
    read_seconds_ += part.read_seconds;
    sort_seconds_ += part.sort_seconds;
    max_requests_ = std::max<std::uint64_t>(max_requests_, part.runs.size());
    if (!is_checked_ && overlaps(k, part)) {
      if (!for_reading_) refuse_overlaps(k);
      is_shared_ = true;
      part.runs = equal_share(k, part.runs);
    }
    return select_row_runs(file_->maps()[k].dims, std::move(part.runs));
  }

  /// The description of a pattern of map `k` and others in the record.
  void describe(Pattern& pattern, std::size_t k) const {
    pattern.settings["map"] = file_->path();
    pattern.settings["map_layout"] = file_->layout();
    pattern.settings["recorded_ranks"] = std::to_string(file_->maps()[k].recorded_ranks);
  }

 private:
  /// Collective with the reading of others' parts: that of a rank beyond the recorded ones.
  MapPart nothing_of(std::size_t k) {
    const int recorded = static_cast<int>(file_->maps()[k].recorded_ranks);
    return file_->read(k, recorded, recorded + 1);
  }

  bool overlaps(std::size_t k, const MapPart& part) const {
    const bool within = comm_.any(part.is_shared);
    return coverage(comm_, file_->maps()[k], part.runs).overlaps > 0 || within;
  }

  [[noreturn]] void refuse_overlaps(std::size_t k) const {
    throw InputError(fmt::format(
        "Map D{} of '{}' cannot be written, since chance would decide whose values stay: {}. Make "
        "the map again, or measure reading, in which ranks may share elements: 'slabmark bench "
        "decomp --read'.",
        k + 1, file_->path(),
        describe_overlaps(comm_, *file_, k, find_coverage(comm_, *file_, k))));
  }

  /// This rank's share of all that some rank owns.
  RunList equal_share(std::size_t k, const RunList& runs) const {
    const Extent& dims = file_->maps()[k].dims;
    RunList mine = runs_in_my_range(comm_, runs, element_count(dims));
    unite(mine);
    return split_at_rows(mine, dims.back());
  }

  const Comm& comm_;
  bool for_reading_;
  int writers_;  ///< ranks that have a part, from rank 0 on
  std::unique_ptr<MapFile> file_;
  double open_seconds_ = 0.0;
  double read_seconds_ = 0.0;
  double sort_seconds_ = 0.0;
  std::uint64_t max_requests_ = 0;
  bool is_checked_ = false;
  bool is_shared_ = false;
};

std::vector<Dimension> dimensions_of(const MapHeader& header, std::size_t k, bool single) {
  std::vector<Dimension> dimensions;
  for (std::size_t d = 0; d < header.dims.size(); ++d) {
    const std::string name =
        single ? fmt::format("dim_len_{}", d) : fmt::format("D{}.dim_len_{}", k + 1, d);
    dimensions.push_back({name, header.dims[d]});
  }
  return dimensions;
}

}  // namespace

MapPattern make_map_pattern(const Comm& comm, const MapPatternRequest& request) {
  Maps maps(comm, request.path, request.with_neighbours, request.writers);
  if (request.only_map && *request.only_map >= maps.count()) {
    throw InputError(
        fmt::format("{}, so there is no map {}.", maps.count_text(), *request.only_map + 1));
  }
  const std::size_t first = request.only_map.value_or(0);
  const std::size_t used =
      request.only_map ? 1 : std::min<std::size_t>(maps.count(), request.variables);
  return maps.patterns([&](int rank) {
    std::vector<DecompositionMap> parts;
    for (std::size_t k = first; k < first + used; ++k) {
      parts.push_back(
          {dimensions_of(maps.file().maps()[k], k, maps.count() == 1), maps.read(k, rank)});
    }
    std::vector<DecomposedVariable> variables;
    for (std::uint64_t i = 0; i < request.variables; ++i) {
      auto name = request.prefix.empty() ? fmt::format("var{:04}", i)
                                         : fmt::format("{}{}", request.prefix, i);
      variables.push_back({std::move(name), request.type, i % used, request.rounds > 1});
    }
    Pattern pattern = make_decomposition_pattern(parts, variables, request.rounds);
    maps.describe(pattern, first);
    pattern.settings["variables"] = std::to_string(request.variables);
    pattern.settings["type"] = std::string(name_of(request.type));
    if (request.only_map) pattern.settings["map_index"] = std::to_string(first + 1);
    return pattern;
  });
}

MapPattern make_output_map_pattern(const Comm& comm, const OutputPatternRequest& request) {
  const OutputTable table = find_output_table(request.output);
  Maps maps(comm, request.path, request.with_neighbours, request.writers);
  if (maps.count() != table.maps.size()) {
    throw InputError(fmt::format("{}, but the output file {} needs {}.", maps.count_text(),
                                 table.name, table.maps.size()));
  }
  return maps.patterns([&](int rank) {
    OutputShare share;
    share.is_first = rank == 0;
    share.real = request.real;
    share.records = request.records;
    for (std::size_t k = 0; k < maps.count(); ++k) share.maps.push_back(maps.read(k, rank));
    Pattern pattern = make_output_pattern(table, share);
    maps.describe(pattern, 0);
    return pattern;
  });
}

}  // namespace slabmark
