#include "bench/method/slice/reader.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/method/slice/method.hpp"
#include "core/base/error.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark {

namespace {

class SliceReader : public PlainReader {
 public:
  SliceReader(const Pattern& pattern, const std::string& path)
      : pattern_(pattern), declaration_(declare(pattern, path)) {
    open(0, 0);  // what is not there at all shows at once
  }

  void read(std::size_t dataset, std::uint64_t time, Run run, std::byte* out) override {
    if (!(open_ == std::pair{dataset, appended_ ? 0 : time})) open(dataset, time);
    auto extent = data_->space().extent();
    if (appended_) extent.erase(extent.begin());
    require_as_many(extent, dataset);
    data_->read(run, extent, appended_ ? std::optional(time) : std::nullopt, out);
  }

 private:
  void open(std::size_t dataset, std::uint64_t time) {
    const auto& cut = declaration_.cuts[dataset / pattern_.slices->fields];
    const auto stem = declaration_.prefix + cut.slice.name;
    path_ = file_of(slice::FileMode::append, stem, 0);
    appended_ = std::filesystem::exists(path_);
    if (!appended_) path_ = file_of(slice::FileMode::file_per_output, stem, time);
    data_.reset();
    file_ = hdf5::File::open_serial(path_);
    data_.emplace(file_->open_dataset("VTKHDF/PointData/" + pattern_.datasets[dataset].name,
                                      pattern_.datasets[dataset].type));
    open_ = {dataset, appended_ ? 0 : time};
  }

  // VTK has no axes of one point, so that the shape is another than the pattern's.
  void require_as_many(const Extent& extent, std::size_t dataset) const {
    const auto due = element_count(pattern_.datasets[dataset].extent());
    if (element_count(extent) == due) return;
    throw IoError(fmt::format("'{}' holds {} elements of '{}' an output instead of {}.", path_,
                              element_count(extent), pattern_.datasets[dataset].name, due));
  }

  const Pattern& pattern_;
  slice::Declaration declaration_;
  bool appended_ = true;
  std::string path_;
  std::optional<hdf5::File> file_;
  std::optional<hdf5::Dataset> data_;
  std::pair<std::size_t, std::uint64_t> open_;
};

}  // namespace

std::unique_ptr<PlainReader> open_slices(const Comm&, const Pattern& pattern,
                                         const std::string& path) {
  return std::make_unique<SliceReader>(pattern, path);
}

}  // namespace slabmark
