#if SLABMARK_WITH_PNETCDF

#include "bench/method/pnetcdf/method.hpp"

#include <fmt/format.h>

#include "bench/method/shared/effective.hpp"
#include "bench/method/shared/netcdf_definition.hpp"
#include "core/base/error.hpp"
#include "storage/mpiio/romio_hints.hpp"
#include "storage/pnetcdf/types/element_type.hpp"

namespace slabmark {

namespace {

std::string format_name(int format) {
  if (format == NC_FORMAT_CLASSIC) return "CDF-1";
  if (format == NC_FORMAT_CDF2) return "CDF-2";
  return format == NC_FORMAT_CDF5 ? "CDF-5" : fmt::format("format {}", format);
}

std::map<std::string, std::string> hints_in_effect(const pnetcdf::File& file) {
  MPI_Info info = file.inq_file_info();
  auto hints = mpiio::entries_of(info);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return hints;
}

}  // namespace

std::vector<int> define_variables(pnetcdf::File& file, const Pattern& pattern) {
  return define_netcdf(
      file, pattern,
      [&](const std::string& name, const Dataset& dataset, const std::vector<int>& dims) {
        return file.def_var(name, pnetcdf::nc_type_of(dataset.type), dims);
      });
}

std::vector<int> find_variables(pnetcdf::File& file, const Pattern& pattern) {
  std::vector<int> variables;
  for (const auto& name : netcdf_names(pattern)) variables.push_back(file.inq_varid(name));
  return variables;
}

void PnetcdfMethod::create(const std::string& path) {
  const mpiio::Info info(hints());
  file_ =
      pnetcdf::File::create(context_.comm.get(), path, NC_NOCLOBBER | NC_64BIT_DATA, info.get());
}

void PnetcdfMethod::define() {
  variables_ = define_variables(file(), context_.pattern);
  file().enddef();
}

void PnetcdfMethod::open(const std::string& path) {
  const mpiio::Info info(hints());
  file_ = pnetcdf::File::open(context_.comm.get(), path, NC_NOWRITE, info.get());
  variables_ = find_variables(file(), context_.pattern);
}

// The hints of the original e3sm_io; those that come later win.
mpiio::Hints PnetcdfMethod::hints() const {
  mpiio::Hints all = mpiio::without_unheard({{"romio_ds_write", "disable"},
                                             {"romio_cb_write", "enable"},
                                             {"romio_no_indep_rw", "true"},
                                             {"nc_var_align_size", "1"},
                                             {"nc_in_place_swap", "enable"}});
  all.insert(all.end(), own_hints_.begin(), own_hints_.end());
  all.insert(all.end(), context_.settings.hints.begin(), context_.settings.hints.end());
  return all;
}

void PnetcdfMethod::sync() { file().sync(); }

void PnetcdfMethod::inspect() {
  at_close_["library_bytes"] = writing() ? file().inq_put_size() : file().inq_get_size();
  at_close_["file_format"] = format_name(file().inq_format());
  at_close_["library"] = "PnetCDF " + pnetcdf::library_version();
  report_hints(at_close_, context_.settings, hints_in_effect(file()));
}

void PnetcdfMethod::close() {
  file().close();
  if (const auto heap = pnetcdf::largest_heap()) at_close_["library_memory_bytes"] = *heap;
}

Json PnetcdfMethod::effective() const {
  auto effective = at_close_;
  effective["calls"] = calls_;
  return effective;
}

}  // namespace slabmark

#endif
