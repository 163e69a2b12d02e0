#include <fmt/format.h>

#include "bench/map/map_input.hpp"
#include "bench/map/map_layout.hpp"
#include "bench/map/part_builder.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

/// Requests of one map: rank r has those from starts[r] up to ends[r], of starts[r + 1].
struct Requests {
  std::string name;  ///< "D3"
  MapInput::Variable offsets;
  MapInput::Variable lengths;
  std::vector<std::uint64_t> starts;  ///< one more than ranks
  std::vector<std::uint64_t> ends;    ///< before the requests that only fill
};

class ManyMap final : public MapFile {
 public:
  explicit ManyMap(std::unique_ptr<MapInput> input) : input_(std::move(input)) {
    path_ = input_->path();
    layout_ = "many-map " + input_->format();
    const std::uint64_t ranks = input_->ranks("decomp_nprocs");
    const std::uint64_t maps = input_->dimension("num_decomp");
    for (std::uint64_t k = 1; k <= maps; ++k) add_map(fmt::format("D{}", k), ranks);
    if (maps_.empty()) input_->fail("it holds no map");
  }

  MapPart read(std::size_t k, int as_rank, int size) override {
    const MapHeader& header = maps_.at(k);
    const Requests& requests = requests_[k];
    const Run block = recorded_block(header.recorded_ranks, as_rank, size);
    PartBuilder builder(header, fmt::format("map {} of \"{}\"", requests.name, path_));
    const std::uint64_t first = requests.starts[block.offset];
    const std::uint64_t count = requests.starts[block.end()] - first;
    const std::vector<long long> offsets = input_->read_range(requests.offsets, first, count);
    const std::vector<long long> lengths = input_->read_range(requests.lengths, first, count);

    MapPart part;
    agreed(input_->comm(), [&] {
      RunList row;
      for (std::uint64_t rank = block.offset; rank < block.end(); ++rank) {
        for (std::uint64_t i = requests.starts[rank]; i < requests.ends[rank]; ++i) {
          row.push_back(checked_run(k, rank, offsets[i - first], lengths[i - first]));
        }
        builder.add_row(rank, row, row.size());
      }
      part = builder.finish();
    });
    return part;
  }

 private:
  void add_map(const std::string& name, std::uint64_t ranks) {
    MapHeader header{.dims = input_->extent_attribute(name + ".dims"), .recorded_ranks = ranks};
    const long long ndims = input_->attribute(name + ".ndims").at(0);
    if (ndims < 1 || header.dims.size() != static_cast<std::uint64_t>(ndims)) {
      input_->fail(fmt::format("map {} announces {} dimensions and lists {}", name, ndims,
                               header.dims.size()));
    }
    element_count(header.dims);

    const std::uint64_t total = input_->dimension(name + ".total_nreqs");
    Requests requests{.name = name,
                      .offsets = input_->variable(name + ".offsets", {total}),
                      .lengths = input_->variable(name + ".lengths", {total}),
                      .starts = {0},
                      .ends = {}};
    input_->require_elements(requests.offsets, total);
    input_->require_elements(requests.lengths, total);
    add_bounds(requests, ranks, total);
    maps_.push_back(std::move(header));
    requests_.push_back(std::move(requests));
  }

  std::vector<long long> read_counts(const std::string& name, std::uint64_t ranks) const {
    const MapInput::Variable counts = input_->variable(name, {ranks});
    input_->require_elements(counts, ranks);
    return input_->read_whole(counts);
  }

  void add_bounds(Requests& requests, std::uint64_t ranks, std::uint64_t total) const {
    const std::vector<long long> counts = read_counts(requests.name + ".nreqs", ranks);
    const std::string fills = requests.name + ".fill_starts";
    const std::vector<long long> owned =
        input_->has_variable(fills) ? read_counts(fills, ranks) : counts;
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      const auto start = static_cast<long long>(requests.starts.back());
      if (counts[rank] < 0 || counts[rank] > static_cast<long long>(total) - start) {
        input_->fail(fmt::format("rank {} of map {} announces {} requests, and {} of {} are left",
                                 rank, requests.name, counts[rank],
                                 static_cast<long long>(total) - start, total));
      }
      if (owned[rank] < 0 || owned[rank] > counts[rank]) {
        input_->fail(
            fmt::format("the fill requests of rank {} of map {} start at {}, and it has {}", rank,
                        requests.name, owned[rank], counts[rank]));
      }
      requests.ends.push_back(static_cast<std::uint64_t>(start + owned[rank]));
      requests.starts.push_back(static_cast<std::uint64_t>(start + counts[rank]));
    }
    if (requests.starts.back() != total) {
      input_->fail(fmt::format("the ranks of map {} announce {} requests, and the map has {}",
                               requests.name, requests.starts.back(), total));
    }
  }

  Run checked_run(std::size_t k, std::uint64_t rank, long long offset, long long length) const {
    const std::uint64_t elements = element_count(maps_[k].dims);
    if (length <= 0) {
      input_->fail(fmt::format("rank {} of map {} has a request of length {} at the offset {}",
                               rank, requests_[k].name, length, offset));
    }
    const Run run{static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(length)};
    if (offset < 0 || run.length > elements || run.offset > elements - run.length) {
      input_->fail(
          fmt::format("rank {} of map {} has a request of length {} at the offset {}, outside the "
                      "{} elements of "
                      "its array ({})",
                      rank, requests_[k].name, length, offset, elements, to_string(maps_[k].dims)));
    }
    return run;
  }

  std::unique_ptr<MapInput> input_;
  std::vector<Requests> requests_;
};

}  // namespace

std::unique_ptr<MapFile> open_many_map(std::unique_ptr<MapInput> input) {
  return std::make_unique<ManyMap>(std::move(input));
}

}  // namespace slabmark
