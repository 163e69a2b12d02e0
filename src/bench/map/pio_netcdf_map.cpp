#include <algorithm>

#include <fmt/format.h>

#include "bench/map/map_input.hpp"
#include "bench/map/map_layout.hpp"
#include "bench/map/part_builder.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

/// What ParallelIO and SCORPIO write have in common: an entry an element, in model order.
class PioNetcdfMap : public MapFile {
 protected:
  /// `first`: the number of the array's first element; the one before it stands for a hole.
  PioNetcdfMap(std::unique_ptr<MapInput> input, const char* writer, long long first)
      : input_(std::move(input)), first_(first) {
    path_ = input_->path();
    layout_ = fmt::format("{} {}", writer, input_->format());
  }

  /// `ranks` names a dimension, `counts` the variable of each recorded rank's entries.
  void read_header(Extent dims, const std::string& ranks, const std::string& counts) {
    maps_ = {MapHeader{.dims = std::move(dims), .recorded_ranks = input_->ranks(ranks)}};
    element_count(maps_[0].dims);
    const MapInput::Variable variable = input_->variable(counts, {maps_[0].recorded_ranks});
    input_->require_elements(variable, variable.extent[0]);
    counts_ = input_->read_whole(variable);
    for (std::uint64_t rank = 0; rank < counts_.size(); ++rank) {
      if (counts_[rank] < 0) {
        input_->fail(fmt::format("rank {} announces {} entries", rank, counts_[rank]));
      }
    }
  }

  /// Returns how many of the entries are no holes.
  std::uint64_t append(RunList& runs, std::uint64_t rank,
                       std::span<const long long> entries) const {
    const std::uint64_t elements = element_count(maps_[0].dims);
    std::uint64_t owned = 0;
    for (const long long entry : entries) {
      if (entry == first_ - 1) continue;
      const auto element = static_cast<std::uint64_t>(entry - first_);
      if (entry < first_ || element >= elements) {
        input_->fail(
            fmt::format("rank {} lists the entry {}, outside the {} elements of its array ({})",
                        rank, entry, elements, to_string(maps_[0].dims)));
      }
      slabmark::append(runs, {element, 1});
      ++owned;
    }
    return owned;
  }

  PartBuilder builder() const { return {maps_[0], fmt::format("\"{}\"", path_)}; }

  std::unique_ptr<MapInput> input_;
  std::vector<long long> counts_;

 private:
  long long first_;
};

class ParallelIoMap final : public PioNetcdfMap {
 public:
  explicit ParallelIoMap(std::unique_ptr<MapInput> input)
      : PioNetcdfMap(std::move(input), "ParallelIO", 0) {
    read_header(read_dims(), "task", "maplen");
    const std::uint64_t longest = input_->dimension("map_element");
    entries_ = input_->variable("map", {counts_.size(), longest});
    for (std::uint64_t rank = 0; rank < counts_.size(); ++rank) {
      if (static_cast<std::uint64_t>(counts_[rank]) > longest) {
        input_->fail(fmt::format("rank {} announces {} entries, and its row has room for {}", rank,
                                 counts_[rank], longest));
      }
    }
    input_->require_elements(entries_, counts_.size() * longest);
  }

  MapPart read(std::size_t k, int as_rank, int size) override {
    const Run block = recorded_block(maps_.at(k).recorded_ranks, as_rank, size);
    PartBuilder made = builder();
    RunList row;
    std::uint64_t owned = 0;
    input_->read_rows(
        entries_, block,
        [&](std::uint64_t rank, std::uint64_t column, std::span<const long long> values) {
          if (column == 0) owned = 0;
          const auto count = static_cast<std::uint64_t>(counts_[rank]);
          const std::uint64_t left = count - std::min(count, column);  // before padding
          owned += append(row, rank, values.first(std::min<std::uint64_t>(values.size(), left)));
          const bool is_last = column + values.size() == entries_.extent[1];
          if (is_last) made.add_row(rank, row, owned);
        });
    MapPart part;
    agreed(input_->comm(), [&] { part = made.finish(); });
    return part;
  }

 private:
  Extent read_dims() const {
    const MapInput::Variable sizes = input_->variable("global_size", {input_->dimension("dims")});
    input_->require_elements(sizes, sizes.extent[0]);
    Extent dims;
    for (const long long length : input_->read_whole(sizes)) {
      if (length <= 0)
        input_->fail(fmt::format("the variable global_size has a length of {}", length));
      dims.push_back(static_cast<std::uint64_t>(length));
    }
    return dims;
  }

  MapInput::Variable entries_;
};

class ScorpioMap final : public PioNetcdfMap {
 public:
  explicit ScorpioMap(std::unique_ptr<MapInput> input)
      : PioNetcdfMap(std::move(input), "SCORPIO", 1) {
    read_header(input_->extent_attribute("gdimlen"), "comm_sz", "counts");
    const std::uint64_t total = input_->dimension("gmaplen");
    entries_ = input_->variable("gmap", {total});
    input_->require_elements(entries_, total);
    for (std::uint64_t rank = 0; rank < counts_.size(); ++rank) {
      const auto count = static_cast<std::uint64_t>(counts_[rank]);
      if (count > total - starts_.back()) {
        input_->fail(fmt::format("rank {} announces {} entries, and {} of {} are left", rank, count,
                                 total - starts_.back(), total));
      }
      starts_.push_back(starts_.back() + count);
    }
    if (starts_.back() != total) {
      input_->fail(
          fmt::format("its ranks announce {} entries, and it has {}", starts_.back(), total));
    }
  }

  MapPart read(std::size_t k, int as_rank, int size) override {
    const Run block = recorded_block(maps_.at(k).recorded_ranks, as_rank, size);
    PartBuilder made = builder();
    const std::uint64_t first = starts_[block.offset];
    const std::vector<long long> entries =
        input_->read_range(entries_, first, starts_[block.end()] - first);
    MapPart part;
    agreed(input_->comm(), [&] {
      RunList row;
      for (std::uint64_t rank = block.offset; rank < block.end(); ++rank) {
        const std::uint64_t count = starts_[rank + 1] - starts_[rank];
        const std::uint64_t owned =
            append(row, rank, std::span(entries).subspan(starts_[rank] - first, count));
        made.add_row(rank, row, owned);
      }
      part = made.finish();
    });
    return part;
  }

 private:
  MapInput::Variable entries_;
  std::vector<std::uint64_t> starts_ = {0};  ///< one more than ranks
};

}  // namespace

std::unique_ptr<MapFile> open_parallel_io_map(std::unique_ptr<MapInput> input) {
  return std::make_unique<ParallelIoMap>(std::move(input));
}

std::unique_ptr<MapFile> open_scorpio_map(std::unique_ptr<MapInput> input) {
  return std::make_unique<ScorpioMap>(std::move(input));
}

}  // namespace slabmark
