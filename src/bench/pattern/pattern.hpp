#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/pattern/selection.hpp"
#include "core/geometry/dataset.hpp"

namespace slabmark {

class Content;
struct CapturedRun;
struct SliceSource;

/// The elements that this rank moves between one of its buffers and one dataset in one round.
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

/// The files of the rounds of a pattern. A trial of the first two kinds is a pass over all
/// rounds; of the others it is one round, as a simulation writes one output after another.
enum class FilePolicy {
  one,       ///< all rounds to one file
  several,   ///< all rounds to each of Pattern::files files, one file after another
  a_round,   ///< each round to a file of its own
  appended,  ///< all rounds to one file, which stays open between them
};

/// The part of each dataset that this rank touches in each round. Knows of no I/O and no library.
/// Every rank has the same datasets, number of rounds, and in each round the same datasets and
/// times in the same order (with select_none() where it has no data), so that methods may issue
/// collective calls per transfer.
struct Pattern {
  std::string name;                             ///< kind of pattern, for example "decomposition"
  std::map<std::string, std::string> settings;  ///< what it was made from, for the record
  std::vector<Dataset> datasets;
  std::vector<Attribute> attributes = {};  ///< of the file, for formats that have them
  std::uint64_t rounds = 1;
  FilePolicy file_policy = FilePolicy::one;
  std::uint64_t files = 1;  ///< of policy `several`
  std::uint64_t file = 0;   ///< which of all its files a file_part() is: hashes differ by file

  /// Transfers of one round, in order. At most one per (dataset, time) unless the pattern is made
  /// of partial requests.
  std::function<std::vector<Transfer>(std::uint64_t round)> transfers;

  /// Several ranks move the same element, which MPI-IO may not bear in collective calls.
  bool ranks_overlap = false;
  /// A captured program writes elements again in later calls, other ranks' ones among them: what
  /// its earlier calls write there is outdated (bench/pattern/content.hpp).
  bool rewrites = false;

  /// The content of the elements; null: the hashes of bench/pattern/content.hpp.
  std::shared_ptr<const Content> content;

  /// The source of a pattern of slices; null for other patterns.
  std::shared_ptr<const SliceSource> slices = nullptr;

  /// The program's own calls, for a captured pattern; null for other patterns.
  std::shared_ptr<const CapturedRun> captured = nullptr;
};

/// True if each round is a trial of its own.
bool round_is_trial(const Pattern& pattern);

/// Number of files that all rounds go to.
std::uint64_t file_count(const Pattern& pattern);

/// Where file `i`, from 0, goes if "out.h5" was asked for: there, or, by policies of more than one
/// file, to "out_1.h5", "out_2.h5" and so on.
std::string file_path(const Pattern& pattern, const std::string& path, std::uint64_t i);

/// The contents of file `i`, as a pattern of one file. With one file per round, the times of each
/// round begin at 0; the pattern's own contents stay those of its times in `pattern`. Hashes differ
/// from file to file, so that files that were exchanged are found out; contents of the pattern's
/// own that are the same at all times are what a program or a user's function says, and are not.
Pattern file_part(const Pattern& pattern, std::uint64_t i);

/// Bytes that this rank moves in one round.
std::uint64_t moved_bytes(const Pattern& pattern, std::uint64_t round);

/// Sum over all rounds of this rank's moved bytes.
std::uint64_t moved_bytes(const Pattern& pattern);

/// Sum over all rounds of this rank's hyperslabs: its requests.
std::uint64_t request_count(const Pattern& pattern);

}  // namespace slabmark
