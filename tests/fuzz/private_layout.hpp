#pragma once

#include <algorithm>
#include <filesystem>

#include "bench/map/map_files.hpp"
#include "bench/method/pass.hpp"
#include "bench/method/raw/blob_pattern.hpp"
#include "bench/method/registry.hpp"
#include "bench/pattern/conformance.hpp"
#include "fuzz/target.hpp"

namespace slabmark {

/// Files of the private layout that all ranks write together to `path` and remove. Collective.
inline FuzzTarget private_layout_target(const Comm& comm, const std::string& path) {
  FuzzTarget target;
  for (const Pattern& pattern : conformance_patterns(comm.rank(), comm.size())) {
    write_file(find_method("blob"), comm, pattern, {}, path);
    std::string bytes = content_of(path);
    comm.barrier();
    if (comm.is_root()) std::filesystem::remove(path);
    comm.barrier();
    if (bytes.size() < 32768) target.seeds.push_back(std::move(bytes));
  }
  target.read = [](const std::string& file) {
    const Comm alone(MPI_COMM_SELF);
    BlobPattern content(alone, file);
    for (std::uint64_t round = 0; round < content.pattern().rounds; ++round) {
      RoundBuffers buffers(content.pattern(), round);
      content.read(round, buffers.pointers());
    }
    BlobFile plain(file);
    for (std::size_t d = 0; d < plain.description().datasets.size(); ++d) {
      const Dataset& dataset = plain.description().datasets[d];
      const auto some = std::min<std::uint64_t>(element_count(dataset.extent()), 1000);
      std::vector<std::byte> buffer(some * size_of(dataset.type));
      const Piece piece{0, 0, some};
      plain.read_elements(d, 0, {&piece, 1}, size_of(dataset.type), buffer.data());
    }
  };
  return target;
}

}  // namespace slabmark
