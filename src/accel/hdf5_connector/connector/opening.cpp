#include "accel/hdf5_connector/connector/opening.hpp"

#include <algorithm>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "accel/hdf5_connector/connector/closing.hpp"
#include "accel/hdf5_connector/connector/forward.hpp"
#include "accel/hdf5_connector/journal/appends.hpp"
#include "accel/hdf5_connector/journal/driver.hpp"
#include "storage/mpiio/file.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/mpiio/romio_hints.hpp"

namespace slabmark::slablog {

namespace {

bool is_parallel(hid_t access) { return H5Pget_driver(access) == H5FD_MPIO; }

bool may_hold_log(hid_t access) {
  return is_parallel(access) || H5Pget_driver(access) == H5FD_SEC2;
}

/// As HDF5 takes it.
H5F_close_degree_t close_degree(hid_t access) {
  H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
  hdf5::check(H5Pget_fclose_degree(access, &degree), "H5Pget_fclose_degree", "the access list");
  if (degree != H5F_CLOSE_DEFAULT) return degree;
  return is_parallel(access) ? H5F_CLOSE_SEMI : H5F_CLOSE_WEAK;
}

/// All who open a file, and the hints that the program gives MPI-IO.
struct Openers {
  Ranks ranks;
  collective::Settings::Hints hints;
};

/// Returns nothing if the access list does not name the ranks: HDF5 has then initialized MPI itself
/// (HDF5_DRIVER=mpio).
std::optional<Openers> openers_of(hid_t access, const std::string& path) {
  if (!is_parallel(access)) return Openers{Ranks(), {}};
  close_all_before_mpi_ends();
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  hdf5::check(H5Pget_fapl_mpio(access, &comm, &info), "H5Pget_fapl_mpio", path);
  Openers openers;
  if (comm != MPI_COMM_NULL) openers.ranks = Ranks(Comm::taking_over(comm));
  if (info != MPI_INFO_NULL) {
    openers.hints = mpiio::entries_of(info);
    MPI_Info_free(&info);
  }
  if (comm == MPI_COMM_NULL) return std::nullopt;
  return openers;
}

/// HDF5 writes its metadata as many small pieces, between which lie elements that the ranks have
/// written. ROMIO must not read and rewrite all of that, unless the program's hints say so.
void write_only_pieces(hid_t access, const std::string& path) {
  constexpr const char* property = "mpi_params_info";  // H5Pset_fapl_mpio would wait for all ranks
  constexpr const char* hint = "romio_ds_write";
  if (!mpiio::romio_hears_hints_of_opening()) return;  // it would but hide the user's file of hints
  MPI_Info info = MPI_INFO_NULL;
  hdf5::check(H5Pget(access, property, &info), "H5Pget", path);
  if (info == MPI_INFO_NULL) check_mpi(MPI_Info_create(&info), "MPI_Info_create");
  herr_t status = 0;
  if (!mpiio::entries_of(info).contains(hint)) {
    check_mpi(MPI_Info_set(info, hint, "disable"), "MPI_Info_set");
    status = H5Pset(access, property, &info);
  }
  MPI_Info_free(&info);
  hdf5::check(status, "H5Pset", path);
}

Formats formats(hid_t access) {
  Formats found;
  hdf5::check(H5Pget_libver_bounds(access, &found.low, &found.high), "H5Pget_libver_bounds",
              "the access list");
  return found;
}

/// Virtual datasets came with HDF5 1.10.
bool allows_log(hid_t access) { return formats(access).high >= H5F_LIBVER_V110; }

void set_formats(hid_t access) {
  const auto [low, high] = of_log(formats(access));
  hdf5::check(H5Pset_libver_bounds(access, low, high), "H5Pset_libver_bounds", "the access list");
}

/// Why a new file cannot have a log; empty: it can.
std::string unsupported_reason(unsigned flags, hid_t creation, hid_t access) {
  if ((flags & H5F_ACC_SWMR_WRITE) != 0) {
    return "since nobody can read that while it is written, as H5F_ACC_SWMR_WRITE promises";
  }
  if (!allows_log(access)) {
    return "which needs the format of HDF5 1.10, but H5Pset_libver_bounds allows no more than that "
           "of "
           "1.8";
  }
  std::size_t address = 0;
  std::size_t size = 0;
  hdf5::check(H5Pget_sizes(creation, &address, &size), "H5Pget_sizes", "the creation list");
  if (size > 8) {
    return "since HDF5 cannot read virtual datasets where H5Pset_sizes makes lengths longer than 8 "
           "bytes";
  }
  return {};
}

void warn_of_no_log(hid_t access, const char* name, const std::string& reason) {
  const auto openers = openers_of(access, name);
  if (openers && !openers->ranks.is_root()) return;
  fmt::print(stderr, "slablog: warning: '{}' is made without a log, {}.\n", name, reason);
}

/// True if HDF5 keeps elements of a file to itself, which would not see what goes past it.
bool keeps_elements(unsigned flags, hid_t access) {
  std::size_t buffer = 0;
  unsigned metadata = 0;
  unsigned elements = 0;
  hdf5::check(H5Pget_page_buffer_size(access, &buffer, &metadata, &elements),
              "H5Pget_page_buffer_size", "the access list");
  return buffer > 0 || (flags & (H5F_ACC_SWMR_WRITE | H5F_ACC_SWMR_READ)) != 0;
}

/// The same for a file that is to be written in the canonical layout. HDF5's sieve buffer would
/// hold elements, too, that change in the file without it.
void prepare_canonical(Opening& opening, const char* name, Opener opener) {
  // Readers have that driver, too: HDF5 takes files of different drivers for different files.
  const bool parallel = is_parallel(opening.access.get());
  if (parallel) hdf5::leave_out_placeholders(opening.access.get());
  opening.only_reads = opener == Opener::reader;
  if (opening.only_reads && !parallel) return;
  // The name may be one that MPI-IO alone understands; readers then do without the connector.
  if (opening.only_reads && opening.ranks.any(access(opening.path.c_str(), R_OK) != 0)) return;
  if (parallel && !opening.only_reads) opening.deferred = hdf5::DeferredError::of(name);
  WantedBuffers wanted;
  int unused = 0;
  hdf5::check(H5Pget_sieve_buf_size(opening.access.get(), &wanted.sieve_bytes),
              "H5Pget_sieve_buf_size", "the access list");
  hdf5::check(H5Pget_cache(opening.access.get(), &unused, &wanted.chunk_slots, &wanted.chunk_bytes,
                           &wanted.preemption),
              "H5Pget_cache", "the access list");
  opening.canonical_buffers = wanted;
  if (opening.only_reads) return;
  hdf5::check(H5Pset_sieve_buf_size(opening.access.get(), 0), "H5Pset_sieve_buf_size",
              "the access list");
}

/// HDF5 does not recognise a file that it has open through MPI-IO, and would have it open twice.
void refuse_second_opening(const char* name) {
  if (!Journal::is_kept_here(name)) return;
  throw IoError(fmt::format(
      "'{}' has a log, and is open for writing in this program already; use that, or H5Freopen.",
      name));
}

/// Makes ready what is to be known of a file, and done to it, before it is opened.
void prepare(Opening& opening, hid_t access, const char* name, Opener opener) {
  if (!may_hold_log(access)) return;
  auto openers = openers_of(access, name);
  if (!openers) return;
  opening.may_hold_log = true;
  // The file stays the same when the process changes its folder.
  opening.path = std::filesystem::absolute(name).string();
  opening.degree = close_degree(access);
  opening.ranks = std::move(openers->ranks);
  opening.hints = std::move(openers->hints);
  // Before any rank opens the file, rank 0 undoes what a writer left undone.
  bool left = false;
  opening.ranks.agreed([&] {
    if (opener != Opener::reader && is_parallel(access)) refuse_second_opening(name);
    if (opening.ranks.is_root()) left = roll_back(name, opener);
  });
  left = opening.ranks.any(left);
  // Else HDF5 would take the writer that has ended for one that still writes.
  if (left) {
    hdf5::check(H5Pset(opening.access.get(), "clear_status_flags", &left), "H5Pset", name);
  }
  if (is_parallel(opening.access.get())) write_only_pieces(opening.access.get(), name);
  if (opening.config.layout == Layout::canonical) {
    return prepare_canonical(opening, name, opener);
  }
  // Readers have that driver, too: HDF5 takes files of different drivers for different files.
  if (opener == Opener::reader) {
    keep_journal(opening.access.get(), nullptr);
    return;
  }
  require_appends(opening.ranks, opening.path);
  set_formats(opening.access.get());
  opening.journal = Journal::of(opening.path, opening.ranks.rank());
  keep_journal(opening.access.get(), opening.journal.get());
}

}  // namespace

Opening::Opening(hid_t program_list) {
  KeptErrors errors;
  errors.keep();
  void* found = nullptr;
  if (H5Pget_vol_info(program_list, &found) >= 0 && found != nullptr) {
    config = static_cast<Info*>(found)->config;
    hid_t connector = H5I_INVALID_HID;
    H5Pget_vol_id(program_list, &connector);
    H5VLfree_connector_info(connector, found);
    H5VLclose(connector);
  } else {
    config = parse_config("");
  }
  access = hdf5::own(H5Pcopy(program_list), H5Pclose, "H5Pcopy", "the access list");
  hdf5::check(H5Pset_vol(access.get(), H5VL_NATIVE, nullptr), "H5Pset_vol", "the access list");
}

void prepare_open(Opening& opening, hid_t access, const char* name, unsigned flags) {
  opening.swmr_write = (flags & H5F_ACC_SWMR_WRITE) != 0;
  if (opening.config.layout == Layout::canonical && keeps_elements(flags, access)) return;
  prepare(opening, access, name, (flags & H5F_ACC_RDWR) != 0 ? Opener::writer : Opener::reader);
}

void prepare_create(Opening& opening, hid_t access, const char* name, unsigned flags,
                    hid_t creation) {
  opening.created = true;
  const bool log = opening.config.layout == Layout::log;
  const auto reason =
      log && may_hold_log(access) ? unsupported_reason(flags, creation, access) : "";
  if (!reason.empty()) {
    warn_of_no_log(access, name, reason);
  } else if (log || !keeps_elements(flags, access)) {
    prepare(opening, access, name, Opener::maker);
  }
}

Formats of_log(const Formats& wanted) {
  const auto low = std::max(wanted.low, H5F_LIBVER_V18);
  return {low, std::max({low, wanted.high, H5F_LIBVER_V110})};
}

}  // namespace slabmark::slablog
