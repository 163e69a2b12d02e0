#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <hdf5.h>
#include <mpi.h>

#include "storage/hdf5/dataset.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

/// How a parallel file is created or opened.
struct AccessSettings {
  H5F_libver_t low = H5F_LIBVER_EARLIEST;
  /// The latest format of HDF5 2 is beyond the tools that people have installed.
  H5F_libver_t high = H5F_LIBVER_V110;
  bool collective_metadata = true;
  /// Objects of at least `align_threshold` bytes begin at a multiple of `alignment` bytes.
  std::uint64_t alignment = 1;
  std::uint64_t align_threshold = 1;
  /// The bytes go into several files through HDF5's subfiling driver, which wants
  /// MPI_THREAD_MULTIPLE; what stands at the path is then a stub.
  bool subfiling = false;
  std::uint64_t subfiles = 0;  ///< their number; 0: one for each node
  /// Take the place of an (empty) file, such as `lfs setstripe` leaves.
  bool replace = false;
  /// Bytes in which space for metadata is allocated, so that it does not lie between the data; 0:
  /// as HDF5 does (2 KiB).
  std::uint64_t metadata_block = 0;
  /// Chunks may be given space without their data (see chunks.hpp); files without MPI only.
  bool placeholders = false;
  /// The root group remembers the order in which objects and attributes were made.
  bool creation_order = false;
  /// Chunks that a node of a dataset's index holds, for files of one process; 0: 64, as HDF5 does.
  /// A node takes its space even when it holds one.
  unsigned index_node = 0;
  /// HDF5 keeps chunks in memory, for which each open chunked dataset takes 64 KiB before it has
  /// any; of no use to who moves no element through HDF5.
  bool chunk_cache = true;
  /// Makes the file go through another connector; null: HDF5's own. Negative where it cannot.
  std::function<herr_t(hid_t list)> connector = nullptr;
};

enum class Access { read, read_write };

/// Chunks that fill the first node of a dataset's index in a file of File::create_serial().
inline constexpr unsigned chunks_a_node = 48;

/// An access list for a file of our own, which needs none of HDF5's locks: who makes one makes it
/// new, and readers come after that. HDF5 fails on most file systems that have no locks.
Handle without_locks(const std::string& path);

/// True if `path` is a file that HDF5 can open.
bool is_hdf5(const std::string& path);

/// "2.2.0": the version of the library at run time.
std::string library_version();

/// Throws InputError if HDF5 does not start with what its environment asks for: it says so only
/// once, to the first call, and would crash later.
void start();

/// An open file. Those with a communicator are opened, used for metadata and closed by all its
/// ranks together.
class File {
 public:
  File() = default;
  /// The file must not exist yet.
  static File create(MPI_Comm comm, MPI_Info info, const std::string& path,
                     const AccessSettings& settings);
  static File open(MPI_Comm comm, MPI_Info info, const std::string& path,
                   const AccessSettings& settings, Access access = Access::read);
  /// For this process alone, without MPI-IO.
  static File create_serial(const std::string& path, const AccessSettings& settings);
  /// The same in compact groups, which HDF5 1.8 and newer read. The file must not exist yet.
  static File create_serial(const std::string& path);
  /// The bytes of such a file, whose contents `build` makes; none is made on disk. Everything that
  /// `build` opens must be closed when it returns.
  static std::vector<std::byte> image(const std::function<void(File&)>& build);
  static File open_serial(const std::string& path, Access access = Access::read);

  hid_t get() const { return handle_.get(); }
  const std::string& path() const { return path_; }

  /// `name` may have groups before it ("atm/T"), which are created where missing.
  Dataset create_dataset(const std::string& name, ElementType type, const Space& space,
                         const CreationSettings& settings);
  /// The list that create_dataset() creates such a dataset by: made once, since making and closing
  /// one costs HDF5 a third as many instructions as H5Dcreate.
  const Handle& creation_list(const CreationSettings& settings);
  void put_attributes(std::span<const Attribute> attributes);  ///< of the root group
  Dataset open_dataset(const std::string& name, ElementType type) const;

  bool has(const std::string& name) const;            ///< an object of that name
  bool has_attribute(const std::string& name) const;  ///< of the root group

  /// The setting in effect: whether metadata are read collectively.
  bool reads_metadata_collectively() const;

  /// Gives the object called `name` another name.
  void link(const std::string& name, const std::string& other);

  /// The object called `name`, a group made where there is none.
  Handle open_group(const std::string& name);

  /// The MPI file underneath, still HDF5's. Not of subfiles.
  MPI_File mpi_file() const;

  void flush();  ///< H5Fflush
  /// MPI_File_sync, which H5Fflush may leave out; nothing more for subfiles.
  void sync();
  void close();

 private:
  static File create_with(const std::string& path, unsigned flags, const Handle& creation,
                          const Handle& access, bool subfiled = false);
  File(Handle handle, std::string path, bool subfiled = false)
      : handle_(std::move(handle)), path_(std::move(path)), subfiled_(subfiled) {}

  Handle handle_;
  std::string path_;
  bool subfiled_ = false;
  std::map<CreationSettings, Handle> creation_lists_;
};

}  // namespace slabmark::hdf5
