#include <cstring>

#include <fmt/format.h>

#include "bench/map/part_builder.hpp"
#include "bench/map/pio_text.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

/// Sends the values of rank 0 to all: a few bytes for each recorded rank.
template <typename T>
void broadcast(const Comm& comm, std::vector<T>& values) {
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  bytes = comm.broadcast(bytes);
  values.resize(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
}

class PioTextMap final : public MapFile {
 public:
  PioTextMap(const Comm& comm, const std::string& path) : comm_(comm) {
    agreed(comm, [&] {
      if (comm.is_root()) text_ = index_pio_text(path);
    });
    broadcast(comm, text_.dims);
    broadcast(comm, text_.rows);
    text_.path = path;
    path_ = path;
    layout_ = "PIO text";
    maps_ = {MapHeader{.dims = text_.dims, .recorded_ranks = text_.ranks()}};
  }

  MapPart read(std::size_t k, int as_rank, int size) override {
    MapPart part;
    agreed(comm_,
           [&] { part = read_alone(maps_.at(k), recorded_block(text_.ranks(), as_rank, size)); });
    return part;
  }

 private:
  MapPart read_alone(const MapHeader& header, Run block) const {
    PartBuilder builder(header, fmt::format("\"{}\"", path_));
    for (std::uint64_t rank = block.offset; rank < block.end(); ++rank) {
      PioEntries entries = read_pio_row(text_, rank);
      builder.add_row(rank, entries.runs, entries.elements);
    }
    return builder.finish();
  }

  const Comm& comm_;
  PioText text_;
};

}  // namespace

std::unique_ptr<MapFile> open_pio_text_map(const Comm& comm, const std::string& path) {
  return std::make_unique<PioTextMap>(comm, path);
}

}  // namespace slabmark
