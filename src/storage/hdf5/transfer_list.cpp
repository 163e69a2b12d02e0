#include "storage/hdf5/transfer_list.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace slabmark::hdf5 {

namespace {

const std::string in_memory = "a transfer property list";

using Cause = std::pair<std::uint32_t, const char*>;
constexpr std::array<Cause, 8> causes = {{
    {H5D_MPIO_SET_INDEPENDENT, "independent access was asked for"},
    {H5D_MPIO_DATATYPE_CONVERSION, "datatype conversion"},
    {H5D_MPIO_DATA_TRANSFORMS, "data transforms"},
    {H5D_MPIO_MPI_OPT_TYPES_ENV_VAR_DISABLED, "environment variable HDF5_MPI_OPT_TYPES"},
    {H5D_MPIO_NOT_SIMPLE_OR_SCALAR_DATASPACES, "a dataspace is neither simple nor scalar"},
    {H5D_MPIO_NOT_CONTIGUOUS_OR_CHUNKED_DATASET, "the layout is neither contiguous nor chunked"},
    {H5D_MPIO_PARALLEL_FILTERED_WRITES_DISABLED, "parallel filtered writes are disabled"},
    {H5D_MPIO_ERROR_WHILE_CHECKING_COLLECTIVE_POSSIBLE, "an error while checking"},
}};

}  // namespace

TransferList::TransferList(Mode mode)
    : handle_(own(H5Pcreate(H5P_DATASET_XFER), H5Pclose, "H5Pcreate", in_memory)) {
  if (mode == Mode::serial) return;
  check(H5Pset_dxpl_mpio(get(),
                         mode == Mode::collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT),
        "H5Pset_dxpl_mpio", in_memory);
}

std::string TransferList::actual_mode() const {
  H5D_mpio_actual_io_mode_t mode = H5D_MPIO_NO_COLLECTIVE;
  check(H5Pget_mpio_actual_io_mode(get(), &mode), "H5Pget_mpio_actual_io_mode", in_memory);
  switch (mode) {
    case H5D_MPIO_CHUNK_INDEPENDENT:
      return "chunk independent";
    case H5D_MPIO_CHUNK_COLLECTIVE:
      return "chunk collective";
    case H5D_MPIO_CHUNK_MIXED:
      return "chunk mixed";
    case H5D_MPIO_CONTIGUOUS_COLLECTIVE:
      return "contiguous collective";
    default:
      return "not collective";
  }
}

std::vector<std::string> TransferList::no_collective_causes() const {
  std::uint32_t local = 0;
  std::uint32_t global = 0;
  check(H5Pget_mpio_no_collective_cause(get(), &local, &global), "H5Pget_mpio_no_collective_cause",
        in_memory);
  std::vector<std::string> names;
  auto rest = local | global;
  for (const auto& [bit, name] : causes) {
    if (rest & bit) names.emplace_back(name);
    rest &= ~bit;
  }
  if (rest != 0)
    names.push_back(fmt::format("cause {:#x} of H5D_mpio_no_collective_cause_t", rest));
  return names;
}

}  // namespace slabmark::hdf5
