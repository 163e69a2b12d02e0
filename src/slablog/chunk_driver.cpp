#include "slablog/chunk_driver.hpp"

#include <optional>
#include <string>

#include <H5FDdevelop.h>
#include <mpi.h>

#include "storage/hdf5/handle.hpp"
#include "storage/hdf5/placeholder.hpp"

namespace slabmark::slablog {

namespace {

using hdf5::check;

const std::string a_list = "an access list";

struct MpiDriver {
  H5FD_class_t original;
  hid_t original_id;
  hid_t id;
};

// Never unregistered by us: HDF5 closes files also after static objects have ended.
std::optional<MpiDriver>& made() {
  static std::optional<MpiDriver> driver;
  return driver;
}

/// HDF5 ends, and may begin again without the driver.
herr_t forget() {
  made().reset();
  return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t list, haddr_t address, std::size_t bytes,
             const void* data) {
  if (hdf5::takes_placeholder(data, address)) return 0;
  return made()->original.write(file, type, list, address, bytes, data);
}

const MpiDriver& driver() {
  if (made()) return *made();
  const auto access = hdf5::own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", a_list);
  check(H5Pset_fapl_mpio(access.get(), MPI_COMM_SELF, MPI_INFO_NULL), "H5Pset_fapl_mpio", a_list);
  const auto original = hdf5::driver_class(access.get());
  auto ours = original;
  ours.name = "slablog_chunks";
  ours.value = 6208;
  ours.terminate = forget;
  ours.write = write;
  const hid_t id = H5FDregister(&ours);
  if (id < 0) hdf5::fail("H5FDregister", a_list);
  return made().emplace(MpiDriver{original, H5Pget_driver(access.get()), id});
}

}  // namespace

void leave_out_placeholders_together(hid_t access) {
  check(H5Pset_driver(access, driver().id, nullptr), "H5Pset_driver", a_list);
}

void forget_placeholders(hid_t access) {
  if (!made() || H5Pget_driver(access) != made()->id) return;
  check(H5Pset_driver(access, made()->original_id, nullptr), "H5Pset_driver", a_list);
}

}  // namespace slabmark::slablog
