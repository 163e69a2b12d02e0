#include "slablog/data_file.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark::slablog {

DataFile::DataFile(std::string path, Ranks ranks, const Config& config, bool writable)
    : path_(std::move(path)),
      ranks_(std::move(ranks)),
      config_(config),
      files_{posix::File::open(path_,
                               writable ? posix::File::Access::write : posix::File::Access::read),
             {}} {}

void DataFile::added(std::uint64_t bytes) {
  pending_bytes_ += bytes;
  if (pending_bytes_ > config_.buffer_bytes) spill();
}

void DataFile::spill() {
  if (!files_.spill.is_open()) files_.spill = posix::File::create_unnamed(path_ + ".spill");
  for (auto* dataset : datasets()) {
    if (dataset->pending_bytes() == 0) continue;
    auto runs = dataset->pending();
    // As memory is aligned: see Postings.
    spilled_bytes_ = (spilled_bytes_ + 15) / 16 * 16;
    for (auto& run : runs) {
      if (run.source != in_memory) continue;
      const auto bytes = run.length * dataset->element_bytes();
      files_.spill.write_at(spilled_bytes_, reinterpret_cast<const std::byte*>(run.position),
                            bytes);
      run.position = spilled_bytes_;
      run.source = in_spill;
      spilled_bytes_ += bytes;
    }
    dataset->moved(std::move(runs));
  }
  pending_bytes_ = 0;
}

bool DataFile::has_pending() const {
  const auto all = datasets();
  return std::any_of(all.begin(), all.end(), [](const auto* one) { return one->has_pending(); });
}

void DataFile::drop_pending() {
  for (auto* dataset : datasets()) dataset->drop_pending();
  pending_bytes_ = 0;
  files_.spill = {};
  spilled_bytes_ = 0;
}

void DataFile::drop_pending(LogDataset& dataset) {
  pending_bytes_ -= std::min(pending_bytes_, dataset.pending_bytes());
  dataset.drop_pending();
}

void DataFile::check_all(bool well, const char* call, const std::function<void()>& check) const {
  ranks_.agreed([&] {
    if (check) check();
    if (well) return;
    throw IoError(fmt::format("{} failed on '{}', as HDF5 says; what was flushed before is safe.",
                              call, path_));
  });
}

}  // namespace slabmark::slablog
