/* To be loaded before a program (LD_PRELOAD): what it does to HDF5 files (*.h5) and to their
 * journals
 * (*.slablog-journal) is stopped at every write.
 *   WRITES_SNAPSHOTS=FOLDER  the file is copied, with its journal, before each write and in its
 * middle, as FOLDER/RANK-NUMBER-COMPLETED.h5. A kill -9 at that point leaves just these bytes.
 *                            COMPLETED is the program's environment variable of that name.
 *   WRITES_KILL=N            rank 0 ends at its Nth write, counted from 0
 *   WRITES_FULL=N            the disk is full from a rank's Nth write to the journal on
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char journal_suffix[] = ".slablog-journal";

static int ends_with(const char* text, const char* end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static const char* rank(void) {
  const char* found = getenv("OMPI_COMM_WORLD_RANK");
  if (found == NULL) found = getenv("PMI_RANK");
  return found == NULL ? "0" : found;
}

static void copy(const char* from, const char* to) {
  static char buffer[1 << 16];
  const int in = open(from, O_RDONLY);
  const int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ssize_t bytes;
  if (out >= 0) {
    while ((bytes = read(in, buffer, sizeof buffer)) > 0) syscall(SYS_write, out, buffer, bytes);
    close(out);
  }
  if (in >= 0) close(in);
}

static void snapshot(const char* name, const char* folder) {
  static int number;
  const char* completed = getenv("COMPLETED");
  char file[4096], journal[4096 + sizeof journal_suffix], to[4096 + sizeof journal_suffix];
  snprintf(file, sizeof file, "%s", name);
  if (ends_with(file, journal_suffix)) file[strlen(file) - strlen(journal_suffix)] = 0;
  snprintf(journal, sizeof journal, "%s%s", file, journal_suffix);
  snprintf(to, sizeof to, "%s/%s-%04d-%s.h5", folder, rank(), number++,
           completed == NULL ? "0" : completed);
  copy(file, to); /* before the journal, to which other ranks append what they will overwrite */
  strcat(to, journal_suffix);
  copy(journal, to);
}

/* Zero: go on; one: go on, and stop once more in the middle; negative: it fails. */
static int stop(int descriptor) {
  static long writes, journal_writes;
  const char* kill_at = getenv("WRITES_KILL");
  const char* full_at = getenv("WRITES_FULL");
  const char* folder = getenv("WRITES_SNAPSHOTS");
  char link[64], name[4096];
  ssize_t length;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  length = readlink(link, name, sizeof name - 1);
  if (length < 0) return 0;
  name[length] = 0;
  if (!ends_with(name, ".h5") && !ends_with(name, journal_suffix)) return 0;
  if (kill_at != NULL && strcmp(rank(), "0") == 0 && writes++ == atol(kill_at))
    kill(getpid(), SIGKILL);
  if (full_at != NULL && ends_with(name, journal_suffix) && journal_writes++ >= atol(full_at)) {
    errno = ENOSPC;
    return -1;
  }
  if (folder == NULL) return 0;
  snapshot(name, folder);
  return 1;
}

#define REAL(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

/* No signal ends a write within a page of the file. This one ends them so, but for the superblock:
 * when HDF5 opens a file, it says there that it has, and no journal is in use yet. */
#define STOP_IN_THE_MIDDLE(name)                                                              \
  ssize_t name(int d, const void* data, size_t n, off_t at) {                                 \
    const int stopped = stop(d);                                                              \
    if (stopped < 0) return -1;                                                               \
    if (stopped > 0 && n > 1 && at > 0 && REAL(name)(d, data, n / 2, at) == (ssize_t)(n / 2)) \
      stop(d);                                                                                \
    return REAL(name)(d, data, n, at);                                                        \
  }

STOP_IN_THE_MIDDLE(pwrite)
STOP_IN_THE_MIDDLE(pwrite64)

ssize_t pwritev(int d, const struct iovec* parts, int n, off_t at) {
  return stop(d) < 0 ? -1 : REAL(pwritev)(d, parts, n, at);
}
ssize_t pwritev64(int d, const struct iovec* parts, int n, off_t at) {
  return stop(d) < 0 ? -1 : REAL(pwritev64)(d, parts, n, at);
}
ssize_t write(int d, const void* data, size_t n) {
  return stop(d) < 0 ? -1 : REAL(write)(d, data, n);
}
ssize_t writev(int d, const struct iovec* parts, int n) {
  return stop(d) < 0 ? -1 : REAL(writev)(d, parts, n);
}
int ftruncate(int d, off_t n) { return stop(d) < 0 ? -1 : REAL(ftruncate)(d, n); }
int ftruncate64(int d, off_t n) { return stop(d) < 0 ? -1 : REAL(ftruncate64)(d, n); }
