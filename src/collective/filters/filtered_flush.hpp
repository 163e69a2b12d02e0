#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "collective/exchange/rearranger.hpp"
#include "collective/filters/chunk_store.hpp"
#include "core/base/scratch_bytes.hpp"
#include "core/geometry/chunk_grid.hpp"
#include "storage/hdf5/filter_pipeline.hpp"

namespace slabmark {

/// An array of a flush whose chunks go through filters. In the flush's domain its place has
/// grid->elements() elements and the unit grid->chunk_elements(). Where its elements are too large
/// for the exchange, grid and place count equal parts of them, several along the fastest dimension.
struct FilteredArray {
  std::uint64_t offset = 0;  ///< of its ArrayPlace
  const ChunkGrid* grid = nullptr;
  hdf5::FilterPipeline* pipeline = nullptr;  ///< arrays of one type, chunk and filters share it
};

/// The work of filters on this rank.
struct FilterTally {
  std::uint64_t chunks = 0;
  std::uint64_t raw_bytes = 0, stored_bytes = 0;  ///< of these chunks, without and with filters
  double filters = 0.0;                           ///< seconds in them
  double allocation = 0.0;                        ///< seconds until all have space in the file
};

/// Writes and reads arrays with filters in the flushes of a Rearranger. Each aggregator runs the
/// filters for the chunks of its range, so the more ranks aggregate, the more cores work: let all
/// do. Other arrays of the flush go their way beside them.
class FilteredFlush {
 public:
  /// Both outlive it.
  FilteredFlush(const Comm& comm, ChunkStore& store) : comm_(comm), store_(store) {}

  /// Collective, after which all chunks that some rank has an element of are in the file. What no
  /// rank has of them keeps what the file holds, or becomes the fill value. `arrays` ascend by
  /// offset. A rank holds its chunks with filters until all have space, so up to as many bytes as
  /// its part of the arrays has without. A failure of `access` is agreed before anything gets space
  /// in the file. Where filters fail for a chunk, or what it needs cannot be read, all others go
  /// into the file before that is agreed.
  Rearranger::Tally write(Rearranger& rearranger, const Rearranger::Flush& flush,
                          std::span<const FilteredArray> arrays,
                          const Rearranger::FileAccess& access);

  /// Collective. Of a chunk that the file does not hold ranks get the fill value.
  Rearranger::Tally read(Rearranger& rearranger, const Rearranger::Flush& flush,
                         std::span<const FilteredArray> arrays,
                         const Rearranger::FileAccess& access);

  /// The work of all flushes so far.
  const FilterTally& tally() const { return tally_; }

 private:
  struct Chunk {
    const FilteredArray& array;
    std::uint64_t number;
  };

  /// Incomplete: no rank has the rest, in an array that was written to before.
  enum class Wanted { all, incomplete, plain };

  std::vector<FilteredChunk> chunks_of_mine(const Rearranger& rearranger,
                                            const Rearranger::Flush& flush,
                                            std::span<const FilteredArray> arrays,
                                            Wanted wanted) const;
  static Chunk chunk_at(std::span<const FilteredArray> arrays, std::uint64_t place);
  static const FilteredChunk* find(const std::vector<FilteredChunk>& chunks, std::uint64_t place);
  bool is_filtered(const Chunk& chunk) const;
  void load(const Chunk& chunk, const FilteredChunk& stored, std::byte* memory);
  void complete(const Chunk& chunk, std::uint64_t place, std::byte* memory,
                std::span<const Run> missing);
  bool write_plain(std::uint64_t place, std::byte* memory);
  void filter(const Chunk& chunk, std::uint64_t place, const std::byte* memory);
  std::byte* room_for(std::uint64_t bytes);
  void write_filtered();

  const Comm& comm_;
  ChunkStore& store_;
  std::vector<FilteredChunk> known_;   ///< of the flush, what the file holds, ascending
  std::vector<FilteredChunk> plain_;   ///< those without filters
  std::vector<FilteredChunk> chunks_;  ///< filtered in this flush, ascending
  std::vector<std::byte*> filtered_;   ///< their bytes, in the blocks
  std::vector<ScratchBytes> blocks_;   ///< filled one after another: one would grow, and be copied
  std::size_t block_ = 0;              ///< which is being filled
  std::uint64_t used_ = 0;             ///< bytes of it
  std::vector<std::byte> stored_, before_;
  std::exception_ptr first_failure_;  ///< of a chunk in this flush, which stays as it was
  FilterTally tally_;
};

}  // namespace slabmark
