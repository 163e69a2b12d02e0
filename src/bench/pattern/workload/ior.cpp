#include "bench/pattern/transfer_pattern.hpp"
#include "bench/pattern/workload/makers.hpp"
#include "core/base/error.hpp"

// The bandwidth phases of IO500: src/phase_ior_easy.c with filePerProc = FALSE, and
// src/phase_ior_hard.c. IOR writes segments one after another, and in a segment one block of each
// rank. The easy phase has one segment, whose blocks are moved a transfer at a time; the hard one
// has many, whose blocks are one transfer of 47008 bytes.

namespace slabmark::workload {

namespace {

constexpr std::uint64_t hard_transfer = 47008;

WorkloadParts transfers_of(const TransferGeometry& geometry, std::uint64_t ranks) {
  check(geometry, ranks);
  return {[geometry, ranks](std::uint64_t rank) {
    return make_transfer_pattern(geometry, rank, ranks);
  }};
}

}  // namespace

WorkloadParts ior_easy(const WorkloadSizes& sizes, std::uint64_t ranks) {
  return transfers_of({.bytes = sizes.bytes, .block = sizes.buffer, .buffer = sizes.buffer}, ranks);
}

WorkloadParts ior_hard(const WorkloadSizes& sizes, std::uint64_t ranks) {
  return transfers_of({.bytes = element_count({sizes.segments, hard_transfer}),
                       .block = hard_transfer,
                       .buffer = hard_transfer,
                       .interleaved = true},
                      ranks);
}

}  // namespace slabmark::workload
