# netCDF-C with parallel netCDF-4 over the same HDF5 and MPI as ours, as the target NetCDF::NetCDF. NETCDF_DIR names its prefix
# (variable or environment; "no": none), NETCDF_SOURCE a source to build; else nc-config in the PATH, else the usual places.
# Without it the method netcdf4-var is off.

set(prefix "${NETCDF_DIR}")
if(NOT prefix)
  set(prefix "$ENV{NETCDF_DIR}")
endif()
if(NOT prefix AND NOT "$ENV{NETCDF_SOURCE}" STREQUAL "")
  get_filename_component(hdf5 "${ParallelHDF5_LIBRARY}" REALPATH)
  get_filename_component(hdf5 "${hdf5}" DIRECTORY)
  get_filename_component(hdf5 "${hdf5}" DIRECTORY)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env MPICC=${MPI_C_COMPILER} HDF5_PREFIX=${hdf5} ${PROJECT_SOURCE_DIR}/setup/build-netcdf
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "netCDF-C could not be built from NETCDF_SOURCE; the reason is above.")
  endif()
endif()

find_program(ParallelNetCDF_CONFIG nc-config HINTS ${prefix} PATH_SUFFIXES bin)
if(ParallelNetCDF_CONFIG)
  execute_process(COMMAND ${ParallelNetCDF_CONFIG} --includedir OUTPUT_VARIABLE includes OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${ParallelNetCDF_CONFIG} --libdir OUTPUT_VARIABLE libraries OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
find_path(ParallelNetCDF_INCLUDE_DIR netcdf_par.h HINTS ${prefix} ${includes} PATH_SUFFIXES include)
find_library(ParallelNetCDF_LIBRARY netcdf HINTS ${prefix} ${libraries} PATH_SUFFIXES lib lib64)
mark_as_advanced(ParallelNetCDF_CONFIG ParallelNetCDF_INCLUDE_DIR ParallelNetCDF_LIBRARY)

# slabmark_hdf5_of(<library> <entry> <variable>): the HDF5 that it needs (NEEDED) or is (SONAME), not the high-level library.
function(slabmark_hdf5_of library entry result)
  execute_process(COMMAND ${SLABMARK_READELF} -d ${library} OUTPUT_VARIABLE dynamic ERROR_QUIET)
  string(REGEX MATCHALL "${entry}[^\n]*\\[libhdf5[a-z_]*\\.so[.0-9]*\\]" found "${dynamic}")
  list(FILTER found EXCLUDE REGEX "_hl\\.so")
  string(REGEX REPLACE ".*\\[(.*)\\]" "\\1" name "${found}")
  set(${result} "${name}" PARENT_SCOPE)
endfunction()

set(reason "")
if("${prefix}" STREQUAL "no")
  set(reason "NETCDF_DIR is 'no'")
elseif(ParallelNetCDF_INCLUDE_DIR AND ParallelNetCDF_LIBRARY)
  file(STRINGS ${ParallelNetCDF_INCLUDE_DIR}/netcdf_meta.h line REGEX "define NC_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX MATCHALL " [0-9]+" numbers "${line}")
  list(TRANSFORM numbers STRIP)
  list(JOIN numbers "." ParallelNetCDF_VERSION)
  file(STRINGS ${ParallelNetCDF_INCLUDE_DIR}/netcdf_meta.h parallel REGEX "define NC_HAS_PARALLEL4 +1")
  slabmark_mpi_of(${ParallelNetCDF_LIBRARY} mpi)
  slabmark_hdf5_of(${ParallelNetCDF_LIBRARY} NEEDED its)
  slabmark_hdf5_of(${ParallelHDF5_LIBRARY} SONAME ours)
  if(NOT parallel)
    set(reason "${ParallelNetCDF_LIBRARY} has no parallel netCDF-4")
  elseif(NOT its STREQUAL ours)
    set(reason "${ParallelNetCDF_LIBRARY} is linked with another HDF5 (${its}; ours is ${ours})")
  elseif(mpi AND SLABMARK_MPI_SONAME AND NOT mpi STREQUAL SLABMARK_MPI_SONAME)
    set(reason "${ParallelNetCDF_LIBRARY} is linked with another MPI library (${mpi}; ours is ${SLABMARK_MPI_SONAME})")
  endif()
endif()

include(FindPackageHandleStandardArgs)
if(reason)
  set(ParallelNetCDF_FOUND FALSE)
  message(STATUS "netCDF-C: off, the method netcdf4-var with it: ${reason}. NETCDF_DIR=... or NETCDF_SOURCE=... names another one.")
else()
  find_package_handle_standard_args(ParallelNetCDF REQUIRED_VARS ParallelNetCDF_LIBRARY ParallelNetCDF_INCLUDE_DIR
    VERSION_VAR ParallelNetCDF_VERSION
    REASON_FAILURE_MESSAGE "The method netcdf4-var is off. NETCDF_DIR=... names its prefix, NETCDF_SOURCE=... a source.")
endif()

if(ParallelNetCDF_FOUND AND NOT TARGET NetCDF::NetCDF)
  add_library(NetCDF::NetCDF UNKNOWN IMPORTED)
  set_target_properties(NetCDF::NetCDF PROPERTIES
    IMPORTED_LOCATION ${ParallelNetCDF_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${ParallelNetCDF_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES MPI::MPI_C)
endif()
