#include "storage/hdf5/placeholder.hpp"

#include <cstdint>
#include <optional>
#include <sys/mman.h>
#include <utility>

#include "base/error.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

namespace {

const std::string a_list = "an access list";

haddr_t& noted() {
  static haddr_t address = HADDR_UNDEF;
  return address;
}

struct Posix {
  H5FD_class_t original;
  hid_t id;
};

// Never unregistered by us: HDF5 closes files also after static objects have ended.
std::optional<Posix>& made() {
  static std::optional<Posix> driver;
  return driver;
}

/// HDF5 ends, and may begin again without the driver.
herr_t forget() {
  made().reset();
  return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t list, haddr_t address, std::size_t bytes,
             const void* data) {
  if (takes_placeholder(data, address)) return 0;
  return made()->original.write(file, type, list, address, bytes, data);
}

const Posix& posix() {
  if (made()) return *made();
  const auto access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", a_list);
  check(H5Pset_fapl_sec2(access.get()), "H5Pset_fapl_sec2", a_list);
  const auto original = driver_class(access.get());
  auto ours = original;
  ours.name = "slabmark_sec2";
  ours.value = 6206;
  ours.terminate = forget;
  ours.write = write;
  const hid_t id = H5FDregister(&ours);
  if (id < 0) fail("H5FDregister", a_list);
  return made().emplace(Posix{original, id});
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
  check(H5Pset_driver(access, posix().id, nullptr), "H5Pset_driver", a_list);
}

}  // namespace slabmark::hdf5
