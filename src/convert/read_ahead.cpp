#include "convert/read_ahead.hpp"

#include <utility>

namespace slabmark::convert {

void read(Source& source, const Batch& batch, Shares& shares) {
  const FileContents& contents = source.contents();
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    bytes += shares.runs[i].length * size_of(contents.variables[batch[i].variable].type);
  }
  shares.memory.resize(bytes);
  std::byte* to = shares.memory.data();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const VariableBox& box = batch[i];
    if (shares.runs[i].length == 0) continue;
    for (Hyperslab& part : boxes_of_range(shares.runs[i], box.size)) {
      for (std::size_t d = 0; d < part.start.size(); ++d) part.start[d] += box.start[d];
      source.read(box.variable, part, to);
      to += element_count(part) * size_of(contents.variables[box.variable].type);
    }
  }
}

ReadAhead::ReadAhead(Source& source, const FileContents& cuts, const std::vector<Batch>& batches,
                     std::uint64_t rank, std::uint64_t ranks, std::size_t first)
    : source_(source), cuts_(cuts), batches_(batches), rank_(rank), ranks_(ranks), batch_(first) {
  if (source.reads_in_threads() && first + 1 < batches.size()) thread_.emplace();
}

Shares& ReadAhead::next() {
  if (reading_ > 0) {
    thread_->wait(reading_);
    std::swap(now_, later_);
  } else {
    read_batch(batch_, now_);
  }
  reading_ = 0;
  if (++batch_ < batches_.size() && thread_) {
    reading_ = thread_->submit([this, batch = batch_] { read_batch(batch, later_); });
  }
  return now_;
}

void ReadAhead::read_batch(std::size_t batch, Shares& shares) const {
  shares.runs = shares_of(cuts_, batches_[batch], rank_, ranks_);
  read(source_, batches_[batch], shares);
}

}  // namespace slabmark::convert
