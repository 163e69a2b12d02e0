file(WRITE ${PROJECT_BINARY_DIR}/modules "")

# For code through which no element passes: it is compiled in two thirds of the time that -O3 takes.
set(slabmark_runs_once $<$<CONFIG:Release>:-O1>)

# slabmark_module(<folder of src> [FLAT] [RUNS_ONCE] [EXCEPT <folders in it>...] [DEPENDS <modules>...] [LINK <targets>...])
#
# Makes the static library slabmark_<folder> of all src/<folder>/*.cpp, or a header-only target if there are none. A
# slash becomes an underscore: storage/hdf5 is slabmark_storage_hdf5. Folders in it that are modules of their own are
# excepted; FLAT leaves out all of them. A module can name only the modules above it, since only
# those exist when it is declared. The compiler would find headers of all: a test compares includes with what is named.
# RUNS_ONCE says that no element passes through its code.
function(slabmark_module folder)
  cmake_parse_arguments(MODULE "FLAT;RUNS_ONCE" "" "EXCEPT;DEPENDS;LINK" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(glob GLOB_RECURSE)
  if(MODULE_FLAT)
    set(glob GLOB)
  endif()
  file(${glob} sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  foreach(inner plugin ${MODULE_EXCEPT})  # a plugin makes a shared library of the module
    list(FILTER sources EXCLUDE REGEX "/src/${folder}/${inner}/")
  endforeach()
  if(sources)
    add_library(slabmark_${name} STATIC ${sources})
    if(folder STREQUAL "core/base" OR core/base IN_LIST MODULE_DEPENDS)  # whose flags are alike
      slabmark_precompile(slabmark_${name} module <algorithm> <array> <cstdint> <cstring> <filesystem> <fmt/format.h> <functional>
        <limits> <map> <memory> <optional> <span> <string> <utility> <vector>)
    endif()
    if(MODULE_RUNS_ONCE)
      target_compile_options(slabmark_${name} PRIVATE ${slabmark_runs_once})
    endif()
    set(scope PUBLIC)
  else()
    add_library(slabmark_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(slabmark_${name} ${scope} ${PROJECT_SOURCE_DIR}/src)
  slabmark_use_modules(slabmark_${name} ${scope} src/${folder} ${MODULE_DEPENDS})
  target_link_libraries(slabmark_${name} ${scope} ${MODULE_LINK})
endfunction()

# slabmark_program(<folder of src/programs> [VERB] DEPENDS <modules>...) makes the executable of that name, and with VERB that of
# `slabmark <folder>`: the target slabmark-<folder> in libexec/slabmark. All but its main() is the library slabmark_programs_<name>, so
# that tests run the program in their own process.
function(slabmark_program name)
  cmake_parse_arguments(PROGRAM "VERB" "" "DEPENDS" ${ARGN})
  string(MAKE_C_IDENTIFIER ${name} identifier)
  set(library slabmark_programs_${identifier})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/programs/${name}/*.cpp)
  add_library(${library} STATIC ${sources})
  slabmark_precompile(${library} module)
  target_compile_options(${library} PRIVATE ${slabmark_runs_once})
  slabmark_use_modules(${library} PUBLIC src/programs/${name} ${PROGRAM_DEPENDS})
  target_link_libraries(slabmark_programs INTERFACE ${library})

  set(target ${name})
  set(folder ${CMAKE_INSTALL_BINDIR})
  if(PROGRAM_VERB)
    set(target slabmark-${name})
    set(folder ${CMAKE_INSTALL_LIBEXECDIR}/slabmark)
  endif()
  add_executable(${target} ${PROJECT_SOURCE_DIR}/src/programs/main.cpp)
  target_compile_definitions(${target} PRIVATE SLABMARK_PROGRAM=${identifier})
  target_link_libraries(${target} PRIVATE ${library})
  if(PROGRAM_VERB)
    file(RELATIVE_PATH root /${folder} /)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/libexec/slabmark
      INSTALL_RPATH $ORIGIN/${root}${CMAKE_INSTALL_LIBDIR}/slabmark/hdf5/lib)
  endif()
  install(TARGETS ${target} RUNTIME DESTINATION ${folder})
endfunction()

# Compiles the tables of these folders of src/bench/pattern into the module bench/pattern.
function(slabmark_built_in_tables)
  set(built_in_tables "")
  foreach(folder ${ARGN})
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/bench/pattern/${folder}/*.json)
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      file(READ ${file} json)
      string(APPEND built_in_tables "    {\"${folder}\", \"${name}\", R\"json(${json})json\"},\n")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    endforeach()
  endforeach()
  configure_file(pattern/built_in_tables.cpp.in ${PROJECT_BINARY_DIR}/generated/built_in_tables.cpp @ONLY)
  target_sources(slabmark_bench_pattern PRIVATE ${PROJECT_BINARY_DIR}/generated/built_in_tables.cpp)
endfunction()

# slabmark_plugin(<name> <source> [OF_LIBRARY] DEPENDS <modules>...) makes a shared library that a program loads by path. It
# hides the modules in it, since the program may have others of the same names. OF_LIBRARY puts it beside our libraries, one
# of which loads it: HDF5 opens all that is in the folder of plugins.
function(slabmark_plugin name source)
  cmake_parse_arguments(PLUGIN "OF_LIBRARY" "" "DEPENDS" ${ARGN})
  set(output plugins)
  set(folder slabmark/plugins)
  set(to_hdf5 ../hdf5/lib)
  if(PLUGIN_OF_LIBRARY)
    set(output lib)
    set(folder "")
    set(to_hdf5 slabmark/hdf5/lib)
  endif()
  add_library(${name} MODULE ${PROJECT_SOURCE_DIR}/${source})
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${output} CXX_VISIBILITY_PRESET hidden
    INSTALL_RPATH $ORIGIN/${to_hdf5})
  cmake_path(GET source PARENT_PATH sources)
  slabmark_use_modules(${name} PRIVATE ${sources} ${PLUGIN_DEPENDS})
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
  set(symbols ${PROJECT_SOURCE_DIR}/${sources}/symbols.map)
  if(EXISTS ${symbols})
    target_link_options(${name} PRIVATE -Wl,--version-script,${symbols})
    set_target_properties(${name} PROPERTIES LINK_DEPENDS ${symbols})
  endif()
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${folder} COMPONENT ${name})
endfunction()

# slabmark_dropin(<name> <folder of sources> DEPENDS <modules>...) makes the shared library lib<name>.so that stands in for
# another library: what <folder>/symbols.map names is seen, all else hidden. It is not linked with the other one: the
# program has that, of whatever version.
function(slabmark_dropin name folder)
  cmake_parse_arguments(DROPIN "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  add_library(${name} SHARED ${sources})
  # Their sources have macros of the same names, by which they write hundreds of functions.
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib INSTALL_RPATH $ORIGIN UNITY_BUILD OFF)
  slabmark_use_modules(${name} PRIVATE src/${folder} ${DROPIN_DEPENDS})
  set(symbols ${PROJECT_SOURCE_DIR}/src/${folder}/symbols.map)
  target_link_options(${name} PRIVATE -Wl,--version-script,${symbols})
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${symbols})
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name})
endfunction()

# slabmark_dropin_archive(<drop-in> OTHER <libother.a> PREFIX <of its functions> FINDER <function> MODULES <modules>...) makes of it
# lib<name>_wrap.a and <name>_wrap.rsp, for programs that link the other library statically: cmake/SlabmarkWrap.cmake. The
# modules are all that it consists of; FINDER(name) is how it asks for the other one's function.
function(slabmark_dropin_archive dropin)
  cmake_parse_arguments(WRAP "" "OTHER;PREFIX;FINDER" "MODULES" ${ARGN})
  set(archives "")
  foreach(module ${WRAP_MODULES})
    string(REPLACE "/" "_" module ${module})
    get_target_property(type slabmark_${module} TYPE)
    if(type STREQUAL STATIC_LIBRARY)
      list(APPEND archives $<TARGET_FILE:slabmark_${module}>)
    endif()
  endforeach()
  set(script ${PROJECT_SOURCE_DIR}/cmake/SlabmarkWrap.cmake)
  set(files ${PROJECT_BINARY_DIR}/lib/lib${dropin}_wrap.a ${PROJECT_BINARY_DIR}/lib/${dropin}_wrap.rsp)
  add_custom_command(OUTPUT ${files}
    COMMAND ${CMAKE_COMMAND} -D SHARED=$<TARGET_FILE:${dropin}> -D "OBJECTS=$<TARGET_OBJECTS:${dropin}>"
      -D "ARCHIVES=${archives}" -D OTHER=${WRAP_OTHER} -D PREFIX=${WRAP_PREFIX} -D FINDER=${WRAP_FINDER}
      -D NAME=${dropin}_wrap -D C_COMPILER=${CMAKE_C_COMPILER} -D LINKER=${CMAKE_LINKER} -D OBJCOPY=${CMAKE_OBJCOPY}
      -D NM=${CMAKE_NM} -D AR=${CMAKE_AR} -P ${script}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/lib DEPENDS ${dropin} ${script} ${WRAP_OTHER} VERBATIM)
  add_custom_target(${dropin}_wrap ALL DEPENDS ${files})
  install(FILES ${files} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${dropin} OPTIONAL)
endfunction()

# slabmark_library(<name> <module> HEADERS <files of src>...) makes the shared library libslabmark_<name> of a module and of
# those it needs, for programs outside, and installs it with the headers that they may include.
function(slabmark_library name module)
  cmake_parse_arguments(LIBRARY "" "" "HEADERS" ${ARGN})
  string(REPLACE "/" "_" module slabmark_${module})
  add_library(${name}_library SHARED $<TARGET_OBJECTS:${module}>)
  set_target_properties(${name}_library PROPERTIES
    OUTPUT_NAME slabmark_${name} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_libraries(${name}_library PRIVATE ${module})
  if(NOT SLABMARK_SANITIZERS)
    target_link_options(${name}_library PRIVATE -Wl,--no-undefined)
  endif()
  install(TARGETS ${name}_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name})
  foreach(header ${LIBRARY_HEADERS})
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/src/${header}
      DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/slabmark/${folder} COMPONENT ${name})
  endforeach()
endfunction()

# slabmark_use_modules(<target> <scope> <its folder in the checkout> <modules>...) links the modules, and notes for the test of
# modules which folder names which.
function(slabmark_use_modules target scope folder)
  foreach(module ${ARGN})
    string(REPLACE "/" "_" name ${module})
    if(NOT TARGET slabmark_${name})
      message(FATAL_ERROR "${folder} depends on the module '${module}', but CMake has declared none of that name before it.")
    endif()
    target_link_libraries(${target} ${scope} slabmark_${name})
  endforeach()
  list(JOIN ARGN " " modules)
  file(APPEND ${PROJECT_BINARY_DIR}/modules "${folder}: ${modules}\n")
endfunction()

# slabmark_precompile(<target> <kind> <headers>...) compiles large headers once for all targets of a kind, as parsing them is a third of
# what compiling takes. The preset debug does without, and compiles each source by itself, so that it finds those that do not include
# what they use.
function(slabmark_precompile target kind)
  get_property(owner GLOBAL PROPERTY slabmark_precompiled_for_${kind})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${target} PRIVATE ${headers})
    set_property(GLOBAL PROPERTY slabmark_precompiled_for_${kind} ${target})
  endif()
endfunction()
