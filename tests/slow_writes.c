/* SLOW_WRITES=64 in the environment: all writes of a process, of any thread, have 64 MiB a second.
 */
#include "slow_writes.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct slow_writes slow_writes;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void sleep_for(double seconds) {
  if (seconds <= 0) return;
  struct timespec rest = {(time_t)seconds, (long)(1e9 * (seconds - (time_t)seconds))};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
  }
}

/* Of files alone: MPI itself writes to sockets and pipes. */
static void take_turn(int file, size_t bytes) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static double rate = -1, is_free = 0;
  struct stat status;
  pthread_mutex_lock(&mutex);
  if (rate < 0) rate = getenv("SLOW_WRITES") ? atof(getenv("SLOW_WRITES")) * 1048576 : 0;
  double ends = 0;
  if (rate > 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    if (is_free < now()) is_free = now();
    ends = is_free += bytes / rate;
  }
  pthread_mutex_unlock(&mutex);
  sleep_for(ends - now());
}

static int is_on(int* setting) { return __atomic_load_n(setting, __ATOMIC_SEQ_CST); }

ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset) {
  static __thread int is_interrupted = 0;
  take_turn(file, bytes);
  if (syscall(SYS_gettid) != getpid()) {
    while (is_on(&slow_writes.held)) sleep_for(1e-3);
    sleep_for(1e-3 * is_on(&slow_writes.milliseconds));
    if (slow_writes.look) slow_writes.look();
    errno = is_on(&slow_writes.error);
    if (errno != 0) return -1;
    if (is_on(&slow_writes.in_pieces)) {
      is_interrupted = !is_interrupted;
      errno = EINTR;
      if (is_interrupted) return -1;
      if (bytes > 1000) bytes = 1000;
    }
  }
  return syscall(SYS_pwrite64, file, data, bytes, offset);
}

ssize_t pwrite64(int file, const void* data, size_t bytes, off_t offset) {
  return pwrite(file, data, bytes, offset);
}

ssize_t pwritev(int file, const struct iovec* parts, int count, off_t offset) {
  size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  take_turn(file, bytes);
  return syscall(SYS_pwritev, file, parts, count, offset, 0);
}

ssize_t write(int file, const void* data, size_t bytes) {
  take_turn(file, bytes);
  return syscall(SYS_write, file, data, bytes);
}
