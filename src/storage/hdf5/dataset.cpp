#include "storage/hdf5/dataset.hpp"

#include <vector>

#include "logvol/slablog.h"

namespace slabmark::hdf5 {

hid_t native_type(ElementType type) {
  switch (type) {
    case ElementType::uint8:
      return H5T_NATIVE_UINT8;
    case ElementType::int32:
      return H5T_NATIVE_INT32;
    case ElementType::int64:
      return H5T_NATIVE_INT64;
    case ElementType::float32:
      return H5T_NATIVE_FLOAT;
    case ElementType::float64:
      return H5T_NATIVE_DOUBLE;
  }
  return H5I_INVALID_HID;
}

Space Dataset::space() const {
  return Space(own(H5Dget_space(handle_.get()), H5Sclose, "H5Dget_space", path_));
}

void Dataset::extend(const Extent& extent) {
  const std::vector<hsize_t> dims(extent.begin(), extent.end());
  check(H5Dset_extent(handle_.get(), dims.data()), "H5Dset_extent", path_);
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

void Dataset::write_n(std::vector<hsize_t*>& starts, std::vector<hsize_t*>& counts,
                      const TransferList& list, void* data) {
  check(H5Dwrite_n(handle_.get(), native_type(type_), static_cast<int>(starts.size()),
                   starts.data(), counts.data(), list.get(), data),
        "H5Dwrite_n", path_);
}

void Dataset::read_n(std::vector<hsize_t*>& starts, std::vector<hsize_t*>& counts,
                     const TransferList& list, void* data) {
  check(H5Dread_n(handle_.get(), native_type(type_), static_cast<int>(starts.size()), starts.data(),
                  counts.data(), list.get(), data),
        "H5Dread_n", path_);
}

bool Dataset::is_chunked() const {
  const auto list = own(H5Dget_create_plist(handle_.get()), H5Pclose, "H5Dget_create_plist", path_);
  return H5Pget_layout(list.get()) == H5D_CHUNKED;
}

std::uint64_t Dataset::storage_bytes() const { return H5Dget_storage_size(handle_.get()); }

}  // namespace slabmark::hdf5
