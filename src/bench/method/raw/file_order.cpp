#include "bench/method/raw/file_order.hpp"

#include <algorithm>

#include "bench/pattern/transfer_pieces.hpp"

namespace slabmark {

FilePieces file_pieces(const Transfer& transfer) {
  FilePieces result;
  result.pieces = pieces_in_file_order(transfer);
  result.pieces.shrink_to_fit();
  result.one_memory_block = true;
  for (std::size_t i = 0; i < result.pieces.size(); ++i) {
    const auto& piece = result.pieces[i];
    result.elements += piece.length;
    if (i > 0 && result.pieces[i - 1].buffer + result.pieces[i - 1].length != piece.buffer) {
      result.one_memory_block = false;
    }
  }
  return result;
}

FileOrder::FileOrder(std::vector<PlacedTransfer> transfers) : transfers_(std::move(transfers)) {
  std::erase_if(transfers_, [](const auto& placed) { return placed.pieces->pieces.empty(); });
  std::sort(transfers_.begin(), transfers_.end(),
            [](const auto& a, const auto& b) { return a.first_byte() < b.first_byte(); });
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    bytes_ += transfers_[i].pieces->elements * transfers_[i].element_bytes;
    if (i > 0 && transfers_[i - 1].end_byte() > transfers_[i].first_byte()) interleaved_ = true;
  }
}

bool FileOrder::contiguous() const {
  return !empty() && !interleaved_ &&
         transfers_.back().end_byte() - transfers_.front().first_byte() == bytes_;
}

void FileOrder::for_each_part(std::span<std::byte* const> buffers,
                              const std::function<void(const FilePart&)>& visit) const {
  std::vector<FilePart> sorted;
  for (const auto& placed : transfers_) {
    for (const auto& piece : placed.pieces->pieces) {
      const FilePart part{placed.base + piece.file * placed.element_bytes,
                          buffers[placed.index] + piece.buffer * placed.element_bytes,
                          piece.length * placed.element_bytes};
      if (interleaved_) {
        sorted.push_back(part);
      } else {
        visit(part);
      }
    }
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  for (const auto& part : sorted) visit(part);
}

void FileOrder::for_each_memory_block(
    std::span<std::byte* const> buffers,
    const std::function<void(std::byte*, std::uint64_t)>& visit) const {
  if (interleaved_) {
    for_each_part(buffers, [&](const FilePart& part) { visit(part.memory, part.bytes); });
    return;
  }
  for (const auto& placed : transfers_) {
    const auto size = placed.element_bytes;
    auto* const buffer = buffers[placed.index];
    const auto& pieces = placed.pieces->pieces;
    if (placed.pieces->one_memory_block) {
      visit(buffer + pieces.front().buffer * size, placed.pieces->elements * size);
      continue;
    }
    for (const auto& piece : pieces) visit(buffer + piece.buffer * size, piece.length * size);
  }
}

FileOrder order_in_file(
    const Pattern& pattern, std::span<const Transfer> transfers, SelectionCache<FilePieces>& cache,
    const std::function<std::optional<std::uint64_t>(const Transfer&)>& offset_of) {
  std::vector<PlacedTransfer> placed;
  placed.reserve(transfers.size());
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const auto& transfer = transfers[i];
    const auto offset = offset_of(transfer);
    if (!offset) continue;
    const auto& pieces =
        cache.get(transfer.file, transfer.buffer, 0, [&] { return file_pieces(transfer); });
    placed.push_back({i, *offset, size_of(pattern.datasets[transfer.dataset].type), &pieces});
  }
  return FileOrder(std::move(placed));
}

FileOrder order_in_file(const Pattern& pattern, std::span<const Transfer> transfers,
                        SelectionCache<FilePieces>& cache, const RawLayout& layout) {
  return order_in_file(pattern, transfers, cache, [&](const Transfer& transfer) {
    return layout.offset(transfer.dataset, transfer.time);
  });
}

}  // namespace slabmark
