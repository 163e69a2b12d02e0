#include "storage/hdf5/placeholder.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <sys/mman.h>

#include <mpi.h>

#include "core/base/error.hpp"
#include "storage/hdf5/error.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

namespace {

const std::string a_list = "an access list";

haddr_t& noted() {
  static haddr_t address = HADDR_UNDEF;
  return address;
}

/// A driver like HDF5's own one, but for placeholders. Its callbacks get nothing that is ours, so
/// each kind has its own.
enum class Kind { posix, mpiio };

struct Driver {
  H5FD_class_t original;
  hid_t original_id;
  hid_t id;
};

// Never unregistered by us: HDF5 closes files also after static objects have ended.
template <Kind kind>
std::optional<Driver>& made() {
  static std::optional<Driver> driver;
  return driver;
}

/// HDF5 ends, and may begin again without the driver.
template <Kind kind>
herr_t forget() {
  made<kind>().reset();
  return 0;
}

std::string key_of(const std::string& path) { return std::filesystem::absolute(path).string(); }

// Neither is ever destroyed, as `made`.
std::map<std::string, std::weak_ptr<DeferredError>>& deferred_errors() {
  static auto& all = *new std::map<std::string, std::weak_ptr<DeferredError>>;
  return all;
}

struct SharedFile {
  std::string key;
  std::shared_ptr<DeferredError> deferred;  ///< null where nobody asks for it
};

/// The callbacks of the driver for several ranks.
std::map<H5FD_t*, SharedFile>& shared_files() {
  static auto& all = *new std::map<H5FD_t*, SharedFile>;
  return all;
}

herr_t passed(H5FD_t* file, herr_t status) {
  if (status >= 0) return status;
  const auto found = shared_files().find(file);
  if (found == shared_files().end() || !found->second.deferred) return status;
  found->second.deferred->note();
  reset_view(made<Kind::mpiio>()->original, file);
  return 0;
}

template <Kind kind>
H5FD_t* open(const char* name, unsigned flags, hid_t access, haddr_t most) {
  auto* file = made<kind>()->original.open(name, flags, access, most);
  if (file == nullptr || kind == Kind::posix) return file;
  const auto key = key_of(name);
  const auto found = deferred_errors().find(key);
  shared_files()[file] = {key, found == deferred_errors().end() ? nullptr : found->second.lock()};
  return file;
}

template <Kind kind>
herr_t close(H5FD_t* file) {
  shared_files().erase(file);
  return made<kind>()->original.close(file);
}

template <Kind kind>
herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t list, haddr_t address, std::size_t bytes,
             const void* data) {
  if (takes_placeholder(data, address)) return 0;
  return passed(file, made<kind>()->original.write(file, type, list, address, bytes, data));
}

template <Kind kind>
herr_t write_vector(H5FD_t* file, hid_t list, std::uint32_t count, H5FD_mem_t types[],
                    haddr_t addresses[], std::size_t sizes[], const void* data[]) {
  return passed(
      file, made<kind>()->original.write_vector(file, list, count, types, addresses, sizes, data));
}

template <Kind kind>
herr_t write_selection(H5FD_t* file, H5FD_mem_t type, hid_t list, std::size_t count, hid_t memory[],
                       hid_t places[], haddr_t offsets[], std::size_t sizes[], const void* data[]) {
  return passed(file, made<kind>()->original.write_selection(file, type, list, count, memory,
                                                             places, offsets, sizes, data));
}

template <Kind kind>
const Driver& driver() {
  if (made<kind>()) return *made<kind>();
  const auto access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", a_list);
  if (kind == Kind::posix) {
    check(H5Pset_fapl_sec2(access.get()), "H5Pset_fapl_sec2", a_list);
  } else {
    check(H5Pset_fapl_mpio(access.get(), MPI_COMM_SELF, MPI_INFO_NULL), "H5Pset_fapl_mpio", a_list);
  }
  const auto original = driver_class(access.get());
  auto ours = original;
  ours.name = kind == Kind::posix ? "slabmark_sec2" : "slabmark_mpio";
  ours.value = kind == Kind::posix ? 6206 : 6208;
  ours.terminate = forget<kind>;
  ours.open = open<kind>;
  ours.close = close<kind>;
  ours.write = write<kind>;
  if (ours.write_vector != nullptr) ours.write_vector = write_vector<kind>;
  if (ours.write_selection != nullptr) ours.write_selection = write_selection<kind>;
  const hid_t id = H5FDregister(&ours);
  if (id < 0) fail("H5FDregister", a_list);
  return made<kind>().emplace(Driver{original, H5Pget_driver(access.get()), id});
}

}  // namespace

H5FD_class_t driver_class(hid_t access) {
  const char* nothing = "/dev/null";
  auto* file = H5FDopen(nothing, H5F_ACC_RDONLY, access, HADDR_UNDEF);
  if (file == nullptr) fail("H5FDopen", nothing);
  const auto found = *file->cls;
  check(H5FDclose(file), "H5FDclose", nothing);
  return found;
}

// It sets no view but for collective writes, which begin at another byte than 0.
void reset_view(const H5FD_class_t& driver, H5FD_t* file) {
  void* handle = nullptr;
  if (driver.get_handle(file, H5P_DEFAULT, &handle) < 0) return;
  const MPI_File opened = *static_cast<MPI_File*>(handle);
  MPI_Offset offset = 0;
  MPI_Datatype element = MPI_BYTE;
  MPI_Datatype pattern = MPI_BYTE;
  char representation[MPI_MAX_DATAREP_STRING];
  if (MPI_File_get_view(opened, &offset, &element, &pattern, representation) != MPI_SUCCESS) return;
  const auto is_derived = [](MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_NAMED;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner != MPI_COMBINER_NAMED;
  };
  const bool is_set = offset != 0 || is_derived(pattern);
  for (auto* type : {&element, &pattern}) {
    if (is_derived(*type)) MPI_Type_free(type);
  }
  if (!is_set) return;
  MPI_Info hints = MPI_INFO_NULL;
  MPI_File_get_info(opened, &hints);
  MPI_File_set_view(opened, 0, MPI_BYTE, MPI_BYTE, "native", hints);
  if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
}

const void* placeholder() {
  static const void* const memory = [] {
    void* mapped = ::mmap(nullptr, std::size_t{1} << 32, PROT_READ,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
      throw IoError(
          "4 GiB of address space for a placeholder cannot be had; check the limit (ulimit -v).");
    }
    return mapped;
  }();
  return memory;
}

bool takes_placeholder(const void* data, haddr_t address) {
  if (data != placeholder()) return false;
  noted() = address;
  return true;
}

haddr_t placeholder_address() { return std::exchange(noted(), HADDR_UNDEF); }

void leave_out_placeholders(hid_t access) {
  const bool is_parallel = H5Pget_driver(access) == H5FD_MPIO;
  const auto& ours = is_parallel ? driver<Kind::mpiio>() : driver<Kind::posix>();
  check(H5Pset_driver(access, ours.id, nullptr), "H5Pset_driver", a_list);
}

std::shared_ptr<DeferredError> DeferredError::of(const std::string& path) {
  std::erase_if(deferred_errors(), [](const auto& one) { return one.second.expired(); });
  auto& known = deferred_errors()[key_of(path)];
  if (auto error = known.lock()) return error;
  auto made = std::make_shared<DeferredError>(path);
  known = made;
  return made;
}

void DeferredError::note() {
  const auto failure = failure_of("H5FDwrite", path_);
  if (failure_.empty()) failure_ = failure;
}

void DeferredError::check() const {
  if (!failure_.empty()) throw IoError(failure_);
}

bool is_open_together(const std::string& path) {
  return std::any_of(shared_files().begin(), shared_files().end(),
                     [&](const auto& one) { return one.second.key == key_of(path); });
}

void forget_placeholders(hid_t access) {
  const hid_t found = H5Pget_driver(access);
  for (const auto& ours : {made<Kind::posix>(), made<Kind::mpiio>()}) {
    if (!ours || found != ours->id) continue;
    check(H5Pset_driver(access, ours->original_id, nullptr), "H5Pset_driver", a_list);
  }
}

}  // namespace slabmark::hdf5
