#include "storage/hdf5/transfer_list.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace slabmark::hdf5 {

namespace {

const std::string transfer_list = "a transfer property list";

using Cause = std::pair<std::uint32_t, const char*>;
constexpr std::array<Cause, 9> collective_causes = {{
    {H5D_MPIO_SET_INDEPENDENT, "independent access was asked for"},
    {H5D_MPIO_DATATYPE_CONVERSION, "datatype conversion"},
    {H5D_MPIO_DATA_TRANSFORMS, "data transforms"},
    {H5D_MPIO_MPI_OPT_TYPES_ENV_VAR_DISABLED, "environment variable HDF5_MPI_OPT_TYPES"},
    {H5D_MPIO_NOT_SIMPLE_OR_SCALAR_DATASPACES, "a dataspace is neither simple nor scalar"},
    {H5D_MPIO_NOT_CONTIGUOUS_OR_CHUNKED_DATASET, "the layout is neither contiguous nor chunked"},
    {H5D_MPIO_PARALLEL_FILTERED_WRITES_DISABLED, "parallel filtered writes are disabled"},
    {H5D_MPIO_ERROR_WHILE_CHECKING_COLLECTIVE_POSSIBLE, "an error while checking"},
    {0x100, "no selection I/O"},  // H5D_MPIO_NO_SELECTION_IO, since 1.14.1
}};

// H5D_SEL_IO_..., which the versions of HDF5 do not all define.
constexpr std::array<Cause, 10> selection_causes = {{
    {0x001, "switched off"},
    {0x002, "the layout is neither contiguous nor chunked"},
    {0x004, "the sieve buffer"},
    {0x008, "the driver takes neither vectors nor selections"},
    {0x010, "the page buffer"},
    {0x020, "filters"},
    {0x040, "the chunk cache"},
    {0x080, "the conversion buffer is too small"},
    {0x100, "the background buffer is too small"},
    {0x200, "off by default"},
}};

std::vector<std::string> names_of(std::uint32_t bits, std::span<const Cause> known) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : known) {
    if (bits & bit) names.emplace_back(name);
    bits &= ~bit;
  }
  if (bits != 0) names.push_back(fmt::format("cause {:#x}", bits));
  return names;
}

}  // namespace

TransferList::TransferList(Mode mode)
    : handle_(own(H5Pcreate(H5P_DATASET_XFER), H5Pclose, "H5Pcreate", transfer_list)) {
  if (mode == Mode::serial) return;
  check(H5Pset_dxpl_mpio(get(),
                         mode == Mode::collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT),
        "H5Pset_dxpl_mpio", transfer_list);
}

TransferOutcome TransferList::outcome() const {
  TransferOutcome outcome;
  check(H5Pget_mpio_actual_io_mode(get(), &outcome.mode), "H5Pget_mpio_actual_io_mode",
        transfer_list);
  std::uint32_t local = 0;
  std::uint32_t global = 0;
  check(H5Pget_mpio_no_collective_cause(get(), &local, &global), "H5Pget_mpio_no_collective_cause",
        transfer_list);
  outcome.no_collective_cause = local | global;
#if H5_VERSION_GE(1, 14, 3)
  check(H5Pget_actual_selection_io_mode(get(), &outcome.selection_mode),
        "H5Pget_actual_selection_io_mode", transfer_list);
  check(H5Pget_no_selection_io_cause(get(), &outcome.no_selection_cause),
        "H5Pget_no_selection_io_cause", transfer_list);
#endif
  return outcome;
}

std::string mode_name(const TransferOutcome& outcome) {
  switch (outcome.mode) {
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

std::string selection_mode_name(const TransferOutcome& outcome) {
  static constexpr std::array<Cause, 3> modes = {{{1, "scalar"}, {2, "vector"}, {4, "selection"}}};
  if (outcome.selection_mode == 0) return "none";
  return fmt::format("{}", fmt::join(names_of(outcome.selection_mode, modes), " and "));
}

std::vector<std::string> no_collective_causes(const TransferOutcome& outcome) {
  return names_of(outcome.no_collective_cause, collective_causes);
}

std::vector<std::string> no_selection_causes(const TransferOutcome& outcome) {
  return names_of(outcome.no_selection_cause, selection_causes);
}

}  // namespace slabmark::hdf5
