/* To be preloaded into the ranks of a node: the first of them that comes to the call of MPI that
   SLABMARK_PAUSE_AT names makes the file SLABMARK_PAUSE_FILE, and waits until there is one of the
   same name and ".on". So a test knows what is under way when it lets something fail. */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

static void come_to(const char* call) {
  const char* const wanted = getenv("SLABMARK_PAUSE_AT");
  const char* const file = getenv("SLABMARK_PAUSE_FILE");
  const char* const once = getenv("SLABMARK_PAUSE_ONCE");
  const char* const after = getenv("SLABMARK_PAUSE_AFTER");
  static int is_after = 0;
  char on[4096];
  glob_t found;
  int made;
  if (wanted == NULL || file == NULL) return;
  if (once != NULL && glob(once, 0, NULL, &found) != 0) return;
  if (after != NULL && strcmp(after, call) == 0) is_after = 1;
  if (strcmp(wanted, call) != 0 || (after != NULL && !is_after)) return;
  made = open(file, O_CREAT | O_EXCL | O_WRONLY, 0666);
  if (made < 0) return;
  close(made);
  snprintf(on, sizeof on, "%s.on", file);
  while (access(on, F_OK) != 0) usleep(10000);
}

#define PAUSE(call, parameters, arguments) \
  int call parameters {                    \
    come_to(#call);                        \
    return P##call arguments;              \
  }

PAUSE(MPI_Bcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
      (data, count, type, root, comm))
PAUSE(MPI_Allreduce,
      (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (in, out, count, type, op, comm))
PAUSE(MPI_Isend,
      (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
       MPI_Request* request),
      (data, count, type, to, tag, comm, request))
PAUSE(MPI_File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),
      (comm, name, mode, info, file))
PAUSE(MPI_File_close, (MPI_File * file), (file))
PAUSE(MPI_File_write_at,
      (MPI_File file, MPI_Offset offset, const void* data, int count, MPI_Datatype type,
       MPI_Status* status),
      (file, offset, data, count, type, status))
