// A driver of HDF5 that is a copy of MPI-IO's or POSIX's with a few callbacks of its own. They hand
// on to the callbacks that they stand for, not to HDF5's public calls: MPI-IO's take a collective
// call's MPI types from the context of the call, which a public call would hide from them.
#include "accel/hdf5_connector/journal/driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include <H5FDdevelop.h>
#include <fmt/format.h>
#include <mpi.h>

#include "accel/hdf5_connector/journal/format.hpp"
#include "core/base/error.hpp"
#include "storage/hdf5/handle.hpp"
#include "storage/hdf5/placeholder.hpp"

namespace slabmark::slablog {

namespace {

using hdf5::check;
using hdf5::fail;
using hdf5::Handle;
using hdf5::own;

const std::string a_list = "an access list";

/// A driver of HDF5's, and ours after its pattern.
struct Pair {
  H5FD_class_t original;
  hid_t original_id = H5I_INVALID_HID;
  hid_t id = H5I_INVALID_HID;
  bool parallel = false;
};

/// The settings of our driver in the access list; HDF5 copies them byte by byte.
struct Information {
  const Pair* pair;
  Journal* journal;  ///< may be null
  MPI_Comm comm;     ///< of the file whose list this is, MPI_COMM_NULL of one to open
  MPI_Info info;
};

struct OpenFile {
  const Pair* pair;
  std::string journal_path;
  std::shared_ptr<Journal> journal;  ///< null where nobody writes a log in it
};

// Never destroyed: HDF5 closes files also after static objects have ended.
std::map<H5FD_t*, OpenFile>& open_files() {
  static auto& all = *new std::map<H5FD_t*, OpenFile>;
  return all;
}

auto find(const Journal& journal) {
  return std::find_if(open_files().begin(), open_files().end(),
                      [&](const auto& one) { return one.second.journal.get() == &journal; });
}

int& opening_alone() {
  static int count = 0;
  return count;
}

/// HDF5 puts these into the list with which it follows an external link, but not from a file that
/// it takes for one of this process alone.
herr_t give_ranks(hid_t access, Information from) {
  if (H5Pset(access, "mpi_params_comm", &from.comm) < 0) return -1;
  return from.info == MPI_INFO_NULL ? 0 : H5Pset(access, "mpi_params_info", &from.info);
}

H5FD_t* open(const char* name, unsigned flags, hid_t access, haddr_t most) {
  const auto* found = static_cast<const Information*>(H5Pget_driver_info(access));
  if (found == nullptr) return nullptr;
  if (opening_alone() > 0 && found->comm != MPI_COMM_NULL && give_ranks(access, *found) < 0) {
    return nullptr;
  }
  // HDF5 opens what an external link or a virtual dataset leads to with the list of the file that
  // it found it in.
  OpenFile made{found->pair, journal_path(name), nullptr};
  if (found->journal != nullptr && made.journal_path == journal_path(found->journal->path())) {
    made.journal = found->journal->shared_from_this();
  }
  auto* file = made.pair->original.open(name, flags, access, most);
  if (file != nullptr) open_files()[file] = made;
  return file;
}

/// The answers of a driver for several ranks.
template <class Answer>
Answer ask(H5FD_t* file, const Pair& pair, std::uint64_t what, Answer default_value) {
  auto answer = default_value;
  auto* to = &answer;
  if (!pair.parallel || pair.original.ctl == nullptr) return default_value;
  return pair.original.ctl(file, what, 0, nullptr, reinterpret_cast<void**>(&to)) < 0
             ? default_value
             : answer;
}

// HDF5 has it from 1.14.4 on.
MPI_Info hints_of(H5FD_t* file, const Pair& pair) {
#ifdef H5FD_CTL_GET_MPI_INFO_OPCODE
  return ask(file, pair, H5FD_CTL_GET_MPI_INFO_OPCODE, MPI_INFO_NULL);
#else
  static_cast<void>(file), static_cast<void>(pair);
  return MPI_INFO_NULL;
#endif
}

/// HDF5 frees it.
void* information_of(H5FD_t* file) {
  const auto& [pair, path, journal] = open_files().at(file);
  auto* made = static_cast<Information*>(std::malloc(sizeof(Information)));
  if (made != nullptr) {
    *made = {pair, journal.get(),
             ask(file, *pair, H5FD_CTL_GET_MPI_COMMUNICATOR_OPCODE, MPI_COMM_NULL),
             hints_of(file, *pair)};
  }
  return made;
}

herr_t close(H5FD_t* file) {
  const auto closed = open_files().extract(file);
  return closed.mapped().pair->original.close(file);
}

/// The result of a refused write: with several ranks "done", since the others would wait inside
/// HDF5 for the one that fails. They learn it at the end of the flush.
herr_t not_written(const OpenFile& file) {
  if (file.pair->parallel) return 0;
  try {
    file.journal->check();
  } catch (const std::exception& error) {
    H5Epush2(H5E_DEFAULT, __FILE__, "write", __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_WRITEERROR, "%s",
             error.what());
  }
  return -1;
}

/// The same of one that could not be made, and has returned `status`.
herr_t passed(H5FD_t* file, const OpenFile& open_file, herr_t status) {
  if (status >= 0 || !open_file.journal || !open_file.pair->parallel) return status;
  open_file.journal->set_deferred_error(hdf5::failure_of("H5FDwrite", open_file.journal->path()));
  hdf5::reset_view(open_file.pair->original, file);
  return 0;
}

// Also elements (H5FD_MEM_DRAW): HDF5 says so of global heaps, too. Where ranks write elements
// together, neither offset nor bytes tell where; those that it keeps itself go past the journal.
herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t list, haddr_t offset, std::size_t bytes,
             const void* data) {
  const auto& open_file = open_files().at(file);
  if (open_file.journal && !open_file.journal->try_protect(offset, bytes)) {
    return not_written(open_file);
  }
  return passed(file, open_file,
                open_file.pair->original.write(file, type, list, offset, bytes, data));
}

// Where a size is 0, the one before holds for all that follow.
herr_t write_vector(H5FD_t* file, hid_t list, std::uint32_t count, H5FD_mem_t types[],
                    haddr_t offsets[], std::size_t sizes[], const void* data[]) {
  const auto& open_file = open_files().at(file);
  bool well = true;
  std::uint32_t size = 0;
  for (std::uint32_t i = 0; open_file.journal && i < count; ++i) {
    if (size + 1 == i && sizes[i] != 0) size = i;
    well = open_file.journal->try_protect(offsets[i], sizes[size]) && well;
  }
  // Others may wait for this rank in a collective write.
  return passed(file, open_file,
                open_file.pair->original.write_vector(file, list, well ? count : 0, types, offsets,
                                                      sizes, data));
}

herr_t write_selection(H5FD_t* file, H5FD_mem_t type, hid_t list, std::size_t count, hid_t memory[],
                       hid_t places[], haddr_t offsets[], std::size_t sizes[], const void* data[]) {
  const auto& open_file = open_files().at(file);
  return passed(file, open_file,
                open_file.pair->original.write_selection(file, type, list, count, memory, places,
                                                         offsets, sizes, data));
}

// HDF5 would give the end of the file out once more, and cut the file, while a crash still goes
// back to what was there.
herr_t release(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t offset, hsize_t bytes) {
  const auto& open_file = open_files().at(file);
  const auto& driver = open_file.pair->original;
  if (open_file.journal && offset < open_file.journal->committed()) return 0;
  if (driver.get_eoa(file, type) != offset + bytes) return 0;
  return driver.set_eoa(file, type, offset);
}

/// The objects that were made so far, by their purpose.
std::map<bool, Pair>& pairs() {
  static auto& all = *new std::map<bool, Pair>;
  return all;
}

/// HDF5 ends, and may begin again without the driver.
template <bool parallel>
herr_t forget() {
  pairs().erase(parallel);
  return 0;
}

H5FD_class_t class_of(hid_t access) {
  auto* file = H5FDopen("/dev/null", H5F_ACC_RDONLY, access, HADDR_UNDEF);
  if (file == nullptr) fail("H5FDopen", "/dev/null");
  const auto found = *file->cls;
  check(H5FDclose(file), "H5FDclose", "/dev/null");
  return found;
}

Pair make_pair_of(bool parallel) {
  const auto access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", a_list);
  check(parallel ? H5Pset_fapl_mpio(access.get(), MPI_COMM_SELF, MPI_INFO_NULL)
                 : H5Pset_fapl_sec2(access.get()),
        "H5Pset_fapl", a_list);
  Pair pair{class_of(access.get()), H5Pget_driver(access.get()), H5I_INVALID_HID, parallel};
  auto ours = pair.original;
  ours.name = parallel ? "slablog_mpio" : "slablog_sec2";
  ours.value = parallel ? 6205 : 6204;
  ours.terminate = parallel ? forget<true> : forget<false>;
  ours.fapl_size = sizeof(Information);
  ours.fapl_get = information_of;
  ours.open = open;
  ours.close = close;
  ours.free = release;
  ours.write = write;
  if (ours.write_vector != nullptr) ours.write_vector = write_vector;
  if (ours.write_selection != nullptr) ours.write_selection = write_selection;
  // A global heap that is freed must not become elements, which may go past the journal.
  ours.fl_map[H5FD_MEM_GHEAP] = H5FD_MEM_SUPER;
  pair.id = H5FDregister(&ours);
  if (pair.id < 0) fail("H5FDregister", a_list);
  return pair;
}

const Pair& pair_for(bool parallel) {
  const auto found = pairs().find(parallel);
  if (found != pairs().end()) return found->second;
  return pairs()[parallel] = make_pair_of(parallel);
}

/// Small arrays of elements would get what is left of a freed global heap beside them.
void keep_small_data_apart(hid_t access) {
  check(H5Pset_small_data_block_size(access, 0), "H5Pset_small_data_block_size", a_list);
}

}  // namespace

void keep_journal(hid_t access, Journal* journal) {
  const bool parallel = H5Pget_driver(access) == H5FD_MPIO;
  const auto& pair = pair_for(parallel);
  keep_small_data_apart(access);
  const Information information{&pair, journal, MPI_COMM_NULL, MPI_INFO_NULL};
  check(H5Pset_driver(access, pair.id, &information), "H5Pset_driver", a_list);
}

void forget_journal(hid_t access) {
  const auto driver = H5Pget_driver(access);
  for (const auto& [parallel, pair] : pairs()) {
    if (pair.id != driver) continue;
    check(H5Pset_driver(access, pair.original_id, nullptr), "H5Pset_driver", a_list);
    return;
  }
}

void take_journal(const std::shared_ptr<Journal>& journal) {
  for (auto& [file, open_file] : open_files()) {
    if (!open_file.journal && open_file.journal_path == journal_path(journal->path())) {
      open_file.journal = journal;
    }
  }
}

OpeningAlone::OpeningAlone() {
  ++opening_alone();
  for (const auto& [file, open_file] : open_files()) {
    if ((file->feature_flags & H5FD_FEAT_HAS_MPI) == 0) continue;
    file->feature_flags &= ~static_cast<unsigned long>(H5FD_FEAT_HAS_MPI);
    files_.push_back(file);
  }
}

OpeningAlone::~OpeningAlone() {
  --opening_alone();
  for (auto* const file : files_) {
    if (open_files().contains(file)) file->feature_flags |= H5FD_FEAT_HAS_MPI;
  }
}

bool is_open(const Journal& journal) { return find(journal) != open_files().end(); }

bool is_open_together(const std::string& path) {
  const auto wanted = journal_path(path);
  return std::any_of(open_files().begin(), open_files().end(), [&](const auto& one) {
    return one.second.pair->parallel && one.second.journal_path == wanted;
  });
}

std::uint64_t end_of_space(const Journal& journal) {
  const auto found = find(journal);
  if (found == open_files().end()) {
    throw IoError(fmt::format(
        "'{}' is open in this process without the connector, too; close it there first.",
        journal.path()));
  }
  return found->second.pair->original.get_eoa(found->first, H5FD_MEM_SUPER);
}

}  // namespace slabmark::slablog
