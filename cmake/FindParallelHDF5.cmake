# HDF5 that is parallel, shared, new enough and of the same MPI as ours, as the target Slabmark::HDF5. Tried in turn:
#   1. HDF5_ROOT, HDF5_DIR, HDF5_HOME (variable or environment), as modules and Spack set them
#   2. h5pcc in the PATH, then the places that CMake searches (CMAKE_PREFIX_PATH, the system's)
#   3. the one in our cache, which setup/build-hdf5 builds when it is not there yet
# What is passed over is named with its place and the reason. One of another MPI is an error if it was asked for by 1.

set(ParallelHDF5_LIBRARY "" CACHE FILEPATH "The parallel libhdf5 in use; empty: look for it")
set(ParallelHDF5_INCLUDE_DIR "" CACHE PATH "The folder of its hdf5.h")
if(ParallelHDF5_LIBRARY AND NOT EXISTS ${ParallelHDF5_LIBRARY})  # the cache was cleared
  set_property(CACHE ParallelHDF5_LIBRARY PROPERTY VALUE "")
endif()

# Why this HDF5 cannot be used, or nothing.
function(_fault_of include_dir library result)
  set(directories ${include_dir} ${MPI_C_INCLUDE_DIRS})
  list(TRANSFORM directories PREPEND -I)
  file(WRITE ${PROJECT_BINARY_DIR}/CMakeFiles/hdf5-probe.c "#include <H5public.h>\n")
  execute_process(
    COMMAND ${CMAKE_C_COMPILER} -E -dM ${directories} ${PROJECT_BINARY_DIR}/CMakeFiles/hdf5-probe.c
    OUTPUT_VARIABLE macros ERROR_QUIET)
  foreach(part MAJOR MINOR RELEASE)
    string(REGEX MATCH "define H5_VERS_${part} ([0-9]+)" ignored "${macros}")
    list(APPEND version ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN version "." version)
  slabmark_mpi_of(${library} mpi)

  set(fault "")
  if(NOT macros MATCHES "define H5_HAVE_PARALLEL 1")
    set(fault "is serial")
  elseif(version VERSION_LESS ParallelHDF5_FIND_VERSION)
    set(fault "is version ${version}, older than ${ParallelHDF5_FIND_VERSION}")
  elseif(NOT library MATCHES "\\.so")
    set(fault "is a static library only, which the log-layout connector cannot share with a program")
  elseif(mpi AND SLABMARK_MPI_SONAME AND NOT mpi STREQUAL SLABMARK_MPI_SONAME)
    set(fault "is linked with another MPI library (${mpi}; ours is ${SLABMARK_MPI_SONAME})")
  endif()
  set(${result} "${fault}" PARENT_SCOPE)
  set(version "${version}" PARENT_SCOPE)
endfunction()

# Takes the HDF5 of these folders into ParallelHDF5_LIBRARY if it is sound and none was taken before.
function(_take origin include_dir library)
  if(ParallelHDF5_LIBRARY OR NOT include_dir OR NOT library)
    return()
  endif()
  get_property(seen GLOBAL PROPERTY slabmark_hdf5_seen)
  if(library IN_LIST seen)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY slabmark_hdf5_seen ${library})

  _fault_of(${include_dir} ${library} fault)
  if(NOT fault)
    message(STATUS "HDF5: ${library} (${origin}), version ${version}, parallel")
    set_property(CACHE ParallelHDF5_LIBRARY PROPERTY VALUE ${library})
    set_property(CACHE ParallelHDF5_INCLUDE_DIR PROPERTY VALUE ${include_dir})
  elseif(fault MATCHES "another MPI" AND origin MATCHES "^HDF5_")
    message(FATAL_ERROR "The HDF5 that ${origin} names, ${library}, ${fault}. "
      "Load or name an HDF5 and an MPI that belong together, or unset ${origin}.")
  else()
    message(STATUS "HDF5: ${library} (${origin}) passed over: it ${fault}")
  endif()
endfunction()

function(_try_prefix origin prefix)
  if(ParallelHDF5_LIBRARY)
    return()
  endif()
  find_path(include_dir H5public.h NO_CACHE NO_DEFAULT_PATH PATHS ${prefix}/include)
  find_library(library hdf5 NO_CACHE NO_DEFAULT_PATH PATHS ${prefix}/lib ${prefix}/lib64)
  if(include_dir AND library)
    _take(${origin} ${include_dir} ${library})
  else()
    message(STATUS "HDF5: none in ${prefix} (${origin})")
  endif()
endfunction()

foreach(name HDF5_ROOT HDF5_DIR HDF5_HOME)
  foreach(prefix "${${name}}" "$ENV{${name}}")
    if(prefix)
      # HDF5_DIR may name the folder of HDF5's CMake files.
      string(REGEX REPLACE "/((lib|lib64|share)/)?cmake(/hdf5)?/?$" "" prefix "${prefix}")
      _try_prefix(${name} ${prefix})
    endif()
  endforeach()
endforeach()

foreach(wrapper h5pcc h5pcc.openmpi h5pcc.mpich h5cc)
  find_program(h5pcc ${wrapper} NO_CACHE)
  if(h5pcc)
    # The wrapper knows folders that are not beside it: Debian's are in include/hdf5/openmpi.
    execute_process(COMMAND ${h5pcc} -show OUTPUT_VARIABLE line ERROR_QUIET)
    string(REGEX MATCHALL "-I *[^ \n]+" includes "${line}")
    string(REGEX MATCHALL "-L *[^ \n]+" libraries "${line}")
    list(TRANSFORM includes REPLACE "^-I *" "")
    list(TRANSFORM libraries REPLACE "^-L *" "")
    get_filename_component(prefix ${h5pcc} REALPATH)
    get_filename_component(prefix ${prefix} DIRECTORY)
    find_path(include_dir H5public.h NO_CACHE NO_DEFAULT_PATH PATHS ${includes} ${prefix}/../include)
    find_library(library hdf5 NO_CACHE NO_DEFAULT_PATH PATHS ${libraries} ${prefix}/../lib ${prefix}/../lib64)
    _take("from ${h5pcc}" "${include_dir}" "${library}")
  endif()
  unset(h5pcc)
  unset(include_dir)
  unset(library)
endforeach()

foreach(flavour hdf5/openmpi hdf5/mpich hdf5/serial .)
  find_path(include_dir H5public.h NO_CACHE PATH_SUFFIXES ${flavour})
  find_library(library NAMES hdf5 hdf5_openmpi hdf5_mpich NO_CACHE PATH_SUFFIXES ${flavour})
  _take("on the system" "${include_dir}" "${library}")
  unset(include_dir)
  unset(library)
endforeach()

if(NOT ParallelHDF5_LIBRARY)
  message(STATUS "HDF5: no parallel one of version ${ParallelHDF5_FIND_VERSION} or newer on the system; taking ours")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env MPICC=${MPI_C_COMPILER} CC=${CMAKE_C_COMPILER} ${PROJECT_SOURCE_DIR}/setup/build-hdf5
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "HDF5 could not be built; the reason is above.")
  endif()
  _try_prefix(ours ${prefix})
endif()

# The high-level library (dimension scales) lies beside it, under the same name with "_hl".
get_filename_component(folder "${ParallelHDF5_LIBRARY}" DIRECTORY)
get_filename_component(name "${ParallelHDF5_LIBRARY}" NAME_WE)
string(REGEX REPLACE "^lib" "" name "${name}")
find_library(ParallelHDF5_HL_LIBRARY ${name}_hl NO_DEFAULT_PATH PATHS ${folder})

file(STRINGS ${ParallelHDF5_INCLUDE_DIR}/H5public.h line REGEX "define H5_VERS_(MAJOR|MINOR|RELEASE)[ \t]")
string(REGEX MATCHALL "[ \t][0-9]+" numbers "${line}")
list(TRANSFORM numbers STRIP)
list(JOIN numbers "." ParallelHDF5_VERSION)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ParallelHDF5 VERSION_VAR ParallelHDF5_VERSION
  REQUIRED_VARS ParallelHDF5_LIBRARY ParallelHDF5_HL_LIBRARY ParallelHDF5_INCLUDE_DIR)

# One that setup/build-hdf5 made is installed with the programs (SlabmarkInstall.cmake). They are linked with it through a
# link in the build tree: CMake hands on to what is installed only folders outside of that.
get_filename_component(prefix "${folder}" DIRECTORY)
set(ParallelHDF5_OURS "")
if(ParallelHDF5_FOUND AND EXISTS ${prefix}/complete)
  set(ParallelHDF5_OURS ${prefix})
  file(CREATE_LINK ${prefix} ${PROJECT_BINARY_DIR}/hdf5 SYMBOLIC)
  foreach(library ParallelHDF5_LIBRARY ParallelHDF5_HL_LIBRARY)
    string(REPLACE ${prefix} ${PROJECT_BINARY_DIR}/hdf5 ${library} ${${library}})
  endforeach()
endif()

if(ParallelHDF5_FOUND AND NOT TARGET Slabmark::HDF5)
  add_library(Slabmark::HDF5 SHARED IMPORTED)
  set_target_properties(Slabmark::HDF5 PROPERTIES
    IMPORTED_LOCATION ${ParallelHDF5_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${ParallelHDF5_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES MPI::MPI_C)
  add_library(Slabmark::HDF5_HL SHARED IMPORTED)
  set_target_properties(Slabmark::HDF5_HL PROPERTIES
    IMPORTED_LOCATION ${ParallelHDF5_HL_LIBRARY}
    INTERFACE_LINK_LIBRARIES Slabmark::HDF5)
endif()
