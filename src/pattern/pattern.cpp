#include "pattern/pattern.hpp"

namespace slabmark {

std::uint64_t buffer_bytes(const Transfer& transfer, const Dataset& dataset) {
  if (!transfer.buffer) return moved_bytes(transfer, dataset);
  return element_count(transfer.buffer->extent()) * size_of(dataset.type);
}

std::uint64_t moved_bytes(const Transfer& transfer, const Dataset& dataset) {
  return transfer.file->element_count() * size_of(dataset.type);
}

std::uint64_t moved_bytes(const Pattern& pattern) {
  std::uint64_t bytes = 0;
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    for (const Transfer& transfer : pattern.transfers(round)) {
      bytes += moved_bytes(transfer, pattern.datasets[transfer.dataset]);
    }
  }
  return bytes;
}

std::uint64_t request_count(const Pattern& pattern) {
  std::uint64_t requests = 0;
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    for (const Transfer& transfer : pattern.transfers(round)) {
      requests += transfer.file->hyperslab_count();
    }
  }
  return requests;
}

}  // namespace slabmark
