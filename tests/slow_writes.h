/* A library whose pwrite() stands before that of the C library, linked or preloaded: it delays,
 * shortens and refuses writes. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* What happens to writes of all threads but the main one. */
struct slow_writes {
  int held;         /* they wait */
  int in_pieces;    /* each is interrupted, and moves little then */
  int error;        /* they fail with this value of errno */
  int milliseconds; /* they take so much longer */
  void (*look)(void);
};
extern struct slow_writes slow_writes;

#ifdef __cplusplus
}
#endif
