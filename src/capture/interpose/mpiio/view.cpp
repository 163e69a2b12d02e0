#include "capture/interpose/mpiio/view.hpp"

#include <algorithm>
#include <utility>

namespace slabmark::capture {

View::View(std::int64_t displacement, std::int64_t etype_bytes, TypeMap filetype)
    : displacement_(displacement), etype_bytes_(etype_bytes), filetype_(std::move(filetype)) {
  std::int64_t bytes = 0;
  for (const auto& run : filetype_.runs) {
    before_.push_back(bytes);
    bytes += run.bytes;
  }
}

ByteRuns View::bytes_of_file(std::int64_t from, std::int64_t bytes) const {
  ByteRuns result;
  if (bytes <= 0 || filetype_.size <= 0) return result;
  const auto& runs = filetype_.runs;
  if (runs.size() == 1 && runs[0].bytes == filetype_.extent) {
    return {{displacement_ + runs[0].offset + from, bytes}};
  }
  auto period = from / filetype_.size;
  auto within = from % filetype_.size;
  auto i = static_cast<std::size_t>(std::upper_bound(before_.begin(), before_.end(), within) -
                                    before_.begin() - 1);
  within -= before_[i];
  while (bytes > 0) {
    const auto length = std::min(bytes, runs[i].bytes - within);
    append(result, {displacement_ + period * filetype_.extent + runs[i].offset + within, length});
    bytes -= length;
    within = 0;
    if (++i == runs.size()) {
      i = 0;
      ++period;
    }
  }
  return result;
}

}  // namespace slabmark::capture
