/* Preloaded: each sleep is told, in seconds, in the file that SLEEPS names, and not slept. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int nanosleep(const struct timespec* time, struct timespec* left) {
  const char* const path = getenv("SLEEPS");
  FILE* const file = path ? fopen(path, "a") : NULL;
  (void)left;
  if (file) {
    fprintf(file, "%.6f\n", (double)time->tv_sec + 1e-9 * (double)time->tv_nsec);
    fclose(file);
  }
  return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time,
                    struct timespec* left) {
  (void)clock;
  return flags == 0 ? nanosleep(time, left) : 0;
}
