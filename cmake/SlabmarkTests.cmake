# Each entry of ctest has two labels, its module and its level: `make test` runs the entries of the level `fast`, and `make test-all`
# the entries of both levels (docs/dev/testing.md).

set(test_options ${slabmark_runs_once})
set(test_libraries GTest::gmock fmt::fmt)
if(SLABMARK_CAPTURE)  # the accelerators alone need no JSON
  list(APPEND test_libraries nlohmann_json::nlohmann_json)
endif()
# An empty program holds the precompiled headers, so that whoever builds one test builds no other for its headers.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/empty_program.cpp CONTENT "int main() {}\n")
add_executable(slabmark_precompiled_test EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/generated/empty_program.cpp)
set_target_properties(slabmark_precompiled_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(slabmark_precompiled_test PRIVATE ${test_libraries})
target_compile_options(slabmark_precompiled_test PRIVATE ${test_options})
slabmark_precompile(slabmark_precompiled_test test <gmock/gmock.h> <fmt/format.h>)

# slabmark_test(<folder of tests> [RECURSE] [MODULE <module>] [MPI_RANKS <n>...] [LONG_RANKS <n>...] [LONG <filter>] [DEPENDS <modules>...])
#
# Makes one executable of tests/<folder>/*_test.cpp (with RECURSE also of its folders). It links the module of the same name
# (or MODULE), the dependencies of that module, and the modules that only the test needs. ctest runs it as <folder>, or under MPI
# as <folder>.np<n> for each n. The level `long` has the numbers of ranks of LONG_RANKS, and on all others the tests that the
# GoogleTest filter LONG matches, as <name>.long.
function(slabmark_test folder)
  cmake_parse_arguments(TEST "RECURSE" "MODULE;LONG" "MPI_RANKS;LONG_RANKS;DEPENDS" ${ARGN})
  if(NOT TEST_MODULE)
    set(TEST_MODULE ${folder})
  endif()
  string(REPLACE "/" "_" target test_${folder})
  set(glob GLOB)
  if(TEST_RECURSE)
    set(glob GLOB_RECURSE)
  endif()
  file(${glob} sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cpp)
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE ${test_libraries})
  target_compile_options(${target} PRIVATE ${test_options})
  slabmark_precompile(${target} test)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  slabmark_use_modules(${target} PRIVATE tests/${folder} ${TEST_MODULE} ${TEST_DEPENDS})
  if(NOT TEST_MPI_RANKS)
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
    slabmark_add_test(${folder} ${folder} fast 1 $<TARGET_FILE:${target}>)
    return()
  endif()
  target_link_libraries(${target} PRIVATE slabmark_mpi_main)
  foreach(ranks ${TEST_MPI_RANKS})
    slabmark_add_mpi_test(${folder}.np${ranks} ${folder} fast ${ranks} ${target})
    if(TEST_LONG)
      slabmark_add_mpi_test(${folder}.np${ranks}.long ${folder} long ${ranks} ${target})
      slabmark_filter_test(${folder}.np${ranks} "-${TEST_LONG}")
      slabmark_filter_test(${folder}.np${ranks}.long "${TEST_LONG}")
    endif()
  endforeach()
  foreach(ranks ${TEST_LONG_RANKS})
    slabmark_add_mpi_test(${folder}.np${ranks} ${folder} long ${ranks} ${target})
  endforeach()
endfunction()

# Not with `--mca pml ob1`, which spares each launch the fifth of a second in which UCX looks for networks: now and then a rank that ends
# so quickly crashes in Open MPI 4.1.4, whose progress thread has an event left of its component pmix/ext3x when that is unloaded.
set(test_launcher ${MPIEXEC_EXECUTABLE} ${SLABMARK_MPIEXEC_FLAGS})

# slabmark_add_mpi_test(<name> <module> <level> <ranks> <target>)
function(slabmark_add_mpi_test name module level ranks target)
  slabmark_add_test(${name} ${module} ${level} ${ranks}
    ${PROJECT_SOURCE_DIR}/setup/own-tmpdir ${test_launcher} -n ${ranks} $<TARGET_FILE:${target}>)
endfunction()

# slabmark_filter_test(<name> <GoogleTest filter>)
function(slabmark_filter_test name filter)
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=${filter}")
endfunction()

# slabmark_python_tests(<module> <folder of tests>) registers each <folder>/test_*.py, run by pytest: its tests of the level `fast` as
# <module>.<subject>, those of the level `long` as <module>.<subject>.long. Marks in the file say which it has (conftest.py).
function(slabmark_python_tests module folder)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/test_*.py)
  foreach(file ${files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(REGEX REPLACE ".*/test_(.*)\\.py$" "${module}.\\1" name ${file})
    if(NOT text MATCHES "\npytestmark = [^\n]*mark\\.long" OR text MATCHES "mark\\.fast")
      slabmark_add_python_test(${name} ${module} fast ${file})
    endif()
    if(text MATCHES "mark\\.long|[^a-z_]long[(]")
      slabmark_add_python_test(${name}.long ${module} long ${file})
    endif()
  endforeach()
endfunction()

# slabmark_add_python_test(<name> <module> <level> <file>)
function(slabmark_add_python_test name module level file)
  # Tests start up to 8 ranks themselves, in launches one after another with start-up on one core in between.
  slabmark_add_test(${name} ${module} ${level} 1 ${PROJECT_SOURCE_DIR}/setup/python -m pytest --level ${level} ${file})
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    "SLABMARK_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" "SLABMARK_MPIEXEC=$<JOIN:${test_launcher}, >"
    SLABMARK_MODULES=${PROJECT_BINARY_DIR}/modules SLABMARK_WITH_PNETCDF=$<BOOL:${PnetCDF_FOUND}> PYTHONDONTWRITEBYTECODE=1
    SLABMARK_CMAKE=${CMAKE_COMMAND} SLABMARK_MPICC=${MPI_C_COMPILER}
    "SLABMARK_SANITIZERS=${SLABMARK_SANITIZERS}")
endfunction()

# slabmark_label_tests(<name> <label>) gives the entries <name> and <name>.* of this folder one more label.
function(slabmark_label_tests name label)
  get_property(entries DIRECTORY PROPERTY TESTS)
  list(FILTER entries INCLUDE REGEX "^${name}(\\.|$)")
  set_property(TEST ${entries} APPEND PROPERTY LABELS ${label})
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

# A test of more ranks than cores keeps all cores busy, and no more.
cmake_host_system_information(RESULT test_cores QUERY NUMBER_OF_LOGICAL_CORES)

# slabmark_add_test(<name> <module> <level> <ranks> <command>...)
function(slabmark_add_test name module level ranks)
  set(processors ${ranks})
  if(processors GREATER test_cores)
    set(processors ${test_cores})
  endif()
  add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/before-deadline ${ARGN})
  set_tests_properties(${name} PROPERTIES
    LABELS "${module};${level}"
    PROCESSORS ${processors}
    TIMEOUT ${test_timeout}
    SKIP_RETURN_CODE 77  # of tests/before-deadline
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
