#include <algorithm>

#include <fmt/format.h>

#include "bench/map/map_input.hpp"
#include "bench/map/map_layout.hpp"
#include "bench/map/part_builder.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

class SingleMap final : public MapFile {
 public:
  explicit SingleMap(std::unique_ptr<MapInput> input) : input_(std::move(input)) {
    path_ = input_->path();
    layout_ = "single-map " + input_->format();
    const std::uint64_t ranks = input_->ranks("num_procs");
    const std::uint64_t longest = input_->dimension("max_nreqs");
    offsets_ = input_->variable("offsets", {ranks, longest});
    const MapInput::Variable nreqs = input_->variable("nreqs", {ranks});
    input_->require_elements(nreqs, ranks);
    counts_ = input_->read_whole(nreqs);
    check_counts(longest);
    maps_ = {
        MapHeader{.dims = read_dims(), .recorded_ranks = ranks, .dims_are_fortran_order = true}};
    element_count(maps_[0].dims);
  }

  MapPart read(std::size_t k, int as_rank, int size) override {
    const MapHeader& header = maps_.at(k);
    const Run block = recorded_block(header.recorded_ranks, as_rank, size);
    const std::uint64_t elements = element_count(header.dims);
    PartBuilder builder(header, fmt::format("\"{}\"", path_));
    RunList row;
    input_->read_rows(
        offsets_, block,
        [&](std::uint64_t rank, std::uint64_t column, std::span<const long long> values) {
          append(row, rank, column, values, elements);
          const bool is_last = column + values.size() == offsets_.extent[1];
          if (is_last) builder.add_row(rank, row, static_cast<std::uint64_t>(counts_[rank]));
        });
    MapPart part;
    agreed(input_->comm(), [&] { part = builder.finish(); });
    return part;
  }

 private:
  Extent read_dims() const {
    const long long ndims = input_->attribute("var_ndims").at(0);
    if (ndims < 1 || ndims > 1024) input_->fail(fmt::format("it announces {} dimensions", ndims));
    Extent dims;
    for (long long i = 0; i < ndims; ++i) {
      dims.push_back(input_->extent_attribute(fmt::format("dim_len_{}", i)).at(0));
    }
    return dims;
  }

  void check_counts(std::uint64_t longest) const {
    std::uint64_t needed = 0;  // rows are padded, and the padding of the last ones may be cut off
    for (std::uint64_t rank = 0; rank < counts_.size(); ++rank) {
      const long long count = counts_[rank];
      if (count < 0 || static_cast<std::uint64_t>(count) > longest) {
        input_->fail(fmt::format("rank {} announces {} requests, and its row has room for {}", rank,
                                 count, longest));
      }
      if (count > 0) needed = rank * longest + static_cast<std::uint64_t>(count);
    }
    input_->require_elements(offsets_, needed);
  }

  /// The row is padded: only what its count announces is looked at.
  void append(RunList& runs, std::uint64_t rank, std::uint64_t column,
              std::span<const long long> values, std::uint64_t elements) const {
    const auto count = static_cast<std::uint64_t>(counts_[rank]);
    const std::uint64_t valid =
        std::min<std::uint64_t>(values.size(), count - std::min(count, column));
    for (const long long offset : values.first(valid)) {
      const auto element =
          static_cast<std::uint64_t>(offset);  // a negative one is beyond all arrays
      if (element >= elements) {
        input_->fail(
            fmt::format("rank {} lists the offset {}, outside the {} elements of its array ({})",
                        rank, offset, elements, to_string(maps_[0].dims)));
      }
      slabmark::append(runs, {element, 1});
    }
  }

  std::unique_ptr<MapInput> input_;
  MapInput::Variable offsets_;
  std::vector<long long> counts_;  ///< requests of each recorded rank
};

}  // namespace

std::unique_ptr<MapFile> open_single_map(std::unique_ptr<MapInput> input) {
  return std::make_unique<SingleMap>(std::move(input));
}

}  // namespace slabmark
