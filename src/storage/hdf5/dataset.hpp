#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "pattern/dataset.hpp"
#include "storage/hdf5/handle.hpp"
#include "storage/hdf5/space.hpp"
#include "storage/hdf5/transfer_list.hpp"

namespace slabmark::hdf5 {

/// Memory and file type of an element: the machine's own, so nothing is converted.
hid_t native_type(ElementType type);

/// How a dataset is created.
struct CreationSettings {
  H5D_fill_time_t fill = H5D_FILL_TIME_NEVER;
  H5D_alloc_time_t alloc = H5D_ALLOC_TIME_DEFAULT;
  Extent chunk;  ///< with time, if there is; empty: contiguous
};

/// An open dataset. Creating, opening, extending and closing are collective in a parallel file.
class Dataset {
 public:
  Dataset(Handle handle, ElementType type, std::string path)
      : handle_(std::move(handle)), type_(type), path_(std::move(path)) {}

  Space space() const;
  void extend(const Extent& extent);

  void write(const Space& memory, const Space& file, const TransferList& list, const void* data);
  void read(const Space& memory, const Space& file, const TransferList& list, void* data);

  /// One dataset's part of a call that moves several.
  struct Part;
  static void write(std::span<const Part> parts, const TransferList& list);  ///< H5Dwrite_multi
  static void read(std::span<const Part> parts, const TransferList& list);   ///< H5Dread_multi

  /// H5Dwrite_n and H5Dread_n of boxes, whose elements lie in `data` one box after another.
  void write_n(std::vector<hsize_t*>& starts, std::vector<hsize_t*>& counts,
               const TransferList& list, void* data);
  void read_n(std::vector<hsize_t*>& starts, std::vector<hsize_t*>& counts,
              const TransferList& list, void* data);

  bool is_chunked() const;
  std::uint64_t storage_bytes() const;  ///< allocated in the file

 private:
  struct Columns;
  static void move(std::span<const Part> parts, const std::function<void(Columns&)>& call);

  Handle handle_;
  ElementType type_;
  std::string path_;
};

struct Dataset::Part {
  const Dataset* dataset;  ///< each at most once a call
  const Space* memory;
  const Space* file;
  void* data;
};

}  // namespace slabmark::hdf5
