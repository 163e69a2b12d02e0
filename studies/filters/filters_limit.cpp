// How fast all ranks run filters over chunks that they have in memory, with nothing else to do: the
// limit of a write with filters. See README.md for the command.

#include <chrono>
#include <cstdint>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/method/hdf5/options.hpp"
#include "bench/pattern/content_kind.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/base/scratch_bytes.hpp"
#include "core/geometry/chunk_grid.hpp"
#include "core/parallel/comm.hpp"
#include "storage/hdf5/filter_pipeline.hpp"

namespace {

using namespace slabmark;

struct Work {
  std::vector<std::byte> raw;  ///< this rank's chunks, one after another
  std::uint64_t chunks = 0;
};

/// This rank's share of the chunks of all datasets, with smooth contents; what reaches beyond a
/// dataset is zero.
Work share_of(const Comm& comm, const std::vector<Dataset>& datasets, const ChunkGrid& grid) {
  const auto content = make_content(ContentKind::smooth, datasets);
  const std::uint64_t size = size_of(datasets.front().type);
  const Run mine =
      equal_range(datasets.size() * grid.chunks(), static_cast<std::uint64_t>(comm.rank()),
                  static_cast<std::uint64_t>(comm.size()));
  Work work{std::vector<std::byte>(mine.length * grid.chunk_elements() * size), mine.length};
  std::vector<std::byte> box;
  for (std::uint64_t i = 0; i < mine.length; ++i) {
    const std::uint64_t number = (mine.offset + i) % grid.chunks();
    const Extent first = grid.first_element(number);
    Extent count = grid.chunk();
    for (std::size_t d = 0; d < count.size(); ++d) {
      count[d] = std::min(count[d], grid.extent()[d] - first[d]);
    }
    box.resize(element_count(count) * size);
    content->fill((mine.offset + i) / grid.chunks(), 0, first, count, box.data());
    const std::byte* from = box.data();
    for (const Run& row : [&] {
           RunList rows;
           for_each_run(make_box(Extent(count.size(), 0), count), grid.chunk(),
                        [&](Run run) { rows.push_back(run); });
           return rows;
         }()) {
      std::copy_n(from, row.length * size,
                  work.raw.data() + (i * grid.chunk_elements() + row.offset) * size);
      from += row.length * size;
    }
  }
  return work;
}

Extent lengths(const std::string& text) {
  Extent all;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('x', at), text.size());
    all.push_back(parse_size(text.substr(at, end - at), "A length"));
    at = end + 1;
  }
  return all;
}

void measure(const Comm& comm, const std::vector<std::string>& words) {
  if (words.size() < 4) {
    throw InputError(
        "Give EXTENT, CHUNK, DATASETS and trials, such as 72x866 16x433 400 7, then "
        "options such as hdf5.deflate=1.");
  }
  const ChunkGrid grid(lengths(words[0]), lengths(words[1]));
  Dataset dataset{"v", ElementType::float32, {}, false, std::nullopt};
  for (const auto length : grid.extent()) dataset.dimensions.push_back({"", length});
  const std::vector<Dataset> datasets(parse_count(words[2], "DATASETS"), dataset);
  Settings settings;
  for (std::size_t i = 4; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    settings.options[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  hdf5::CreationSettings creation = hdf5_options().only(filter_options()).read(settings);
  creation.chunk = grid.chunk();
  const auto list = hdf5::creation_list(creation, "chunks in memory");
  hdf5::FilterPipeline pipeline(hdf5::native_type(dataset.type), list.get());
  const Work work = share_of(comm, datasets, grid);
  ScratchBytes room;
  const auto fit = [&](std::size_t bytes) { return room.fit(bytes); };
  const std::uint64_t raw = comm.sum(std::uint64_t{work.raw.size()});
  for (std::uint64_t trial = 0; trial < parse_count(words[3], "trials"); ++trial) {
    std::uint64_t stored = 0;
    comm.barrier();
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < work.chunks; ++i) {
      stored += pipeline.apply(work.raw.data() + i * pipeline.chunk_bytes(), fit).bytes.size();
    }
    const double seconds =
        comm.max(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    stored = comm.sum(stored);
    if (comm.is_root()) fmt::print("{:.6f} {} {}\n", seconds, raw, stored);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    const Comm comm(MPI_COMM_WORLD);
    measure(comm, {argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "filters_limit: error: {}\n", error.what());
    status = 1;
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  MPI_Finalize();
  return status;
}
