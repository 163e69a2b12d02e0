#include "storage/hdf5/dataset.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/hdf5/attribute.hpp"

namespace slabmark::hdf5 {

bool has_filter(H5Z_filter_t number) { return H5Zfilter_avail(number) > 0; }

Handle creation_list(const CreationSettings& settings, const std::string& path) {
  auto list = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate", path);
  check(H5Pset_fill_time(list.get(), settings.fill), "H5Pset_fill_time", path);
  check(H5Pset_alloc_time(list.get(), settings.alloc), "H5Pset_alloc_time", path);
  if (!settings.times) {
    check(H5Pset_obj_track_times(list.get(), false), "H5Pset_obj_track_times", path);
  }
  if (settings.chunk.empty()) return list;
  const std::vector<hsize_t> chunk(settings.chunk.begin(), settings.chunk.end());
  check(H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data()), "H5Pset_chunk",
        path);
  if (settings.shuffle) check(H5Pset_shuffle(list.get()), "H5Pset_shuffle", path);
  if (settings.deflate > 0) {
    check(H5Pset_deflate(list.get(), settings.deflate), "H5Pset_deflate", path);
  }
  const auto add = [&](H5Z_filter_t number, std::span<const unsigned> values) {
    check(H5Pset_filter(list.get(), number, H5Z_FLAG_MANDATORY, values.size(), values.data()),
          "H5Pset_filter", path);
  };
  if (settings.zfp) {
    // Mode 5 of H5Z-ZFP, reversible. The original seism-core took mode 3, accuracy, with a
    // tolerance of 0: nearly as large, but no longer exact, so that nobody could check it.
    add(zfp_filter, std::array<unsigned, 4>{5, 0, 0, 0});
  }
  if (settings.filter.number != H5Z_FILTER_NONE) {
    add(settings.filter.number, settings.filter.values);
  }
  if (settings.fletcher32) check(H5Pset_fletcher32(list.get()), "H5Pset_fletcher32", path);
  return list;
}

Space Dataset::space() const {
  return Space(own(H5Dget_space(handle_.get()), H5Sclose, "H5Dget_space", path_));
}

void Dataset::extend(const Extent& extent) {
  const std::vector<hsize_t> dims(extent.begin(), extent.end());
  check(H5Dset_extent(handle_.get(), dims.data()), "H5Dset_extent", path_);
}

void Dataset::put_attributes(std::span<const Attribute> attributes) {
  hdf5::put_attributes(handle_.get(), attributes, path_);
}

void Dataset::write(const Space& memory, const Space& file, const TransferList& list,
                    const void* data) {
  // HDF5 refuses a null pointer also where nothing is selected.
  const char nothing = 0;
  check(H5Dwrite(handle_.get(), native_type(type_), memory.get(), file.get(), list.get(),
                 data == nullptr ? &nothing : data),
        "H5Dwrite", path_);
}

void Dataset::read(const Space& memory, const Space& file, const TransferList& list, void* data) {
  char nothing = 0;
  check(H5Dread(handle_.get(), native_type(type_), memory.get(), file.get(), list.get(),
                data == nullptr ? &nothing : data),
        "H5Dread", path_);
}

std::byte* Dataset::read(Run run, const Extent& extent, std::optional<std::uint64_t> time,
                         std::byte* out) {
  return read(native_type(type_), size_of(type_), run, extent, time, out);
}

void Dataset::read_as_stored(Run run, Extent extent, std::optional<std::uint64_t> time,
                             std::byte* out) {
  const auto type = own(H5Dget_type(handle_.get()), H5Tclose, "H5Dget_type", path_);
  const std::size_t bytes = H5Tget_size(type.get());
  if (space().extent().size() == extent.size() + (time ? 1 : 0)) {
    read(type.get(), bytes, run, extent, time, out);
    return;
  }
  extent.pop_back();
  const std::uint64_t first = run.offset / bytes;
  const Run elements{first, (run.end() + bytes - 1) / bytes - first};
  std::vector<std::byte> whole(elements.length * bytes);
  read(type.get(), bytes, elements, extent, time, whole.data());
  std::copy_n(whole.data() + run.offset % bytes, run.length, out);
}

std::byte* Dataset::read(hid_t type, std::size_t bytes, Run run, const Extent& extent,
                         std::optional<std::uint64_t> time, std::byte* out) {
  Space memory(Extent{1});
  Space file = space();
  for (const auto& box : boxes_of_range(run, extent)) {
    file.select(box, time);
    memory.become_dense(box, time.has_value());
    check(H5Dread(handle_.get(), type, memory.get(), file.get(), H5P_DEFAULT, out), "H5Dread",
          path_);
    out += element_count(box) * bytes;
  }
  return out;
}

/// The arrays that the calls for several datasets take.
struct Dataset::Columns {
  std::vector<hid_t> datasets, types, memory, files;
  std::vector<void*> data;
};

void Dataset::move(std::span<const Part> parts, const std::function<void(Columns&)>& call) {
  if (parts.empty()) return;
  char nothing = 0;
  Columns all;
  for (const auto& part : parts) {
    all.datasets.push_back(part.dataset->handle_.get());
    all.types.push_back(native_type(part.dataset->type_));
    all.memory.push_back(part.memory->get());
    all.files.push_back(part.file->get());
    all.data.push_back(part.data == nullptr ? &nothing : part.data);
  }
  call(all);
}

void Dataset::write(std::span<const Part> parts, const TransferList& list) {
  move(parts, [&](Columns& all) {
    std::vector<const void*> data(all.data.begin(), all.data.end());
    check(H5Dwrite_multi(parts.size(), all.datasets.data(), all.types.data(), all.memory.data(),
                         all.files.data(), list.get(), data.data()),
          "H5Dwrite_multi", parts.front().dataset->path_);
  });
}

void Dataset::read(std::span<const Part> parts, const TransferList& list) {
  move(parts, [&](Columns& all) {
    check(H5Dread_multi(parts.size(), all.datasets.data(), all.types.data(), all.memory.data(),
                        all.files.data(), list.get(), all.data.data()),
          "H5Dread_multi", parts.front().dataset->path_);
  });
}

bool Dataset::is_chunked() const { return H5Pget_layout(creation().get()) == H5D_CHUNKED; }

std::uint64_t Dataset::address() const {
  const auto address = H5Dget_offset(handle_.get());
  if (address == HADDR_UNDEF) fail("H5Dget_offset", path_);
  return address;
}

std::uint64_t Dataset::chunk_address(const Extent& element) const {
  const std::vector<hsize_t> at(element.begin(), element.end());
  unsigned filters = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t bytes = 0;
  check(H5Dget_chunk_info_by_coord(handle_.get(), at.data(), &filters, &address, &bytes),
        "H5Dget_chunk_info_by_coord", path_);
  if (address == HADDR_UNDEF) fail("H5Dget_chunk_info_by_coord", path_);
  return address;
}

std::uint64_t Dataset::storage_bytes() const { return H5Dget_storage_size(handle_.get()); }

bool Dataset::is_of_type() const {
  const auto type = own(H5Dget_type(handle_.get()), H5Tclose, "H5Dget_type", path_);
  const hid_t native = native_type(type_);
  return H5Tget_class(type.get()) == H5Tget_class(native) &&
         H5Tget_size(type.get()) == H5Tget_size(native);
}

bool Dataset::is_native() const {
  const auto type = own(H5Dget_type(handle_.get()), H5Tclose, "H5Dget_type", path_);
  return H5Tequal(type.get(), native_type(type_)) > 0;
}

void Dataset::refuse_layout(const char* reason) const {
  std::string name(256, '\0');
  const auto length = H5Iget_name(handle_.get(), name.data(), name.size());
  name.resize(length > 0 ? std::min<std::size_t>(length, name.size() - 1) : 0);
  throw IoError(fmt::format(
      "Dataset '{}' of '{}' {}, so its elements have no known place in the file; move it with "
      "another HDF5 method.",
      name, path_, reason));
}

Handle Dataset::creation() const {
  return own(H5Dget_create_plist(handle_.get()), H5Pclose, "H5Dget_create_plist", path_);
}

}  // namespace slabmark::hdf5
