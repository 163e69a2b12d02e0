#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "accel/hdf5_connector/canonical/chunk_file.hpp"
#include "accel/hdf5_connector/canonical/open_datasets.hpp"
#include "accel/hdf5_connector/canonical/posting_key.hpp"
#include "collective/context.hpp"
#include "collective/plan_cache.hpp"
#include "collective/settings.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::slablog {

/// The part of the engine that files of a group of ranks share.
struct SharedContext {
  explicit SharedContext(MPI_Comm parent) : context(parent) {}
  const Comm& comm() const { return context.comm(); }

  collective::Context context;
  collective::PlanCache<PostingKey> plans{4};
  collective::PlanCache<PostingKey> read_plans{4};
  std::uint64_t largest_chunk = 0;  ///< bytes, of all flushes so far
};

/// Puts what the ranks have pending of a file to its places, and reads from there: the adapter of
/// the collective engine for files in the canonical layout.
class CollectiveWriter {
 public:
  /// `comm`, that of the ranks that have the file open, and `file` live as long. `left_out`: see
  /// left_out_of_chunk_addresses().
  CollectiveWriter(const Comm& comm, posix::File& file, collective::Settings settings,
                   std::uint64_t left_out)
      : comm_(comm), file_(file), settings_(std::move(settings)), chunks_(comm, file, left_out) {}

  struct Flush {
    OpenDatasets& datasets;
    Location file;  ///< below the connector
    posix::File& spill;
    std::uint64_t spilled_bytes = 0;
    bool may_be_fresh = false;  ///< see OpenDatasets::find()
    /// Collective: leaves each element that several ranks have pending to one of them.
    std::function<void()> resolve_overlaps;
  };
  /// Collective: writes what is pending on any rank. All ranks throw the same IoError where one
  /// could not write.
  void write(const Flush& flush);

  /// Collective, when nothing of the dataset is pending on any rank: reads what each rank wants of
  /// it, null for nothing. All ranks throw the same IoError where one could not read.
  void read(CanonicalDataset& dataset, Posting* mine);

  /// Before MPI ends.
  static void forget_all();

 private:
  using Names = std::vector<ArrayName>;

  void begin();
  Names write_pending(const Flush& flush);
  Names write(std::span<Posting> mine, const Flush& flush);
  std::vector<FilteredArray> chunked_arrays(const Flush& flush,
                                            const std::map<std::uint64_t, std::uint64_t>& offsets);
  void prepare(const FileDomain& domain);
  FilteredArray filtered(CanonicalDataset& dataset, std::uint64_t offset);
  const FlushPlan& plan_for(const FileDomain& domain, PostingKey::Mine mine, bool writes);

  const Comm& comm_;
  posix::File& file_;
  collective::Settings settings_;
  std::shared_ptr<SharedContext> shared_;  ///< null before the first flush
  ChunkFile chunks_;
  hdf5::PipelineCache pipelines_;
};

}  // namespace slabmark::slablog
