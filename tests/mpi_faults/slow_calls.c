/* Delays what a program reads and writes, so that ranks that come upon each other once in many runs
 * do so in each: reads by a millisecond when they are done, writes by a third of it before. Files
 * whose paths have SLOW_CALLS in them, a variable.
 *
 *   cc -shared -fPIC slow_calls.c -o slow_calls.so -ldl
 *   SLOW_CALLS=slabmark-test OMPI_MCA_io=^ompio mpiexec -n 4 -x LD_PRELOAD=$PWD/slow_calls.so \
 *     build/release/tests/test_bench_method --gtest_filter='*EachElement*deflate*'
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_for(int file, useconds_t microseconds) {
  const char* const part = getenv("SLOW_CALLS");
  char link[64], path[4096];
  ssize_t length;
  if (part == NULL || file < 3) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = '\0';
  if (strstr(path, part) != NULL) usleep(microseconds);
}

#define READ(name, parameters, arguments)                       \
  ssize_t name parameters {                                     \
    static ssize_t(*real) parameters;                           \
    ssize_t bytes;                                              \
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #name); \
    bytes = real arguments;                                     \
    wait_for(file, 1000);                                       \
    return bytes;                                               \
  }
#define WRITE(name, parameters, arguments)                      \
  ssize_t name parameters {                                     \
    static ssize_t(*real) parameters;                           \
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #name); \
    wait_for(file, 300);                                        \
    return real arguments;                                      \
  }

READ(read, (int file, void* to, size_t bytes_of), (file, to, bytes_of))
READ(pread, (int file, void* to, size_t bytes_of, off_t at), (file, to, bytes_of, at))
READ(pread64, (int file, void* to, size_t bytes_of, off64_t at), (file, to, bytes_of, at))
WRITE(write, (int file, const void* from, size_t bytes_of), (file, from, bytes_of))
WRITE(pwrite, (int file, const void* from, size_t bytes_of, off_t at), (file, from, bytes_of, at))
WRITE(pwrite64, (int file, const void* from, size_t bytes_of, off64_t at),
      (file, from, bytes_of, at))
