#include "convert/series.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark::convert {

namespace {

/// The only unlimited dimension of a file.
std::size_t unlimited_of(const SeriesFile& file) {
  const auto& dimensions = file.source->contents().dimensions;
  const auto count = std::ranges::count(dimensions, true, &FileDimension::is_unlimited);
  if (count != 1) {
    throw InputError(fmt::format(
        "Cannot join '{}' with other files: it has {} unlimited dimensions, and files are joined "
        "along one. Make one with ncks --mk_rec_dmn.",
        file.path, count));
  }
  return static_cast<std::size_t>(
      std::ranges::find(dimensions, true, &FileDimension::is_unlimited) - dimensions.begin());
}

class Series : public Source {
 public:
  explicit Series(std::vector<SeriesFile> files) : files_(std::move(files)) {
    contents_ = files_.front().source->contents();
    unlimited_ = unlimited_of(files_.front());
    std::uint64_t records = 0;
    for (const SeriesFile& file : files_) {
      require_alike(file);
      begins_.push_back(records);
      records += records_of(file);
    }
    begins_.push_back(records);
    contents_.dimensions[unlimited_].length = records;
    require_ascending();
  }

  void read(std::size_t variable, const Hyperslab& box, std::byte* memory) override {
    if (!has_records(contents_.variables[variable])) return read_same(variable, box, memory);
    const std::uint64_t end = box.start.front() + box.block.front();
    for (std::size_t f = 0; f < files_.size(); ++f) {
      const std::uint64_t first = std::max(box.start.front(), begins_[f]);
      const std::uint64_t last = std::min(end, begins_[f + 1]);
      if (first >= last) continue;
      Hyperslab part = box;
      part.start.front() = first - begins_[f];
      part.block.front() = last - first;
      files_[f].source->read(variable, part, memory);
      memory += element_count(part) * size_of(contents_.variables[variable].type);
    }
  }

 protected:
  std::vector<Source*> parts() const override { return sources_of(files_); }

 private:
  std::uint64_t records_of(const SeriesFile& file) const {
    return file.source->contents().dimensions[unlimited_].length;
  }

  bool has_records(const FileVariable& variable) const {
    return !variable.dimensions.empty() && variable.dimensions.front() == unlimited_;
  }

  void require_alike(const SeriesFile& file) const {
    const FileContents& first = files_.front().source->contents();
    const FileContents& other = file.source->contents();
    const auto refuse = [&](const std::string& what) {
      throw InputError(fmt::format(
          "Cannot join '{}' and '{}': {}. Convert them one by one, or choose variables with "
          "--variables.",
          files_.front().path, file.path, what));
    };
    if (unlimited_of(file) != unlimited_) refuse("other dimensions are unlimited");
    std::vector<FileDimension> dimensions = other.dimensions;
    dimensions[unlimited_].length = first.dimensions[unlimited_].length;
    if (dimensions != first.dimensions) refuse("their dimensions differ");
    for (std::size_t v = 0; v < first.variables.size(); ++v) {
      const FileVariable& variable = first.variables[v];
      if (!is_same_variable(variable, other.variables[v])) {
        refuse(
            fmt::format("type, dimensions or attributes of variable '{}' differ", variable.name));
      }
      const auto& along = variable.dimensions;
      if (std::ranges::find(along, unlimited_) > along.begin() &&
          std::ranges::find(along, unlimited_) != along.end()) {
        refuse(
            fmt::format("variable '{}' has the unlimited dimension behind others", variable.name));
      }
    }
  }

  // Files that were named in another order would give a series that no tool can select from.
  void require_ascending() const {
    for (std::size_t v = 0; v < contents_.variables.size(); ++v) {
      const FileVariable& variable = contents_.variables[v];
      if (coordinate_dimension(contents_, variable) != unlimited_ ||
          variable.dimensions.size() != 1 || variable.type == ElementType::character) {
        continue;
      }
      const SeriesFile* before = nullptr;
      for (const SeriesFile& file : files_) {
        if (records_of(file) == 0) continue;
        if (before != nullptr &&
            coordinate(*before, v, records_of(*before) - 1) >= coordinate(file, v, 0)) {
          throw InputError(
              fmt::format("Cannot join '{}' and '{}': '{}' does not ascend from one to the next. "
                          "Name the files "
                          "in the order of their records.",
                          before->path, file.path, variable.name));
        }
        before = &file;
      }
    }
  }

  double coordinate(const SeriesFile& file, std::size_t variable, std::uint64_t record) const {
    return with_type(contents_.variables[variable].type, [&](auto value) {
      file.source->read(variable, make_box({record}, {1}), reinterpret_cast<std::byte*>(&value));
      return static_cast<double>(value);
    });
  }

  void read_same(std::size_t variable, const Hyperslab& box, std::byte* memory) {
    files_.front().source->read(variable, box, memory);
    std::vector<std::byte> other(element_count(box) * size_of(contents_.variables[variable].type));
    for (const SeriesFile& file : files_) {
      if (&file == &files_.front()) continue;
      file.source->read(variable, box, other.data());
      if (std::equal(other.begin(), other.end(), memory)) continue;
      throw InputError(
          fmt::format("Cannot join '{}' and '{}': variable '{}' has no records, and other "
                      "elements. Leave it out "
                      "with --skip.",
                      files_.front().path, file.path, contents_.variables[variable].name));
    }
  }

  std::vector<SeriesFile> files_;
  std::vector<std::uint64_t> begins_;  ///< first record of each file, and the end of the last
  std::size_t unlimited_ = 0;
};

}  // namespace

std::vector<Source*> sources_of(const std::vector<SeriesFile>& files) {
  std::vector<Source*> sources;
  for (const SeriesFile& file : files) sources.push_back(file.source.get());
  return sources;
}

std::unique_ptr<Source> join(std::vector<SeriesFile> files) {
  return std::make_unique<Series>(std::move(files));
}

}  // namespace slabmark::convert
