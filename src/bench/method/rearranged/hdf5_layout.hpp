#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/method/hdf5/options.hpp"
#include "bench/pattern/pattern.hpp"
#include "bench/pattern/transfer_pieces.hpp"
#include "collective/exchange/file_domain.hpp"
#include "collective/filters/chunk_store.hpp"
#include "core/geometry/chunk_grid.hpp"
#include "storage/hdf5/chunks.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark {

/// Where the datasets of a pattern lie in an HDF5 file: what the root finds out of HDF5 and all
/// ranks then know. An array, which is one record of a dataset, lies in one piece, or in chunks:
/// then it has an offset beyond the file (see ArrayPlace), the bytes of its line counted from
/// there.
class Hdf5Layout {
 public:
  explicit Hdf5Layout(const Pattern& pattern);

  /// On root: looks at a dataset, the next of the pattern's. Throws IoError where its elements have
  /// no known place. `creation`: its list as it was made; without one HDF5 is asked.
  void add(const hdf5::Dataset& dataset, const std::string& path,
           const hdf5::Handle* creation = nullptr);

  /// All of it as numbers, and back on every rank.
  std::vector<std::uint64_t> numbers() const;
  Hdf5Layout(const Pattern& pattern, std::span<const std::uint64_t> numbers);

  std::uint64_t offset(std::size_t dataset, std::uint64_t time) const;
  /// The chunks of an array; null of one that lies in one piece.
  const ChunkGrid* grid(std::size_t dataset) const;
  bool has_filters(std::size_t dataset) const { return all_[dataset].kind == Kind::filtered; }
  bool has_filters() const;
  /// Creation list of a dataset with filters.
  hdf5::Handle creation(std::size_t dataset) const;
  std::size_t list_of(std::size_t dataset) const { return all_[dataset].list; }

  /// A chunk by the offset at which it begins beyond the file, or of a byte in it.
  struct Chunk {
    std::size_t dataset;
    std::uint64_t time, number;
    std::uint64_t in_chunk;  ///< bytes before that byte
  };
  Chunk chunk_at(std::uint64_t offset) const;
  std::uint64_t chunk_bytes(std::size_t dataset) const;
  hdf5::StoredChunk stored(const FilteredChunk& chunk) const;
  /// The chunks with filters that the file holds, on root after add(), ascending.
  const std::vector<FilteredChunk>& filtered() const { return filtered_; }

  /// Bytes of the file that hold the arrays of datasets without filters, ascending.
  RunList data() const;

  /// Visits the bytes [offset, offset + bytes) as pieces of the file: visit(address, bytes).
  template <class Visit>
  void for_each_piece(std::uint64_t offset, std::uint64_t bytes, const Visit& visit) const;

 private:
  enum class Kind : std::uint64_t { one_piece, chunks, filtered };
  struct One {
    Kind kind = Kind::one_piece;
    ChunkGrid grid;        ///< of one record
    std::size_t list = 0;  ///< of lists_
    /// In one piece: of each record, or one. In chunks without filters: of each chunk.
    std::vector<std::uint64_t> addresses;
    std::uint64_t begin = 0;  ///< in chunks: beyond the file
  };

  std::uint64_t records(std::size_t dataset) const;
  std::uint64_t line_bytes(std::size_t dataset) const {
    return all_[dataset].grid.chunks() * chunk_bytes(dataset);
  }
  void note_chunks(const hdf5::Dataset& dataset, const std::string& path);
  void begin_line();

  const Pattern* pattern_;
  std::uint64_t records_;  ///< of datasets with time
  std::vector<One> all_;
  std::vector<std::string> lists_;  ///< as H5Pencode2 writes them
  std::vector<FilteredChunk> filtered_;
  std::uint64_t end_ = beyond_file;  ///< of all lines
};

template <class Visit>
void Hdf5Layout::for_each_piece(std::uint64_t offset, std::uint64_t bytes,
                                const Visit& visit) const {
  if (offset < beyond_file) return visit(offset, bytes);
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  while (bytes > 0) {
    const Chunk chunk = chunk_at(offset);
    const One& one = all_[chunk.dataset];
    const std::uint64_t part = std::min(bytes, chunk_bytes(chunk.dataset) - chunk.in_chunk);
    const std::uint64_t next =
        one.addresses[chunk.time * one.grid.chunks() + chunk.number] + chunk.in_chunk;
    if (length > 0 && address + length != next) {
      visit(address, length);
      length = 0;
    }
    if (length == 0) address = next;
    length += part;
    offset += part;
    bytes -= part;
  }
  visit(address, length);
}

}  // namespace slabmark
