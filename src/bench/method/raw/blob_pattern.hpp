#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/method/raw/blob_file.hpp"
#include "bench/pattern/pattern.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// A file of the private layout as a pattern that can be written anew: in each round, every
/// recorded rank's part of a dataset is a transfer of its own. All ranks have the same number of
/// them, as many as the one with the most parts.
class BlobPattern {
 public:
  /// Not collective; `comm` says which of the recorded ranks are this rank's. Throws InputError as
  /// BlobFile does.
  BlobPattern(const Comm& comm, const std::string& path);
  BlobPattern(const BlobPattern&) = delete;
  BlobPattern& operator=(const BlobPattern&) = delete;

  const Pattern& pattern() const { return pattern_; }  ///< its rounds are those that have data

  /// Fills the buffers of the round's transfers.
  void read(std::uint64_t round, std::span<std::byte* const> buffers);

 private:
  using Target = std::pair<std::uint64_t, std::uint64_t>;  // dataset, time

  struct Round {
    std::uint64_t recorded = 0;  ///< its number in the file
    std::vector<Target> targets;
  };

  std::vector<Transfer> transfers(std::uint64_t round);
  Transfer transfer(std::uint64_t slot, std::uint64_t round, const Target& target);
  const BlobIndex::Entry* find(std::uint64_t slot, std::uint64_t round, const Target& target);

  BlobFile file_;
  Pattern pattern_;
  std::uint64_t slots_ = 0;
  std::vector<BlobIndex> parts_;  ///< of the recorded ranks that this rank stands for
  std::vector<Round> rounds_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<Target, const BlobIndex::Entry*>>
      entry_of_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, Extent>, SelectionPtr> selections_;
};

}  // namespace slabmark
