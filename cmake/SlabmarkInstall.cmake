# Installs, beside programs and libraries, all that lets them work under a prefix that may be moved: the HDF5 that we built, the
# lab with its Python packages, manual pages and completions, module files, examples.
set(slabmark_home ${CMAKE_INSTALL_LIBDIR}/slabmark)
set(slabmark_share ${CMAKE_INSTALL_DATADIR}/slabmark)

# In each component of which a part links it.
if(ParallelHDF5_OURS)
  file(GLOB licence ${ParallelHDF5_OURS}/share/LICENSE ${ParallelHDF5_OURS}/share/COPYING) # of 2 and of 1.14
  foreach(component Unspecified slice slablog slabmark_compress)
    install(DIRECTORY ${ParallelHDF5_OURS}/lib DESTINATION ${slabmark_home}/hdf5 COMPONENT ${component}
      FILES_MATCHING PATTERN "*.so*" PATTERN cmake EXCLUDE PATTERN pkgconfig EXCLUDE)
    install(DIRECTORY ${ParallelHDF5_OURS}/include DESTINATION ${slabmark_home}/hdf5 COMPONENT ${component})
    install(FILES ${licence} DESTINATION ${slabmark_home}/hdf5 COMPONENT ${component})
  endforeach()
endif()

# slabmark_pkg_config(<name> <description> COMPONENT <component> [LIBS <flags>] [CFLAGS <flags>] [VARIABLES <lines>...])
# installs <name>.pc, which finds its prefix by its own place.
file(RELATIVE_PATH slabmark_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" slabmark_up ${slabmark_up})
function(slabmark_pkg_config name description)
  cmake_parse_arguments(PC "" "COMPONENT;LIBS;CFLAGS" "VARIABLES" ${ARGN})
  list(JOIN PC_VARIABLES "\n" variables)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${name}.pc @ONLY CONTENT "prefix=\${pcfiledir}/@slabmark_up@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
@variables@

Name: @name@
Description: @description@
Version: @PROJECT_VERSION@
Cflags: @PC_CFLAGS@
Libs: @PC_LIBS@
")
  install(FILES ${PROJECT_BINARY_DIR}/generated/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${PC_COMPONENT})
endfunction()
slabmark_pkg_config(slabmark_slice "Writes slices of a simulation's fields" COMPONENT slice
  CFLAGS "-I\${includedir}/slabmark -std=c++20" LIBS "-L\${libdir} -Wl,-rpath,\${libdir} -lslabmark_slice")
slabmark_pkg_config(slabmark_slablog "Header and folder of the log-layout connector of HDF5" COMPONENT slablog
  CFLAGS "-I\${includedir}" VARIABLES "plugindir=\${libdir}/slabmark/plugins")
if(ParallelHDF5_OURS)
  slabmark_pkg_config(slabmark_hdf5 "The parallel HDF5 that comes with Slabmark" COMPONENT slablog
    CFLAGS "-I\${hdf5}/include" LIBS "-L\${hdf5}/lib -Wl,-rpath,\${hdf5}/lib -lhdf5_hl -lhdf5"
    VARIABLES "hdf5=\${libdir}/slabmark/hdf5")
endif()

foreach(file slabmark slabmark.lua)
  configure_file(packaging/modulefiles/${file}.in ${PROJECT_BINARY_DIR}/generated/modulefiles/${file} @ONLY)
endforeach()
set(modules ${slabmark_share}/modulefiles/slabmark)
install(FILES ${PROJECT_BINARY_DIR}/generated/modulefiles/slabmark DESTINATION ${modules} RENAME ${PROJECT_VERSION})
install(FILES ${PROJECT_BINARY_DIR}/generated/modulefiles/slabmark.lua DESTINATION ${modules} RENAME ${PROJECT_VERSION}.lua)

install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN dev EXCLUDE)
install(FILES demo/study.toml DESTINATION ${slabmark_share}/examples)

# Steps at installation, in this order: they run programs that were installed before.
install(CODE "set(slabmark_root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")")
if(SLABMARK_LAB)
  install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND \"${PROJECT_SOURCE_DIR}/setup/install-lab\"
    \"\${slabmark_root}\" ${CMAKE_INSTALL_LIBEXECDIR}/slabmark/lab ${slabmark_home}/lab)")
endif()
if(SLABMARK_BENCH)
  # Where programs do not start, as on some clusters' login nodes, all else is installed all the same.
  find_package(Python3 3.8 QUIET COMPONENTS Interpreter)
  install(CODE "execute_process(RESULT_VARIABLE status COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/setup/manuals\"
      \"\${slabmark_root}/${CMAKE_INSTALL_BINDIR}\" \"\${slabmark_root}/${CMAKE_INSTALL_DATADIR}\")
    if(NOT status EQUAL 0)
      message(WARNING \"Manual pages and completions are left out: setup/manuals needs Python 3.8 and programs that run here.\")
    endif()")
endif()
