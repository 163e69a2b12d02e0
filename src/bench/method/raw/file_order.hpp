#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bench/method/raw/raw_layout.hpp"
#include "bench/method/shared/selection_cache.hpp"
#include "bench/pattern/pattern.hpp"
#include "core/geometry/piece.hpp"

namespace slabmark {

/// The pieces of a transfer in ascending file order, in elements, independent of dataset and
/// buffer.
struct FilePieces {
  std::vector<Piece> pieces;
  bool one_memory_block = false;  ///< the buffer is read in one go, from pieces.front().buffer on
  std::uint64_t elements = 0;
};

FilePieces file_pieces(const Transfer& transfer);

/// A transfer of a round with its place in the file.
struct PlacedTransfer {
  std::size_t index = 0;   ///< in the round's transfers
  std::uint64_t base = 0;  ///< byte of the file at which the dataset (its record) begins
  std::uint64_t element_bytes = 1;
  const FilePieces* pieces = nullptr;

  std::uint64_t first_byte() const { return base + pieces->pieces.front().file * element_bytes; }
  std::uint64_t end_byte() const {
    const auto& last = pieces->pieces.back();
    return base + (last.file + last.length) * element_bytes;
  }
};

/// Bytes that are contiguous in the file and in memory.
struct FilePart {
  std::uint64_t offset = 0;
  std::byte* memory = nullptr;
  std::uint64_t bytes = 0;
};

/// The transfers of one round as what one call can move: ascending in the file, empty ones left
/// out.
class FileOrder {
 public:
  explicit FileOrder(std::vector<PlacedTransfer> transfers);

  std::span<const PlacedTransfer> transfers() const { return transfers_; }
  bool empty() const { return transfers_.empty(); }
  std::uint64_t bytes() const { return bytes_; }

  /// Two transfers lie between one another (partial requests to one dataset), so their parts must
  /// be sorted one by one. Otherwise each transfer ends before the next begins.
  bool interleaved() const { return interleaved_; }

  /// All bytes of the round are one piece of the file.
  bool contiguous() const;

  /// Visits all parts in ascending file order.
  void for_each_part(std::span<std::byte* const> buffers,
                     const std::function<void(const FilePart&)>& visit) const;

  /// Visits memory in file order, touching pieces merged where that needs no look at each of them.
  void for_each_memory_block(std::span<std::byte* const> buffers,
                             const std::function<void(std::byte*, std::uint64_t)>& visit) const;

 private:
  std::vector<PlacedTransfer> transfers_;
  std::uint64_t bytes_ = 0;
  bool interleaved_ = false;
};

/// Places the transfers of a round with `offset_of` (byte of the file at which a transfer's dataset
/// begins, nothing for one that is left out); pieces come from `cache`.
FileOrder order_in_file(
    const Pattern& pattern, std::span<const Transfer> transfers, SelectionCache<FilePieces>& cache,
    const std::function<std::optional<std::uint64_t>(const Transfer&)>& offset_of);

/// The same for a headerless file.
FileOrder order_in_file(const Pattern& pattern, std::span<const Transfer> transfers,
                        SelectionCache<FilePieces>& cache, const RawLayout& layout);

}  // namespace slabmark
