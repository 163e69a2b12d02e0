/* What the scenarios of log_calls.c and log_lives.c share. */
#ifndef LOG_SCENARIO_H
#define LOG_SCENARIO_H

#include <stdio.h>
#include <string.h>

#include <hdf5.h>

static int argument_count;
static char** arguments;

static int asked(const char* word) {
  int i;
  for (i = 2; i < argument_count; ++i) {
    if (strcmp(arguments[i], word) == 0) return 1;
  }
  return 0;
}

/* Lines of several ranks go out whole; MPICH would have each piece of one written by itself. */
static void begin(int argc, char** argv) {
  static char lines[BUFSIZ];
  argument_count = argc;
  arguments = argv;
  if (asked("parallel")) MPI_Init(&argc, &argv);
  setvbuf(stdout, lines, _IOLBF, sizeof lines);
}

static void say(const char* what, long long outcome) { printf("%s %lld\n", what, outcome); }

static hid_t access_list(void) {
  hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  if (asked("parallel")) H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL);
  return list;
}

#endif
