# Finds MPI and the launcher that belongs to it. Sets
#   SLABMARK_OPEN_MPI_MAJOR   4 or 5; 0 if it is another MPI
#   SLABMARK_MPI_SONAME       the shared library of this MPI, such as libmpi.so.40 (empty if linked statically)
#   SLABMARK_MPIEXEC          launcher with its flags, one string; SLABMARK_MPIEXEC_FLAGS are the flags alone
#   SLABMARK_MPI_ENVIRONMENT  list of NAME=VALUE that runs on this machine need
#   SLABMARK_MPI_EXPORTS      the same as shell commands

if(MPICC)
  find_program(MPI_C_COMPILER NAMES ${MPICC} REQUIRED)
endif()
if(MPIEXEC)
  find_program(MPIEXEC_EXECUTABLE NAMES ${MPIEXEC} REQUIRED)
elseif(MPI_C_COMPILER)
  # mpiexec.mpich for mpicc.mpich, and the launcher of the same folder before another one of the PATH.
  get_filename_component(folder ${MPI_C_COMPILER} DIRECTORY)
  get_filename_component(suffix ${MPI_C_COMPILER} LAST_EXT)
  find_program(MPIEXEC_EXECUTABLE NAMES mpiexec${suffix} mpirun${suffix} HINTS ${folder})
endif()
find_package(MPI REQUIRED COMPONENTS C)

include(CheckSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(OPEN_MPI mpi.h SLABMARK_MPI_IS_OPEN_MPI)
check_symbol_exists(MPI_ABI_VERSION mpi.h SLABMARK_MPI_IS_OF_STANDARD_ABI)
unset(CMAKE_REQUIRED_LIBRARIES)
if(SLABMARK_MPI_IS_OF_STANDARD_ABI)
  # Its header has nothing of Fortran's: handles as numbers have other names there (MPI 5.0, MPI_Comm_fromint).
  target_compile_definitions(MPI::MPI_C INTERFACE MPI_Fint=int MPI_Comm_f2c=MPI_Comm_fromint MPI_Comm_c2f=MPI_Comm_toint
    MPI_Info_f2c=MPI_Info_fromint MPI_Info_c2f=MPI_Info_toint MPI_Type_c2f=MPI_Type_toint)
endif()

# A launcher of another MPI would start n programs of one rank each, and nothing would say so.
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE launcher ERROR_VARIABLE launcher)
if((SLABMARK_MPI_IS_OPEN_MPI AND launcher MATCHES "HYDRA|MPICH|Intel")
   OR (NOT SLABMARK_MPI_IS_OPEN_MPI AND launcher MATCHES "Open MPI|OpenRTE|PRRTE"))
  message(FATAL_ERROR
    "The MPI compiler wrapper '${MPI_C_COMPILER}' and the launcher '${MPIEXEC_EXECUTABLE}' belong to two MPI libraries. "
    "Name a pair that belongs together: make MPICC=... MPIEXEC=...")
endif()

set(SLABMARK_MPI_ENVIRONMENT "")
set(SLABMARK_OPEN_MPI_MAJOR 0)
if(SLABMARK_MPI_IS_OPEN_MPI)
  # The header alone is asked, since a launcher may tell the version of PRRTE (Ubuntu 26.04's).
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/open-mpi-version.c "#include <mpi.h>\nmajor: OMPI_MAJOR_VERSION\n")
  execute_process(COMMAND ${MPI_C_COMPILER} -E ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/open-mpi-version.c OUTPUT_VARIABLE header)
  if(header MATCHES "\nmajor: ([0-9]+)")
    set(SLABMARK_OPEN_MPI_MAJOR ${CMAKE_MATCH_1})
  endif()
  # Tests run more ranks than a small machine has cores, which Open MPI refuses unless told: by the flag, or by the
  # variable where somebody types `mpiexec -n 8` without it (Open MPI up to 4, and 5).
  set(flags --oversubscribe)
  list(APPEND SLABMARK_MPI_ENVIRONMENT
    OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
  if(SLABMARK_OPEN_MPI_MAJOR GREATER_EQUAL 5)
    # From a machine with an IPv4 and an IPv6 address 5.0.7 finds no way to itself (open-mpi/ompi#14079); this is what Open MPI 4 does.
    list(APPEND SLABMARK_MPI_ENVIRONMENT OMPI_MCA_reachable=weighted)
  endif()
  execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(user STREQUAL "0")  # a container: Open MPI runs as root only if told twice
    list(APPEND SLABMARK_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
  endif()
else()
  set(flags "")
endif()
set(SLABMARK_MPIEXEC_FLAGS "${flags}" CACHE STRING "Flags of the MPI launcher, a list")
list(JOIN SLABMARK_MPIEXEC_FLAGS " " flags)
string(STRIP "${MPIEXEC_EXECUTABLE} ${flags}" SLABMARK_MPIEXEC)
list(TRANSFORM SLABMARK_MPI_ENVIRONMENT PREPEND "export " OUTPUT_VARIABLE SLABMARK_MPI_EXPORTS)
list(JOIN SLABMARK_MPI_EXPORTS "\n" SLABMARK_MPI_EXPORTS)

# slabmark_mpi_of(<library> <variable>): which MPI library a program or shared library was linked with.
find_program(SLABMARK_READELF NAMES ${CMAKE_READELF} readelf)
function(slabmark_mpi_of library result)
  execute_process(COMMAND ${SLABMARK_READELF} -d ${library} OUTPUT_VARIABLE dynamic ERROR_QUIET)
  # libmpi.so.40, libmpich.so.12, the standard's libmpi_abi.so.1, Cray's libmpi_gnu_91.so.12; not the bindings such as libmpi_cxx.so.40.
  string(REGEX MATCH "NEEDED[^\n]*\\[(libmpi(ch|_(abi|aocc|cray|gnu|intel|nvidia)[_0-9]*)?\\.so[.0-9]*)\\]" ignored "${dynamic}")
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

if(NOT DEFINED SLABMARK_MPI_SONAME)
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/mpi-probe)
  file(WRITE ${probe}.c "#include <mpi.h>\nint main(int n, char** v) { return MPI_Init(&n, &v); }\n")
  try_compile(linked ${probe}-build SOURCES ${probe}.c LINK_LIBRARIES MPI::MPI_C COPY_FILE ${probe})
  if(linked)
    slabmark_mpi_of(${probe} soname)
  endif()
  set(SLABMARK_MPI_SONAME "${soname}" CACHE INTERNAL "")
endif()
message(STATUS "MPI: ${MPI_C_COMPILER} (${SLABMARK_MPI_SONAME}), run by '${SLABMARK_MPIEXEC} -n N'")
