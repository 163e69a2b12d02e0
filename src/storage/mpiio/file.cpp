#include "storage/mpiio/file.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/mpiio/error.hpp"
#include "storage/mpiio/romio_hints.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark::mpiio {

namespace {

void set_view_of(MPI_File file, std::uint64_t displacement, MPI_Datatype etype,
                 MPI_Datatype filetype, MPI_Info info, const std::string& path) {
  check(MPI_File_set_view(file, static_cast<MPI_Offset>(displacement), etype, filetype, "native",
                          info),
        "MPI_File_set_view", path);
}

}  // namespace

File File::open_with(MPI_Comm comm, const std::string& path, int mode, const Hints& hints) {
  const Info info(hints);
  File file(MPI_FILE_NULL, path);
  check(MPI_File_open(comm, path.c_str(), mode, info.get(), &file.file_), "MPI_File_open", path);
  // The view that a file has anyway, for the hints.
  if (!romio_hears_hints_of_opening() && !hints.empty()) {
    set_view_of(file.file_, 0, MPI_BYTE, MPI_BYTE, info.get(), path);
  }
  return file;
}

File File::create(MPI_Comm comm, const std::string& path, const Hints& hints) {
  return open_with(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, hints);
}

File File::open(MPI_Comm comm, const std::string& path, Access access, const Hints& hints) {
  return open_with(comm, path, access == Access::write ? MPI_MODE_RDWR : MPI_MODE_RDONLY, hints);
}

File::~File() {
  if (is_open()) MPI_File_close(&file_);
}

void File::resize(std::uint64_t bytes) {
  check(MPI_File_set_size(file_, static_cast<MPI_Offset>(bytes)), "MPI_File_set_size", path_);
}

void File::set_view(std::uint64_t displacement, MPI_Datatype etype, MPI_Datatype filetype) {
  set_view_of(file_, displacement, etype, filetype, MPI_INFO_NULL, path_);
}

template <class Call>
std::uint64_t File::move_some(const char* name, Call call, std::uint64_t offset,
                              const Memory& memory) const {
  // ROMIO leaves the status alone where a rank takes part in a collective call without data.
  MPI_Status status{};
  MPI_Status_set_elements_x(&status, MPI_BYTE, 0);
  check(call(file_, static_cast<MPI_Offset>(offset), memory.address, memory.count, memory.type,
             &status),
        name, path_);
  MPI_Count moved = 0;
  check(MPI_Get_elements_x(&status, MPI_BYTE, &moved), "MPI_Get_elements_x", path_);
  return moved > 0 ? static_cast<std::uint64_t>(moved) : 0;
}

template <class Call>
void File::move(const char* name, Call call, std::uint64_t offset, const Memory& memory) const {
  const std::uint64_t moved = move_some(name, call, offset, memory);
  if (moved == memory.bytes) return;
  throw Failure(MPI_ERR_OTHER,
                fmt::format("{} failed on '{}': it moved {} of {} bytes; check that the file is "
                            "complete, and space, quota and file size limit (ulimit -f) of its "
                            "directory.",
                            name, path_, moved, memory.bytes));
}

void File::write_at_all(std::uint64_t offset, const Memory& memory) {
  move("MPI_File_write_at_all", MPI_File_write_at_all, offset, memory);
}

void File::read_at_all(std::uint64_t offset, const Memory& memory) {
  move("MPI_File_read_at_all", MPI_File_read_at_all, offset, memory);
}

void File::write_at(std::uint64_t offset, const Memory& memory) {
  move("MPI_File_write_at", MPI_File_write_at, offset, memory);
}

void File::read_at(std::uint64_t offset, const Memory& memory) {
  move("MPI_File_read_at", MPI_File_read_at, offset, memory);
}

std::uint64_t File::read_some_at(std::uint64_t offset, const Memory& memory) {
  return move_some("MPI_File_read_at", MPI_File_read_at, offset, memory);
}

void File::sync() { check(MPI_File_sync(file_), "MPI_File_sync", path_); }

void File::close() {
  if (is_open()) check(MPI_File_close(&file_), "MPI_File_close", path_);
}

std::uint64_t File::size() const {
  MPI_Offset bytes = 0;
  check(MPI_File_get_size(file_, &bytes), "MPI_File_get_size", path_);
  return static_cast<std::uint64_t>(bytes);
}

std::map<std::string, std::string> File::hints() const { return hints_of(file_, path_); }

std::map<std::string, std::string> hints_of(MPI_File file, const std::string& path) {
  MPI_Info info = MPI_INFO_NULL;
  check(MPI_File_get_info(file, &info), "MPI_File_get_info", path);
  auto entries = entries_of(info);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  // Open MPI hands back what the user gave, and ROMIO knows Lustre only where it was built with it.
  if (const auto stripes = posix::stripes_of(path)) {
    entries["striping_unit"] = std::to_string(stripes->unit);
    entries["striping_factor"] = std::to_string(stripes->count);
  }
  return entries;
}

}  // namespace slabmark::mpiio
