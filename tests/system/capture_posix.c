/* capture_posix FOLDER SEED: random calls of the C library on two files, of which it prints what it
 * asked for: CALL FILE FIRST BYTES. It knows nothing of capture. A stream in memory is no file.
 * With KILLED in its environment it waits a moment before the last call, and then ends by SIGKILL.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static unsigned long long state;

static long random_below(long n) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return n <= 0 ? 0 : (long)((state >> 33) % (unsigned)n);
}

static void say(const char* call, const char* file, long first, long bytes) {
  printf("%s %s %ld %ld\n", call, file, first, bytes);
}

int main(int argc, char** argv) {
  static char data[4096];
  char* text = NULL;
  size_t length = 0;
  char path[512], path_of_stream[512];
  int i;
  if (argc < 3) return 2;
  memset(data, 'x', sizeof data);
  state = strtoull(argv[2], NULL, 10);
  snprintf(path, sizeof path, "%s/fd", argv[1]);
  snprintf(path_of_stream, sizeof path_of_stream, "%s/stream", argv[1]);
  const int file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0666);
  int copy = dup(file);
  FILE* stream = fopen(path_of_stream, "w+");
  if (file < 0 || copy < 0 || !stream || ftruncate(file, 20000)) return 1;
  FILE* in_memory = open_memstream(&text, &length);
  errno = 0;
  if (!in_memory || fwrite(data, 1, 10, in_memory) != 10 || errno || fclose(in_memory)) return 1;
  free(text);
  enum { least = 200 }; /* bytes of the stream, so that all can be read that are asked for */
  say("fwrite", "stream", 0, (long)fwrite(data, 1, least, stream));
  long at = 0, at_of_stream = least;
  for (i = 0; i < 40; ++i) {
    const long bytes = 1 + random_below(100), place = random_below(9000);
    struct iovec pieces[2] = {{data + 200, (size_t)bytes}, {data + 50, 7}};
    if (i == 39 && getenv("KILLED")) usleep(150000);
    switch (random_below(10)) {
      case 0:
        say("pwrite", "fd", place, pwrite(file, data, (size_t)bytes, place));
        break;
      case 1:
        say("write", "fd", at, write(copy, data, (size_t)bytes));
        at += bytes;
        break;
      case 2:
        at = lseek(file, place, SEEK_SET);
        break;
      case 3:
        say("pread", "fd", place, pread(file, data, (size_t)bytes, place));
        break;
      case 4:
        say("read", "fd", at, read(file, data, (size_t)bytes));
        at += bytes;
        break;
      case 5:
        say("writev", "fd", at, writev(file, pieces, 2));
        at += bytes + 7;
        break;
      case 6:
        say("pwritev", "fd", place, pwritev(copy, pieces, 2, place));
        break;
      case 7:
        say("fwrite", "stream", at_of_stream, (long)fwrite(data, 1, (size_t)bytes, stream));
        at_of_stream += bytes;
        break;
      case 8:
        if (fseek(stream, bytes, SEEK_SET)) return 1;
        say("fread", "stream", bytes, (long)fread(data, 1, (size_t)bytes, stream));
        if (fseek(stream, at_of_stream, SEEK_SET)) return 1;
        break;
      default:
        at_of_stream = place;
        if (fseek(stream, place, SEEK_SET)) return 1;
    }
  }
  if (getenv("KILLED")) fflush(stdout), raise(SIGKILL);
  at_of_stream += fprintf(stream, "%d is not captured, and what follows lies behind it", i);
  say("fwrite", "stream", at_of_stream, (long)fwrite(data, 1, least, stream));
  if (fflush(stream) || fsync(file)) return 1;
  fprintf(stream, "%d cannot be captured", i);
  close(copy);
  close(file);
  return fclose(stream) == 0 ? 0 : 1;
}
