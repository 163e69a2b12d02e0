#pragma once

#include <cstdint>
#include <string>

namespace slabmark::collective {

/// True if a flush returns while its data wait in memory, and how much may wait.
struct Overlap {
  bool is_on = false;
  std::uint64_t flushes = 0;  ///< of a file, that may wait; 0: as many as memory holds
  std::uint64_t memory = 0;   ///< bytes of a process; 0: a share of what its node has free

  bool operator==(const Overlap&) const = default;
};

/// What users set: SLABMARK_OVERLAP, a number of flushes or a word, and SLABMARK_OVERLAP_MEMORY.
/// Any word but "off", "0" and "disable" switches it on: a program must run with a misspelled one.
Overlap overlap_of_environment();

/// Why the data of a file cannot wait, as a sentence for the user; empty where they can. A second
/// descriptor beside MPI-IO's would show other contents there, or none.
std::string overlap_refusal(const std::string& path);

/// The share of a process in the memory that its node has free, where so many share the node.
std::uint64_t memory_to_wait_in(std::uint64_t processes);

}  // namespace slabmark::collective
