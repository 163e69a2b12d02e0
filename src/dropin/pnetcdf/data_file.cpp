#include "dropin/pnetcdf/data_file.hpp"

#include <cstring>

#include <pnetcdf.h>

#include "storage/mpiio/file.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark::dropin {

namespace {

/// PnetCDF's code of an MPI error; `otherwise` where it has none of its own for that.
int code_of(int mpi_error, int otherwise) {
  if (mpi_error == MPI_SUCCESS) return NC_NOERR;
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(mpi_error, &error_class);
  switch (error_class) {
    case MPI_ERR_NO_SUCH_FILE:
      return NC_ENOENT;
    case MPI_ERR_READ_ONLY:
      return NC_EPERM;
    case MPI_ERR_ACCESS:
      return NC_EACCESS;
    case MPI_ERR_BAD_FILE:
      return NC_EBAD_FILE;
    case MPI_ERR_NO_SPACE:
      return NC_ENO_SPACE;
    case MPI_ERR_QUOTA:
      return NC_EQUOTA;
    default:
      return otherwise;
  }
}

}  // namespace

// Transfers are large and contiguous, so data sieving is in the way.
int DataFile::open(MPI_Comm comm, const std::string& path, bool writable) {
  const mpiio::Info info({{"romio_ds_write", "disable"}, {"romio_ds_read", "disable"}});
  const int mode = writable ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
  return code_of(MPI_File_open(comm, path.c_str(), mode, info.get(), &file_), NC_EFILE);
}

int DataFile::sync() { return is_open() ? code_of(MPI_File_sync(file_), NC_EFILE) : NC_NOERR; }

int DataFile::close() { return is_open() ? code_of(MPI_File_close(&file_), NC_EFILE) : NC_NOERR; }

void DataFile::write(std::uint64_t offset, const std::byte* memory, std::uint64_t bytes) {
  MPI_Status status{};
  MPI_Status_set_elements_x(&status, MPI_BYTE, 0);
  const int error = code_of(MPI_File_write_at(file_, static_cast<MPI_Offset>(offset), memory,
                                              static_cast<int>(bytes), MPI_BYTE, &status),
                            NC_EWRITE);
  if (error != NC_NOERR) throw PnetcdfError(error);
  int written = 0;
  MPI_Get_count(&status, MPI_BYTE, &written);
  if (static_cast<std::uint64_t>(written) != bytes) throw PnetcdfError(NC_EWRITE);
}

void DataFile::read(std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
  MPI_Status status{};
  MPI_Status_set_elements_x(&status, MPI_BYTE, 0);
  const int error = code_of(MPI_File_read_at(file_, static_cast<MPI_Offset>(offset), memory,
                                             static_cast<int>(bytes), MPI_BYTE, &status),
                            NC_EREAD);
  if (error != NC_NOERR) throw PnetcdfError(error);
  int moved = 0;
  MPI_Get_count(&status, MPI_BYTE, &moved);
  const auto read = moved > 0 ? static_cast<std::uint64_t>(moved) : 0;
  if (read < bytes) std::memset(memory + read, 0, bytes - read);
}

std::map<std::string, std::string> DataFile::hints() const { return mpiio::hints_of(file_, ""); }

}  // namespace slabmark::dropin
