set(SLABMARK_TESTS "" CACHE STRING "Only what tests need whose names match this regular expression is built for them; empty: all")

# slabmark_only_for_tests(<target> <tests>...) leaves the target out of `all` unless one of the tests is wanted.
function(slabmark_only_for_tests target)
  set(wanted ${ARGN})
  if(SLABMARK_TESTS)
    list(FILTER wanted INCLUDE REGEX ${SLABMARK_TESTS})
  endif()
  if(wanted)
    set_property(GLOBAL APPEND PROPERTY slabmark_wanted ${target})
  else()
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endfunction()

# slabmark_write_wanted() notes for setup/build in the file `wanted` what the wanted tests need, a target a line: all, if they run
# programs, and what is left out of that, but a test of another name needs; the latter are the target wanted_tests.
function(slabmark_write_wanted)
  get_property(wanted GLOBAL PROPERTY slabmark_wanted)
  if(NOT SLABMARK_TESTS)
    set(wanted all)
  endif()
  list(REMOVE_DUPLICATES wanted)
  list(JOIN wanted "\n" lines)
  file(WRITE ${PROJECT_BINARY_DIR}/wanted "${lines}\n")
  list(REMOVE_ITEM wanted all)
  add_custom_target(wanted_tests)  # of nothing where no test has such a name, which ctest says
  if(wanted)
    add_dependencies(wanted_tests ${wanted})
  endif()
endfunction()

set(test_options $<$<CONFIG:Release>:-O1>)  # compiled in two thirds of the time
set(test_libraries GTest::gmock fmt::fmt)
set(test_headers <gmock/gmock.h> <fmt/format.h>)
if(SLABMARK_CAPTURE)  # the accelerators alone need no JSON
  list(APPEND test_libraries nlohmann_json::nlohmann_json)
  list(APPEND test_headers <nlohmann/json.hpp>)
endif()
slabmark_precompiled_program(test LINK ${test_libraries} HEADERS ${test_headers})
target_compile_options(slabmark_precompiled_test PRIVATE ${test_options})

# slabmark_test(<folder of tests> [RECURSE] [MODULE <module>] [MPI_RANKS <n>...] [DEPENDS <modules>...])
#
# Makes one executable of tests/<folder>/*_test.cpp (with RECURSE of those in its folders, too) that links the module of the
# same name (or MODULE), what that depends on and modules that only the test needs, and registers it with ctest:
# as <folder>, or under MPI as <folder>.np<n> for each n.
function(slabmark_test folder)
  cmake_parse_arguments(TEST "RECURSE" "MODULE" "MPI_RANKS;DEPENDS" ${ARGN})
  if(NOT TEST_MODULE)
    set(TEST_MODULE ${folder})
  endif()
  string(REPLACE "/" "_" name ${folder})
  set(glob GLOB)
  if(TEST_RECURSE)
    set(glob GLOB_RECURSE)
  endif()
  file(${glob} sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cpp)
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE ${test_libraries})
  target_compile_options(test_${name} PRIVATE ${test_options})
  slabmark_precompile(test_${name} test)
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  slabmark_use_modules(test_${name} PRIVATE tests/${folder} ${TEST_MODULE} ${TEST_DEPENDS})
  set(names ${folder})
  if(TEST_MPI_RANKS)
    list(TRANSFORM TEST_MPI_RANKS PREPEND ${folder}.np OUTPUT_VARIABLE names)
  endif()
  slabmark_only_for_tests(test_${name} ${names})
  if(TEST_MPI_RANKS)
    target_link_libraries(test_${name} PRIVATE slabmark_mpi_main)
    foreach(ranks ${TEST_MPI_RANKS})
      slabmark_add_mpi_test(${folder}.np${ranks} ${ranks} test_${name})
    endforeach()
  else()
    target_link_libraries(test_${name} PRIVATE GTest::gtest_main)
    slabmark_add_test(${folder} 1 $<TARGET_FILE:test_${name}>)
  endif()
endfunction()

# Not with `--mca pml ob1`, which spares each launch the fifth of a second in which UCX looks for networks: now and then a rank that ends
# so quickly crashes in Open MPI 4.1.4, whose progress thread has an event left of its component pmix/ext3x when that is unloaded.
set(test_launcher ${MPIEXEC_EXECUTABLE} ${SLABMARK_MPIEXEC_FLAGS})

# slabmark_add_mpi_test(<name> <ranks> <target>)
function(slabmark_add_mpi_test name ranks target)
  if(SLABMARK_TESTS AND "${name}" MATCHES "${SLABMARK_TESTS}")
    set_property(GLOBAL APPEND PROPERTY slabmark_wanted ${target})
  endif()
  slabmark_add_test(${name} ${ranks}
    ${PROJECT_SOURCE_DIR}/setup/own-tmpdir ${test_launcher} -n ${ranks} $<TARGET_FILE:${target}>)
endfunction()

# slabmark_program_tests(<name> <folder of tests>) registers each <folder>/test_*.py as <name>.*, run by pytest.
function(slabmark_program_tests module tests)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${tests}/test_*.py)
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    string(REPLACE "test_" "" name ${name})
    if(SLABMARK_TESTS AND "${module}.${name}" MATCHES "${SLABMARK_TESTS}")
      set_property(GLOBAL APPEND PROPERTY slabmark_wanted all)
    endif()
    # They start up to 8 ranks themselves, in launches one after another with start-up on one core in between.
    slabmark_add_test(${module}.${name} 1
      ${PROJECT_SOURCE_DIR}/setup/python -m pytest -q -rs -p no:cacheprovider -o verbosity_assertions=2 ${file})
    set_property(TEST ${module}.${name} APPEND PROPERTY ENVIRONMENT
      "SLABMARK_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" "SLABMARK_MPIEXEC=$<JOIN:${test_launcher}, >"
      SLABMARK_MODULES=${PROJECT_BINARY_DIR}/modules SLABMARK_WITH_PNETCDF=$<BOOL:${PnetCDF_FOUND}> PYTHONDONTWRITEBYTECODE=1
      SLABMARK_CMAKE=${CMAKE_COMMAND} SLABMARK_MPICC=${MPI_C_COMPILER}
      "SLABMARK_SANITIZERS=${SLABMARK_SANITIZERS}")
  endforeach()
endfunction()

# Ranks that wait give way to those of tests beside them; Open MPI does so by itself only if one launch has more ranks than
# cores, MPICH never.
set(launch_environment OMPI_MCA_mpi_yield_when_idle=1)
if(NOT SLABMARK_MPI_IS_OPEN_MPI AND NOT SLABMARK_SANITIZERS)
  add_library(slabmark_yield_when_idle SHARED ${PROJECT_SOURCE_DIR}/cmake/yield_when_idle.c)
  set_target_properties(slabmark_yield_when_idle PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  list(APPEND launch_environment LD_PRELOAD=${PROJECT_BINARY_DIR}/tests/libslabmark_yield_when_idle.so)
endif()
# Some tests limit the size of files, also of those that Open MPI has in shared memory: 16 MiB of version 5, 4 of version 4.
if(SLABMARK_OPEN_MPI_MAJOR GREATER_EQUAL 5)
  list(APPEND launch_environment OMPI_MCA_btl_sm_segment_size=4194304)
endif()

function(slabmark_add_test name ranks)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES
    PROCESSORS ${ranks}
    TIMEOUT ${test_timeout}
    ENVIRONMENT "${SLABMARK_MPI_ENVIRONMENT};${launch_environment};${sanitizer_environment}"
    # Plugins of another HDF5 on the machine must not be loaded into ours, nor ours into stock tools.
    ENVIRONMENT_MODIFICATION HDF5_PLUGIN_PATH=unset:)
endfunction()

set(test_timeout 600)  # a rank that left a test early may leave its peers waiting
if(SLABMARK_SANITIZERS)
  # OMPIO makes its lists longer by one element at a time, and AddressSanitizer copies them each time: irregular writes take minutes.
  set(test_timeout 1200)
  # The connector's random operations are as many as stay within a minute; the plain run has all of them.
  set(sanitizer_environment
    SLABLOG_OPERATIONS=600
    SLABMARK_TEST_PATIENCE=4
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/leaks-of-others.txt:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1"
    TSAN_OPTIONS=ignore_noninstrumented_modules=1)  # whose atomics it does not see
  # Clang's sanitizers ask another program for the names by which leaks of others are known. Debian's looks only for that of its own
  # version, which is in a package of its own.
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    string(REGEX MATCH "^[0-9]+" clang_version "${CMAKE_CXX_COMPILER_VERSION}")
    find_program(SLABMARK_SYMBOLIZER NAMES llvm-symbolizer-${clang_version} llvm-symbolizer addr2line)
    mark_as_advanced(SLABMARK_SYMBOLIZER)
    if(SLABMARK_SYMBOLIZER)
      list(APPEND sanitizer_environment ASAN_OPTIONS=external_symbolizer_path=${SLABMARK_SYMBOLIZER})
    endif()
  endif()
endif()
