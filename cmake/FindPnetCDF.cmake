# PnetCDF of the same MPI as ours, as the target PnetCDF::PnetCDF. PNETCDF_DIR names its prefix (variable or
# environment; "no": none); else pnetcdf-config in the PATH, else the usual places. Without it the PnetCDF methods and .nc maps
# are off.

find_program(PnetCDF_CONFIG pnetcdf-config HINTS ${PNETCDF_DIR} ENV PNETCDF_DIR PATH_SUFFIXES bin)
if(PnetCDF_CONFIG)
  execute_process(COMMAND ${PnetCDF_CONFIG} --includedir OUTPUT_VARIABLE includes OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${PnetCDF_CONFIG} --libdir OUTPUT_VARIABLE libraries OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
find_path(PnetCDF_INCLUDE_DIR pnetcdf.h HINTS ${PNETCDF_DIR} ENV PNETCDF_DIR ${includes} PATH_SUFFIXES include)
find_library(PnetCDF_LIBRARY pnetcdf HINTS ${PNETCDF_DIR} ENV PNETCDF_DIR ${libraries} PATH_SUFFIXES lib lib64)
find_library(PnetCDF_STATIC_LIBRARY libpnetcdf.a HINTS ${PNETCDF_DIR} ENV PNETCDF_DIR ${libraries} PATH_SUFFIXES lib lib64)
mark_as_advanced(PnetCDF_STATIC_LIBRARY)  # for the drop-in's archive alone

set(reason "")
if("${PNETCDF_DIR}" STREQUAL "no" OR "$ENV{PNETCDF_DIR}" STREQUAL "no")
  set(reason "PNETCDF_DIR is 'no'")
elseif(PnetCDF_INCLUDE_DIR AND PnetCDF_LIBRARY)
  file(STRINGS ${PnetCDF_INCLUDE_DIR}/pnetcdf.h line REGEX "define PNETCDF_VERSION_(MAJOR|MINOR|SUB) ")
  string(REGEX REPLACE "[^0-9;]" "" numbers "${line}")
  list(JOIN numbers "." PnetCDF_VERSION)

  slabmark_mpi_of(${PnetCDF_LIBRARY} mpi)
  if(mpi AND SLABMARK_MPI_SONAME AND NOT mpi STREQUAL SLABMARK_MPI_SONAME)
    set(reason "${PnetCDF_LIBRARY} is linked with another MPI library (${mpi}; ours is ${SLABMARK_MPI_SONAME})")
  else()
    # Open MPI 4 and 5 have one soname, and what was built with 4 may need C++ bindings that 5 lacks.
    set(probe ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/pnetcdf-probe)
    file(WRITE ${probe}.c "#include <pnetcdf.h>\nint main(void) { return ncmpi_strerror(0) == 0; }\n")
    try_compile(SLABMARK_PNETCDF_LINKS ${probe}-build SOURCES ${probe}.c LINK_LIBRARIES MPI::MPI_C ${PnetCDF_LIBRARY}
      CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${PnetCDF_INCLUDE_DIR})
    if(NOT SLABMARK_PNETCDF_LINKS)
      set(reason "no program can be linked with ${PnetCDF_LIBRARY} and this MPI, which may be another version than that library's")
    endif()
  endif()
endif()

include(FindPackageHandleStandardArgs)
if(reason)
  set(PnetCDF_FOUND FALSE)
  message(STATUS "PnetCDF: off, the PnetCDF methods and .nc maps with it: ${reason}. PNETCDF_DIR=... names another one.")
else()
  find_package_handle_standard_args(PnetCDF REQUIRED_VARS PnetCDF_LIBRARY PnetCDF_INCLUDE_DIR VERSION_VAR PnetCDF_VERSION
    REASON_FAILURE_MESSAGE "The PnetCDF methods and .nc maps are off. PNETCDF_DIR=... names its prefix.")
endif()

if(PnetCDF_FOUND AND NOT TARGET PnetCDF::PnetCDF)
  add_library(PnetCDF::PnetCDF UNKNOWN IMPORTED)
  set_target_properties(PnetCDF::PnetCDF PROPERTIES
    IMPORTED_LOCATION ${PnetCDF_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PnetCDF_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES MPI::MPI_C)
endif()
