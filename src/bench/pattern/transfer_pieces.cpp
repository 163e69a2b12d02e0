#include "bench/pattern/transfer_pieces.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

/// The runs of a buffer's selection one at a time, while the file's runs set the pace.
class BufferRuns {
 public:
  explicit BufferRuns(const Selection& selection) : selection_(selection) {}

  /// The next run. There is one as long as fewer elements were taken than are selected.
  Run next() {
    Run run;
    while (!walk_.next(run)) {
      selection_.hyperslab(index_++, slab_);
      walk_.restart(slab_, selection_.extent());
    }
    return run;
  }

 private:
  const Selection& selection_;
  std::uint64_t index_ = 0;
  Hyperslab slab_;
  RunWalk walk_;
};

void check_pairing(const Selection& file, const Selection& buffer) {
  if (file.element_count() == buffer.element_count()) return;
  throw InputError(fmt::format(
      "A transfer selects {} elements of its dataset but {} of its buffer; select equally many.",
      file.element_count(), buffer.element_count()));
}

void visit_pieces_of_dense_buffer(const Selection& file,
                                  const std::function<void(const Piece&)>& visit) {
  std::uint64_t buffer = 0;
  file.for_each_run([&](Run run) {
    visit({run.offset, buffer, run.length});
    buffer += run.length;
  });
}

}  // namespace

void for_each_piece(const Transfer& transfer, const std::function<void(const Piece&)>& visit) {
  if (!transfer.buffer) return visit_pieces_of_dense_buffer(*transfer.file, visit);
  check_pairing(*transfer.file, *transfer.buffer);
  BufferRuns buffer_runs(*transfer.buffer);
  Run buffer;
  transfer.file->for_each_run([&](Run file) {
    while (file.length > 0) {
      if (buffer.length == 0) buffer = buffer_runs.next();
      const std::uint64_t length = std::min(file.length, buffer.length);
      visit({file.offset, buffer.offset, length});
      file = {file.offset + length, file.length - length};
      buffer = {buffer.offset + length, buffer.length - length};
    }
  });
}

std::vector<Piece> pieces_in_file_order(const Transfer& transfer) {
  std::vector<Piece> pieces;
  pieces.reserve(transfer.file->hyperslab_count());
  for_each_piece(transfer, [&](const Piece& piece) { pieces.push_back(piece); });
  if (!transfer.file->ascending()) {
    std::sort(pieces.begin(), pieces.end(),
              [](const Piece& a, const Piece& b) { return a.file < b.file; });
  }
  coalesce(pieces);
  return pieces;
}

}  // namespace slabmark
