#include "storage/hdf5/placeholder.hpp"

#include <cstdint>
#include <optional>
#include <sys/mman.h>
#include <utility>

#include <mpi.h>

#include "base/error.hpp"
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

template <Kind kind>
herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t list, haddr_t address, std::size_t bytes,
             const void* data) {
  if (takes_placeholder(data, address)) return 0;
  return made<kind>()->original.write(file, type, list, address, bytes, data);
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
  ours.write = write<kind>;
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

void forget_placeholders(hid_t access) {
  const hid_t found = H5Pget_driver(access);
  for (const auto& ours : {made<Kind::posix>(), made<Kind::mpiio>()}) {
    if (!ours || found != ours->id) continue;
    check(H5Pset_driver(access, ours->original_id, nullptr), "H5Pset_driver", a_list);
  }
}

}  // namespace slabmark::hdf5
