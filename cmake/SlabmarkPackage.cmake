# So that programs outside find what is installed: find_package(Slabmark).
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Slabmark)
configure_package_config_file(cmake/SlabmarkConfig.cmake.in ${PROJECT_BINARY_DIR}/generated/SlabmarkConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/SlabmarkConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
foreach(component slice rearrange)
  install(FILES ${PROJECT_BINARY_DIR}/generated/SlabmarkConfig.cmake ${PROJECT_BINARY_DIR}/generated/SlabmarkConfigVersion.cmake
    DESTINATION ${package} COMPONENT ${component})
endforeach()
