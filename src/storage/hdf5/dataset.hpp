#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/geometry/dataset.hpp"
#include "storage/hdf5/element_type.hpp"
#include "storage/hdf5/handle.hpp"
#include "storage/hdf5/space.hpp"
#include "storage/hdf5/transfer_list.hpp"

namespace slabmark::hdf5 {

/// Number under which the ZFP filter is registered with the HDF Group.
constexpr H5Z_filter_t zfp_filter = 32013;
/// The same of Zstandard.
constexpr H5Z_filter_t zstd_filter = 32015;

/// A filter of HDF5 or of a plugin, by its registered number, with the values that it takes.
struct Filter {
  H5Z_filter_t number = H5Z_FILTER_NONE;
  std::vector<unsigned> values;

  auto operator<=>(const Filter&) const = default;
};

/// How a dataset is created.
struct CreationSettings {
  H5D_fill_time_t fill = H5D_FILL_TIME_NEVER;
  H5D_alloc_time_t alloc = H5D_ALLOC_TIME_DEFAULT;
  bool times = true;  ///< HDF5 notes when the dataset was made
  Extent chunk;       ///< with time, if there is; empty: contiguous
  // Chunked datasets only; run in this order.
  bool shuffle = false;
  unsigned deflate = 0;  ///< level 1 to 9; 0: not compressed
  bool zfp = false;      ///< the registered filter 32013, where HDF5 finds it
  Filter filter = {};    ///< a further one
  bool fletcher32 = false;

  auto operator<=>(const CreationSettings&) const = default;
  bool has_filters() const {
    return shuffle || deflate > 0 || zfp || filter.number != H5Z_FILTER_NONE || fletcher32;
  }
};

/// The creation property list that says so. `path` is for the message of an error.
Handle creation_list(const CreationSettings& settings, const std::string& path);

/// True if HDF5 has the filter, built in or as a plugin that it finds.
bool has_filter(H5Z_filter_t number);
inline bool has_deflate() { return has_filter(H5Z_FILTER_DEFLATE); }
inline bool has_zfp() { return has_filter(zfp_filter); }

/// An open dataset. Creating, opening, extending and closing are collective in a parallel file.
class Dataset {
 public:
  Dataset(Handle handle, ElementType type, std::string path)
      : handle_(std::move(handle)), type_(type), path_(std::move(path)) {}

  Space space() const;
  void extend(const Extent& extent);
  void put_attributes(std::span<const Attribute> attributes);  ///< collective

  void write(const Space& memory, const Space& file, const TransferList& list, const void* data);
  void read(const Space& memory, const Space& file, const TransferList& list, void* data);

  /// Reads the elements `run` of an array of `extent`, without MPI; with a `time`, of the array at
  /// that time. Returns the end of what was read.
  std::byte* read(Run run, const Extent& extent, std::optional<std::uint64_t> time, std::byte* out);

  /// The same in the file's own type, so that nothing is converted. Where the dataset has one
  /// dimension less than that, the last is that of the bytes of its elements.
  void read_as_stored(Run run, Extent extent, std::optional<std::uint64_t> time, std::byte* out);

  /// One dataset's part of a call that moves several.
  struct Part;
  static void write(std::span<const Part> parts, const TransferList& list);  ///< H5Dwrite_multi
  static void read(std::span<const Part> parts, const TransferList& list);   ///< H5Dread_multi

  bool is_chunked() const;
  hid_t get() const { return handle_.get(); }
  ElementType type() const { return type_; }
  const std::string& path() const { return path_; }  ///< of the file
  /// Where the data of a contiguous dataset begins in the file, in bytes. Throws IoError where no
  /// space is allocated yet.
  std::uint64_t address() const;
  /// The same of the chunk whose first element is `element`.
  std::uint64_t chunk_address(const Extent& element) const;
  std::uint64_t storage_bytes() const;  ///< allocated in the file

  /// The class and size of the elements in the file are those of the type, the byte order may be
  /// another.
  bool is_of_type() const;

  /// The file holds elements as the machine does, so that its bytes need no conversion.
  bool is_native() const;

  /// Where the elements are, for who moves them without HDF5.
  Handle creation() const;  ///< H5Dget_create_plist
  [[noreturn]] void refuse_layout(const char* reason) const;

 private:
  std::byte* read(hid_t type, std::size_t bytes, Run run, const Extent& extent,
                  std::optional<std::uint64_t> time, std::byte* out);

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
