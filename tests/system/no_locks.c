/* To be preloaded: below NO_LOCKS_FOLDER there are no locks, as on some parallel file systems:
   flock() and the locks of fcntl() fail with NO_LOCKS_ERRNO. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define REAL(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

static int lies_there(int descriptor) {
  const char* const folder = getenv("NO_LOCKS_FOLDER");
  char link[64], path[PATH_MAX];
  ssize_t length;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  length = readlink(link, path, sizeof path);
  return folder != NULL && length >= (ssize_t)strlen(folder) &&
         strncmp(path, folder, strlen(folder)) == 0;
}

static int refuse(void) {
  const char* const number = getenv("NO_LOCKS_ERRNO");
  errno = number == NULL ? ENOLCK : atoi(number);
  return -1;
}

int flock(int descriptor, int operation) {
  if (lies_there(descriptor)) return refuse();
  return REAL(flock)(descriptor, operation);
}

#define FCNTL(name)                                                        \
  int name(int descriptor, int command, ...) {                             \
    void* argument;                                                        \
    va_list more;                                                          \
    va_start(more, command);                                               \
    argument = va_arg(more, void*);                                        \
    va_end(more);                                                          \
    if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) { \
      if (lies_there(descriptor)) return refuse();                         \
    }                                                                      \
    return REAL(name)(descriptor, command, argument);                      \
  }
FCNTL(fcntl)
FCNTL(fcntl64)
