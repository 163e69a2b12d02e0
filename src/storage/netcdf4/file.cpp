#include "storage/netcdf4/file.hpp"

#include <netcdf.h>
#include <netcdf_par.h>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark::netcdf4 {

namespace {

constexpr LibraryTypes<nc_type> types{{{{ElementType::int8, NC_BYTE},
                                        {ElementType::uint8, NC_UBYTE},
                                        {ElementType::int16, NC_SHORT},
                                        {ElementType::uint16, NC_USHORT},
                                        {ElementType::int32, NC_INT},
                                        {ElementType::uint32, NC_UINT},
                                        {ElementType::int64, NC_INT64},
                                        {ElementType::uint64, NC_UINT64},
                                        {ElementType::float32, NC_FLOAT},
                                        {ElementType::float64, NC_DOUBLE},
                                        {ElementType::character, NC_CHAR}}}};

static_assert(File::global == NC_GLOBAL && File::unlimited == NC_UNLIMITED);

}  // namespace

std::string library_version() {
  const std::string text = nc_inq_libvers();  // "4.9.3 of Nov 29 2026 12:00:00 $"
  return text.substr(0, text.find(' '));
}

File::File(MPI_Comm comm, std::string path) : path_(std::move(path)) {
  MPI_Comm_rank(comm, &rank_);
}

File::~File() {
  if (is_open_) nc_close(id_);
}

void File::check(int code, const char* call) const {
  if (code == NC_NOERR) return;
  throw IoError(fmt::format("{} failed on \"{}\" on rank {}: {} ({}).", call, path_, rank_,
                            nc_strerror(code), code));
}

File File::create(MPI_Comm comm, const std::string& path, MPI_Info info) {
  File file(comm, path);
  file.check(nc_create_par(path.c_str(), NC_NETCDF4 | NC_NOCLOBBER, comm, info, &file.id_),
             "nc_create_par");
  file.is_open_ = true;
  int before = 0;
  file.check(nc_set_fill(file.id_, NC_NOFILL, &before), "nc_set_fill");
  return file;
}

File File::open(MPI_Comm comm, const std::string& path, MPI_Info info) {
  File file(comm, path);
  file.check(nc_open_par(path.c_str(), NC_NOWRITE, comm, info, &file.id_), "nc_open_par");
  file.is_open_ = true;
  return file;
}

void File::close() {
  is_open_ = false;  // the library frees the file even where closing fails
  check(nc_close(id_), "nc_close");
}

int File::def_dim(const std::string& name, std::uint64_t length) {
  int dimension = -1;
  check(nc_def_dim(id_, name.c_str(), length, &dimension), "nc_def_dim");
  return dimension;
}

int File::def_var(const std::string& name, ElementType type, std::span<const int> dims) {
  int variable = -1;
  check(nc_def_var(id_, name.c_str(), types.at(type), static_cast<int>(dims.size()), dims.data(),
                   &variable),
        "nc_def_var");
  return variable;
}

void File::def_var_chunking(int variable, std::span<const std::size_t> lengths) {
  check(nc_def_var_chunking(id_, variable, NC_CHUNKED, lengths.data()), "nc_def_var_chunking");
}

void File::put_att_text(int variable, const std::string& name, const std::string& text) {
  check(nc_put_att_text(id_, variable, name.c_str(), text.size(), text.c_str()), "nc_put_att_text");
}

void File::enddef() { check(nc_enddef(id_), "nc_enddef"); }

int File::inq_varid(const std::string& name) const {
  int variable = -1;
  check(nc_inq_varid(id_, name.c_str(), &variable), "nc_inq_varid");
  return variable;
}

void File::set_collective(int variable, bool collective) {
  check(nc_var_par_access(id_, variable, collective ? NC_COLLECTIVE : NC_INDEPENDENT),
        "nc_var_par_access");
}

void File::put_vara(int variable, const std::size_t* starts, const std::size_t* counts,
                    const void* data) {
  check(nc_put_vara(id_, variable, starts, counts, data), "nc_put_vara");
}

void File::get_vara(int variable, const std::size_t* starts, const std::size_t* counts,
                    void* data) {
  check(nc_get_vara(id_, variable, starts, counts, data), "nc_get_vara");
}

void File::sync() { check(nc_sync(id_), "nc_sync"); }

}  // namespace slabmark::netcdf4
