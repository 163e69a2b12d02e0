#include "accel/slices/slice_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "storage/hdf5/attribute.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slice {

namespace {

constexpr std::uint64_t times_a_chunk = 64;

using Ints = std::array<std::int64_t, 3>;

template <class Get>
Ints of_axes(const Get& get) {
  Ints values{};
  for (std::size_t axis = 0; axis < 3; ++axis) values[axis] = static_cast<std::int64_t>(get(axis));
  return values;
}

/// The first point along an axis, counted from the grid's: negative in a halo.
std::int64_t begin_of(const Description& d, std::size_t axis) {
  return static_cast<std::int64_t>(d.slice.ranges[axis].begin) -
         static_cast<std::int64_t>(d.before);
}

/// Coordinate of the first point, and distance of points, along each axis of the file.
std::array<double, 3> first_of(const Description& d) {
  auto first = d.origin;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    first[axis] += static_cast<double>(begin_of(d, axis)) * d.spacing[axis];
  }
  return first;
}

std::array<double, 3> step_of(const Description& d) {
  auto step = d.spacing;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    step[axis] *= static_cast<double>(d.slice.ranges[axis].stride);
  }
  return step;
}

void describe_image(hdf5::File& file, const Description& d) {
  const auto& path = file.path();
  const auto group = file.open_group("/VTKHDF");
  const std::array<std::int64_t, 2> version = {2, 0};
  std::array<std::int64_t, 6> whole{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    whole[2 * axis + 1] = static_cast<std::int64_t>(d.slice.ranges[axis].count()) - 1;
  }
  const std::array<double, 9> direction = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  hdf5::write_attribute(group.get(), "Version", std::span<const std::int64_t>(version), path);
  hdf5::write_attribute(group.get(), "Type", std::string_view("ImageData"), path);
  hdf5::write_attribute(group.get(), "WholeExtent", std::span<const std::int64_t>(whole), path);
  hdf5::write_attribute(group.get(), "Origin", std::span<const double>(first_of(d)), path);
  hdf5::write_attribute(group.get(), "Spacing", std::span<const double>(step_of(d)), path);
  hdf5::write_attribute(group.get(), "Direction", std::span<const double>(direction), path);
  file.open_group("/VTKHDF/PointData");
}

/// For those who read the file as plain HDF5: where in the field its points lie. Not more than 8
/// attributes, or HDF5 moves them all into a heap of some KiB.
void describe_slice(hdf5::File& file, const Description& d) {
  const auto& path = file.path();
  const auto root = file.open_group("/");
  const auto note = [&](const char* name, const Ints& values) {
    hdf5::write_attribute(root.get(), name, std::span<const std::int64_t>(values), path);
  };
  note("grid", of_axes([&](auto axis) { return d.grid[axis]; }));
  note("begin", of_axes([&](auto axis) { return begin_of(d, axis); }));
  note("stride", of_axes([&](auto axis) { return d.slice.ranges[axis].stride; }));
  hdf5::write_attribute(root.get(), "grid_origin", std::span<const double>(d.origin), path);
  hdf5::write_attribute(root.get(), "grid_spacing", std::span<const double>(d.spacing), path);
  std::string names;
  for (const auto& name : d.fields) names += (names.empty() ? "" : ",") + name;
  hdf5::write_attribute(root.get(), "fields", std::string_view(names), path);
  if (!d.slice.normal) return;
  const auto normal = *d.slice.normal;
  hdf5::write_attribute(root.get(), "plane_normal", axis_names.substr(normal, 1), path);
  hdf5::write_attribute(root.get(), "plane_position", begin_of(d, normal), path);
}

const hdf5::CreationSettings contiguous = {.alloc = H5D_ALLOC_TIME_EARLY, .chunk = {}};

/// Allocated when first written.
const hdf5::CreationSettings contiguous_later = {.alloc = H5D_ALLOC_TIME_LATE, .chunk = {}};

/// Growing with time: one output a chunk.
hdf5::CreationSettings chunked(Extent chunk) {
  return {.alloc = H5D_ALLOC_TIME_EARLY, .chunk = std::move(chunk)};
}

/// One dataset for each axis of the file, slowest first, with the coordinates of the points:
/// dimension scales.
std::vector<hdf5::Dataset> write_coordinates(hdf5::File& file, const Description& d) {
  std::vector<hdf5::Dataset> scales;
  for (std::size_t axis = 3; axis-- > 0;) {
    const auto points = d.slice.ranges[axis].count();
    if (points == 1) continue;
    std::vector<double> coordinates(points);
    for (std::uint64_t i = 0; i < points; ++i) {
      coordinates[i] = first_of(d)[axis] + static_cast<double>(i) * step_of(d)[axis];
    }
    const std::string name(1, axis_names[axis]);
    const hdf5::Space space(Extent{points});
    auto scale = file.create_dataset(name, ElementType::float64, space, contiguous);
    scale.write(space, space, hdf5::TransferList(hdf5::TransferList::Mode::serial),
                coordinates.data());
    hdf5::make_scale(scale, name, file.path());
    scales.push_back(std::move(scale));
  }
  return scales;
}

struct Datasets {
  std::vector<hdf5::Dataset> data;
  std::optional<hdf5::Dataset> times;  ///< the dimension scale, which VTK reads under another name
};

/// All of a file; with a dimension of time if it is `growing`, else with one output and no such
/// dimension, for VTK asks that a single step has none.
Datasets build(hdf5::File& file, const Description& d, bool growing) {
  Datasets all;
  describe_image(file, d);
  describe_slice(file, d);
  const auto time_settings = growing ? chunked({times_a_chunk}) : contiguous;
  const std::uint64_t times = growing ? 0 : 1;
  all.times = file.create_dataset("time", ElementType::float64, hdf5::Space({times}, growing),
                                  time_settings);
  file.open_group(growing ? "/VTKHDF/Steps" : "/VTKHDF/FieldData");
  file.link("time", growing ? "VTKHDF/Steps/Values" : "VTKHDF/FieldData/TimeValue");
  // Coordinates would make a file of one output larger by as much as a small plane; attributes tell
  // the same.
  std::vector<hdf5::Dataset> scales;
  if (growing) {
    scales = write_coordinates(file, d);
    hdf5::make_scale(*all.times, "time", file.path());
  }
  auto extent = d.shape();
  if (growing) extent.insert(extent.begin(), 0);
  auto chunk = extent;
  if (growing) chunk.front() = 1;
  for (const auto& field : d.fields) {
    auto data =
        file.create_dataset("VTKHDF/PointData/" + field, d.type, hdf5::Space(extent, growing),
                            growing ? chunked(chunk) : contiguous_later);
    if (growing) hdf5::attach_scale(data, *all.times, 0, file.path());
    for (unsigned i = 0; i < scales.size(); ++i) {
      hdf5::attach_scale(data, scales[i], i + 1, file.path());
    }
    all.data.push_back(std::move(data));
  }
  return all;
}

}  // namespace

Extent Description::shape() const {
  Extent shape;
  for (std::size_t axis = 3; axis-- > 0;) {
    if (slice.ranges[axis].count() > 1) shape.push_back(slice.ranges[axis].count());
  }
  return shape;
}

std::uint64_t Description::bytes() const { return element_count(shape()) * size_of(type); }

SeriesFile::SeriesFile(const std::string& path, const Description& description)
    : description_(description), file_(hdf5::File::create_serial(path)) {
  auto datasets = build(file_, description_, true);
  data_ = std::move(datasets.data);
  times_ = std::move(datasets.times);
  count(0);
}

void SeriesFile::resize(std::uint64_t outputs) {
  auto extent = description_.shape();
  extent.insert(extent.begin(), outputs);
  for (auto& data : data_) data.extend(extent);
  capacity_ = outputs;
}

std::vector<std::uint64_t> SeriesFile::grow(std::uint64_t outputs, std::uint64_t whole) {
  // HDF5 does not recover from a full disk, so the room is taken before it learns of it: the data,
  // and what it needs for its index.
  constexpr std::uint64_t index_bytes = 16 << 10;
  const auto first = capacity_;
  {
    auto plain = posix::File::open(file_.path(), posix::File::Access::write);
    const auto end = plain.size();
    try {
      plain.reserve(end, (outputs - first) * description_.bytes() * data_.size() + index_bytes);
    } catch (...) {
      plain.resize(end);
      throw;
    }
  }
  // The times take their place too, which HDF5 keeps for them when count() cuts them off again:
  // before the data, for what lies last would be taken off the file.
  times_->extend({outputs});
  // Output by output, so that the fields of one lie side by side and are written by one request.
  std::vector<std::uint64_t> addresses;
  for (auto output = first; output < outputs; ++output) {
    resize(output + 1);
    Extent first_element(description_.shape().size() + 1, 0);
    first_element.front() = output;
    for (const auto& data : data_) addresses.push_back(data.chunk_address(first_element));
  }
  count(std::max(counted_, whole));
  return addresses;
}

void SeriesFile::set_time(std::uint64_t output, double time) {
  time_.resize(std::max<std::size_t>(time_.size(), output + 1));
  time_[output] = time;
}

// Not one more than are counted: VTK reads all times into room for that many.
void SeriesFile::write_times(std::uint64_t outputs) {
  times_->extend({outputs});
  const auto used = std::min<std::uint64_t>(time_.size(), outputs);
  if (used == 0) return;
  const hdf5::TransferList list(hdf5::TransferList::Mode::serial);
  hdf5::Space space({outputs});
  space.select(make_box({0}, {used}));
  times_->write(hdf5::Space({used}), space, list, time_.data());
}

void SeriesFile::count(std::uint64_t outputs) {
  write_times(outputs);
  counted_ = outputs;
  const auto steps = file_.open_group("/VTKHDF/Steps");
  hdf5::write_attribute(steps.get(), "NSteps", static_cast<std::int64_t>(outputs), file_.path());
  file_.flush();
}

void SeriesFile::close(std::uint64_t outputs) {
  if (outputs != capacity_) resize(outputs);
  count(outputs);
  data_.clear();
  times_.reset();
  file_.close();
}

FileImage make_image(const Description& description) {
  FileImage image;
  image.bytes = hdf5::File::image([&](hdf5::File& file) {
    auto datasets = build(file, description, false);
    // One element each, now that all else has its place: the data comes last, field after field.
    const hdf5::TransferList list(hdf5::TransferList::Mode::serial);
    const double nothing = 0.0;
    for (auto& data : datasets.data) {
      auto space = data.space();
      const auto dimensions = space.extent().size();
      space.select(make_box(Extent(dimensions, 0), Extent(dimensions, 1)));
      data.write(hdf5::Space(Extent{1}), space, list, &nothing);
      image.data.push_back(data.address());
    }
    image.time = datasets.times->address();
  });
  return image;
}

}  // namespace slabmark::slice
