# The libraries of src/accel/c_library for programs outside, shared and static: slabmark_rearrange, which needs MPI and no file
# library, and one for each file library, which is the program's own, of whatever version. CMake finds them by
# find_package(Slabmark), others by pkg-config.
include(CMakePackageConfigHelpers)

# slabmark_c_library(<name> SOURCES <objects>... [LINK <libraries>...]) makes lib<name>.so and lib<name>.a, of which nothing is seen but functions called slabmark_*.
function(slabmark_c_library name)
  cmake_parse_arguments(LIBRARY "" "" "SOURCES;LINK" ${ARGN})
  set(symbols ${PROJECT_SOURCE_DIR}/src/accel/c_library/symbols.map)
  foreach(kind SHARED STATIC)
    string(TOLOWER ${name}_${kind} target)
    add_library(${target} ${kind} ${LIBRARY_SOURCES})
    string(REPLACE slabmark_ "" short ${name})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${short}
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
    target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PUBLIC MPI::MPI_C PRIVATE ${LIBRARY_LINK})
    install(TARGETS ${target} EXPORT SlabmarkRearrange COMPONENT rearrange
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endforeach()
  # So that a program in C or Fortran links the archive.
  set_target_properties(${name}_static PROPERTIES EXPORT_NAME ${short}_static LINKER_LANGUAGE C)
  set_target_properties(${name}_shared PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${symbols}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_link_options(${name}_shared PRIVATE -Wl,--version-script,${symbols})
endfunction()

set(objects "")
foreach(module core_base core_geometry core_parallel collective_exchange storage_posix storage_mpiio collective accel_c_library)
  list(APPEND objects $<TARGET_OBJECTS:slabmark_${module}>)
endforeach()
slabmark_c_library(slabmark_rearrange SOURCES ${objects} LINK fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(slabmark_rearrange_static PRIVATE stdc++ m)
set(headers rearrange.h rearrange_format.h)
set(sources slabmark_rearrange.f90)
if(PnetCDF_FOUND)
  slabmark_c_library(slabmark_rearrange_pnetcdf SOURCES $<TARGET_OBJECTS:slabmark_accel_c_library_pnetcdf>)
  list(APPEND headers rearrange_pnetcdf.h)
  list(APPEND sources slabmark_rearrange_pnetcdf.f90)
endif()
slabmark_c_library(slabmark_rearrange_hdf5 SOURCES $<TARGET_OBJECTS:slabmark_accel_c_library_hdf5>)
list(APPEND headers rearrange_hdf5.h)
list(APPEND sources slabmark_rearrange_hdf5.f90)
foreach(library slabmark_rearrange_pnetcdf slabmark_rearrange_hdf5)
  if(TARGET ${library}_shared)
    target_link_libraries(${library}_shared PUBLIC slabmark_rearrange_shared)
    target_link_libraries(${library}_static PUBLIC slabmark_rearrange_static)
  endif()
endforeach()

list(TRANSFORM headers PREPEND c_library/api/)
list(TRANSFORM sources PREPEND c_library/api/)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/slabmark COMPONENT rearrange)
# As source: the module files of compilers do not mix.
set(fortran ${CMAKE_INSTALL_DATADIR}/slabmark/fortran)
install(FILES ${sources} DESTINATION ${fortran} COMPONENT rearrange)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/rearrange DESTINATION ${CMAKE_INSTALL_DATADIR}/slabmark/examples
  COMPONENT rearrange)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Slabmark)
install(EXPORT SlabmarkRearrange NAMESPACE slabmark:: FILE SlabmarkRearrangeTargets.cmake DESTINATION ${package}
  COMPONENT rearrange)
set(SLABMARK_FORTRAN ${fortran})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/SlabmarkRearrangeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/generated/SlabmarkRearrangeConfig.cmake INSTALL_DESTINATION ${package} PATH_VARS SLABMARK_FORTRAN)
install(FILES ${PROJECT_BINARY_DIR}/generated/SlabmarkRearrangeConfig.cmake DESTINATION ${package} COMPONENT rearrange)

# Paths relative to the file itself, so that what is installed can be moved.
file(RELATIVE_PATH SLABMARK_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(part core pnetcdf hdf5)
  set(SLABMARK_PC_NAME slabmark_rearrange)
  set(SLABMARK_PC_REQUIRES "")
  set(SLABMARK_PC_PRIVATE "-lfmt -lstdc++ -lpthread -lm")
  if(NOT part STREQUAL core)
    set(SLABMARK_PC_NAME slabmark_rearrange_${part})
    set(SLABMARK_PC_REQUIRES slabmark_rearrange)
    set(SLABMARK_PC_PRIVATE "")
  endif()
  if(TARGET ${SLABMARK_PC_NAME}_shared)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/slabmark_rearrange.pc.in
      ${PROJECT_BINARY_DIR}/generated/${SLABMARK_PC_NAME}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/generated/${SLABMARK_PC_NAME}.pc
      DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT rearrange)
  endif()
endforeach()
