#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pattern/dataset.hpp"
#include "pattern/selection.hpp"

namespace slabmark {

class Content;

/// What this rank moves between one of its buffers and one dataset in one round.
struct Transfer {
  std::size_t dataset = 0;  ///< index into Pattern::datasets
  std::uint64_t time = 0;   ///< position in the time dimension; 0 for datasets without one
  SelectionPtr file;        ///< in the dataset's extent, never null
  SelectionPtr buffer;      ///< in the shape of the memory buffer, as many elements as `file` and
                        ///< paired with them in order; null: the buffer holds just them, densely
};

/// Bytes of the memory buffer behind `transfer`, gaps included.
std::uint64_t buffer_bytes(const Transfer& transfer, const Dataset& dataset);

/// Bytes that `transfer` moves.
std::uint64_t moved_bytes(const Transfer& transfer, const Dataset& dataset);

/// Which part of which dataset this rank touches in each round. Knows of no I/O and no library.
/// Every rank has the same datasets, number of rounds, and in each round the same datasets and
/// times in the same order (with select_none() where it has no data), so that methods may issue
/// collective calls per transfer.
struct Pattern {
  std::string name;                             ///< kind of pattern, for example "decomposition"
  std::map<std::string, std::string> settings;  ///< what it was made from, for the record
  std::vector<Dataset> datasets;
  std::vector<Attribute> attributes = {};  ///< of the file, for formats that have them
  std::uint64_t rounds = 1;

  /// Transfers of one round, in order. At most one per (dataset, time) unless the pattern is made
  /// of partial requests.
  std::function<std::vector<Transfer>(std::uint64_t round)> transfers;

  /// What the elements hold; null: the hashes of pattern/content.hpp.
  std::shared_ptr<const Content> content;
};

/// Sum over all rounds of this rank's moved bytes.
std::uint64_t moved_bytes(const Pattern& pattern);

/// Sum over all rounds of this rank's hyperslabs: its requests.
std::uint64_t request_count(const Pattern& pattern);

}  // namespace slabmark
