/* SLOW_WRITES=64 in the environment: all writes of a process, of any thread, have 64 MiB a second.
 */
#include "slow_writes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
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

/* When the disk is free again, in nanoseconds; of all processes that name the same
 * SLOW_WRITES_FILE. */
static long* disk(void) {
  static long own;
  const char* const name = getenv("SLOW_WRITES_FILE");
  const int file = name ? open(name, O_RDWR | O_CREAT, 0600) : -1;
  if (file < 0 || ftruncate(file, sizeof(long)) != 0) return &own;
  void* const shared = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return shared == MAP_FAILED ? &own : shared;
}

/* Of files alone: MPI itself writes to sockets and pipes. */
static void take_turn(int file, size_t bytes) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static double rate = -1;
  static long* is_free;
  struct stat status;
  pthread_mutex_lock(&mutex);
  if (rate < 0) {
    rate = getenv("SLOW_WRITES") ? atof(getenv("SLOW_WRITES")) * 1048576 : 0;
    is_free = disk();
  }
  pthread_mutex_unlock(&mutex);
  if (rate <= 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return;
  long before = __atomic_load_n(is_free, __ATOMIC_SEQ_CST), ends;
  do {
    const long begins = before > (long)(1e9 * now()) ? before : (long)(1e9 * now());
    ends = begins + (long)(1e9 * bytes / rate);
  } while (
      !__atomic_compare_exchange_n(is_free, &before, ends, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  sleep_for(1e-9 * ends - now());
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
