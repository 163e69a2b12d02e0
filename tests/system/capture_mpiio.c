/* capture_mpiio FILE SEED [OPERATIONS]: random calls of MPI-IO, of which each rank prints what it
 * asked for, byte by byte, as it knows from how it made its types,
 * into FILE.asked.RANK:
 *
 *   CALL FILE_BYTES / MEMORY_BYTES
 *
 * in runs FIRST-LAST. It knows nothing of capture.
 * With KILLED in its environment it waits a moment before the last call, and then ends by SIGKILL.
 *
 * capture_mpiio FILE refused|refused-empty: calls with arguments that are wrong, or seldom, of
 * which it prints the class of the error that MPI returns. The latter with an etype without
 * elements, too.
 *
 * capture_mpiio FILE sessions: writes without MPI_Init, by a session of MPI. Status 77 where MPI
 * has none, or not for files.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#if MPI_VERSION >= 4
#define MPI_File_write_at MPI_File_write_at_c /* the same call, of a larger count */
/* MPI-IO of MPICH 4.0 ends a program that has such types. */
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION >= 50000000
#define MPI_Type_create_resized MPI_Type_create_resized_c
#endif
#endif
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_SESSIONS
#endif

enum { most_runs = 4096, buffer_bytes = 1 << 16 };

static unsigned long long state;

static int random_below(int n) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return n <= 0 ? 0 : (int)((state >> 33) % (unsigned)n);
}

/* A type, and where its bytes are. */
struct type {
  MPI_Datatype type;
  int count; /* of bytes */
  int bytes[most_runs];
  int extent;
};

/* One of integers at random places, which ascend; `whole`: none is twice. */
static void make_type(struct type* made) {
  int blocks[16], places[16], count = 1 + random_below(4), at = random_below(3), i, j;
  made->count = 0;
  for (i = 0; i < count; ++i) {
    blocks[i] = 1 + random_below(3);
    places[i] = at;
    at += blocks[i] + random_below(3);
    for (j = 0; j < 4 * blocks[i]; ++j) made->bytes[made->count++] = 4 * places[i] + j;
  }
  MPI_Datatype indexed;
  made->extent = 4 * (at + random_below(3));
  if (random_below(3) == 0) { /* one part of a line of `at` */
    const int start = random_below(at), part = 1 + random_below(at - start);
    made->count = 0;
    made->extent = 4 * at;
    for (j = 0; j < 4 * part; ++j) made->bytes[made->count++] = 4 * start + j;
    MPI_Type_create_subarray(1, &at, &part, &start, MPI_ORDER_C, MPI_INT, &made->type);
  } else {
    MPI_Type_indexed(count, blocks, places, MPI_INT, &indexed);
    MPI_Type_create_resized(indexed, 0, made->extent, &made->type);
    MPI_Type_free(&indexed);
  }
  MPI_Type_commit(&made->type);
}

/* Byte number `n` of many of them in a row. */
static long byte_of(const struct type* type, long n) {
  return n / type->count * type->extent + type->bytes[n % type->count];
}

static void print_bytes(const struct type* type, long first, long count, long displacement) {
  long i, begin = 0;
  for (i = 0; i < count; ++i) {
    const long at = displacement + byte_of(type, first + i);
    if (i == 0 || displacement + byte_of(type, first + i - 1) + 1 != at) begin = at;
    if (i + 1 == count || displacement + byte_of(type, first + i + 1) != at + 1) {
      printf(" %ld-%ld", begin, at);
    }
  }
}

static void say(const char* call, int error) {
  int class;
  MPI_Error_class(error, &class);
  printf("%s %d\n", call, class);
}

static void make_refused_calls(const char* path, int with_empty_etype) {
  int data[64] = {0};
  MPI_Datatype column, empty;
  MPI_File file;
  MPI_Request request;
  MPI_Status* const none = MPI_STATUS_IGNORE;
  MPI_Type_vector(4, 1, 3, MPI_INT, &column);
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&column);
  MPI_Type_commit(&empty);
  say("two ways of opening",
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  say("no type", MPI_File_write_at(file, 0, data, 1, MPI_DATATYPE_NULL, none));
  say("no type, posted", MPI_File_iwrite_at(file, 0, data, 1, MPI_DATATYPE_NULL, &request));
  say("no type, ordered", MPI_File_write_ordered(file, data, 1, MPI_DATATYPE_NULL, none));
  say("negative count", MPI_File_write_at(file, 0, data, -1, column, none));
  say("negative offset", MPI_File_write_at(file, -5, data, 1, MPI_INT, none));
  say("view of no type",
      MPI_File_set_view(file, 0, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL));
  say("view", MPI_File_set_view(file, 0, MPI_INT, column, "native", MPI_INFO_NULL));
  say("negative offset in a view", MPI_File_write_at(file, -5, data, 2, MPI_INT, none));
  say("far negative offset in a view", MPI_File_write_at(file, -500000, data, 2, MPI_INT, none));
  say("negative seek", MPI_File_seek(file, -100, MPI_SEEK_SET));
  say("nothing", MPI_File_write_at(file, 0, data, 3, empty, none));
  if (with_empty_etype) {
    say("empty view", MPI_File_set_view(file, 0, empty, empty, "native", MPI_INFO_NULL));
    say("nothing in an empty view", MPI_File_write_at(file, 0, data, 3, empty, none));
    say("view again", MPI_File_set_view(file, 0, MPI_INT, column, "native", MPI_INFO_NULL));
  }
  say("posted", MPI_File_iwrite_at(file, 1, data, 3, MPI_INT, &request));
  MPI_Wait(&request, none);
#ifndef MPI_ABI_VERSION /* MPICH 5.0.2's library of the standard ABI ends the program there */
  say("no file", MPI_File_write_at(MPI_FILE_NULL, 0, data, 3, MPI_INT, none));
#endif
  MPI_File_close(&file);
  MPI_Type_free(&column);
  MPI_Type_free(&empty);
}

/* Each rank writes eight numbers, to the end of those of the rank before. */
static int write_by_session(const char* path) {
  enum { has_none = 77 };
#ifdef HAS_SESSIONS
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_File file;
  int rank, numbers[8] = {0};
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "capture", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_rank(comm, &rank);
  const int error =
      MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  if (error == MPI_SUCCESS) {
    MPI_File_write_at_all(file, rank * (int)sizeof numbers, numbers, 8, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_ordered(file, numbers, 0, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  }
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return error == MPI_SUCCESS ? 0 : has_none;
#else
  (void)path;
  return has_none;
#endif
}

int main(int argc, char** argv) {
  if (strcmp(argv[2], "sessions") == 0) return write_by_session(argv[1]);
  MPI_Init(&argc, &argv);
  if (strncmp(argv[2], "refused", 7) == 0) {
    make_refused_calls(argv[1], strcmp(argv[2], "refused-empty") == 0);
    MPI_Finalize();
    return 0;
  }
  int rank, ranks, i;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const unsigned long long seed = strtoull(argv[2], NULL, 10) * 999 + 7;
  const int operations = argc > 3 ? atoi(argv[3]) : 30;
  char* buffer = malloc(buffer_bytes);
  char asked[512];
  snprintf(asked, sizeof asked, "%s.asked.%d", argv[1], rank);
  if (!freopen(asked, "w", stdout)) return 1;
  memset(buffer, 'a' + rank, buffer_bytes);
  static struct type view, memory;
  MPI_File file;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  MPI_Info_free(&info);
  MPI_File_set_size(file, 1 << 20);
  long displacement = 0, position = 0; /* in bytes of the view */
  state = seed + 31337u * (unsigned)rank;
  make_type(&view);
  displacement = rank * 65536;
  MPI_File_set_view(file, displacement, MPI_INT, view.type, "native", MPI_INFO_NULL);
  for (i = 0; i < operations; ++i) {
    if (i == operations - 1 && getenv("KILLED")) usleep(150000);
    state = seed + (unsigned)i; /* all ranks make the same call */
    const int what = random_below(11);
    state = seed + 1000u * (unsigned)(rank + 1) + (unsigned)i;
    if (what == 10) {
      MPI_Type_free(&view.type);
      make_type(&view);
      displacement = rank * 65536 + 4 * random_below(20);
      position = 0;
      MPI_File_set_view(file, displacement, MPI_INT, view.type, "native", MPI_INFO_NULL);
      continue;
    }
    make_type(&memory);
    int count = random_below(4);
#ifdef I_MPI_NUMVERSION
    count += count == 0; /* nothing would keep a lock: mpi_faults/nothing_locks.c */
#endif
    const long bytes = (long)count * memory.count;
    const long place = random_below(50); /* in integers of the view */
    const char* name = "";
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (what) {
#define AT(number, call, ...)                                   \
  case number:                                                  \
    name = #call;                                               \
    call(file, place, buffer, count, memory.type, __VA_ARGS__); \
    break;
      AT(0, MPI_File_write_at, &status)
      AT(1, MPI_File_write_at_all, &status)
      AT(2, MPI_File_read_at, &status)
      AT(3, MPI_File_iwrite_at, &request)
      AT(4, MPI_File_iread_at, &request)
      case 5:
        name = "MPI_File_write_at_all_begin";
        MPI_File_write_at_all_begin(file, place, buffer, count, memory.type);
        MPI_File_write_at_all_end(file, buffer, &status);
        break;
      case 6:
        name = "MPI_File_write";
        MPI_File_write(file, buffer, count, memory.type, &status);
        break;
      case 7:
        name = "MPI_File_write_all";
        MPI_File_write_all(file, buffer, count, memory.type, &status);
        break;
      case 8:
        name = "MPI_File_iwrite";
        MPI_File_iwrite(file, buffer, count, memory.type, &request);
        break;
      default:
        MPI_File_seek(file, place, MPI_SEEK_SET);
        position = 4 * place;
        name = "MPI_File_read_all";
        MPI_File_read_all(file, buffer, count, memory.type, &status);
    }
    const int is_posted = what == 3 || what == 4 || what == 8;
    const int end = is_posted ? random_below(3) : 0;
    if (is_posted && end == 0) {
      MPI_Wait(&request, &status);
    } else if (is_posted && (end == 1 || what == 4)) {
      MPI_Waitall(1, &request, &status);
    } else if (is_posted) { /* ended first: OMPIO 4.1.4 writes on into what it has freed */
      for (int is_done = 0; !is_done;) MPI_Request_get_status(request, &is_done, &status);
      MPI_Request_free(&request);
    }
    const int is_by_pointer = what >= 6;
    printf("%s", name);
    print_bytes(&view, is_by_pointer ? position : 4 * place, bytes, displacement);
    printf(" /");
    print_bytes(&memory, 0, bytes, 0);
    printf("\n");
    if (is_by_pointer) position += bytes;
    MPI_Type_free(&memory.type);
  }
  if (getenv("KILLED")) {
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    raise(SIGKILL);
  }
  /* What the ranks share a pointer of: lengths alone are known, and that none overlap. */
  MPI_File_set_view(file, 1 << 19, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  for (i = 0; i < 4; ++i) {
    MPI_Status status;
    MPI_File_write_shared(file, buffer, 10 + rank, MPI_CHAR, &status);
    MPI_File_write_ordered(file, buffer, 5 + rank, MPI_CHAR, &status);
  }
  MPI_File_sync(file);
  MPI_Type_free(&view.type);
  MPI_File_close(&file);
  if (rank == 0) MPI_File_delete(strcat(asked, ".not there"), MPI_INFO_NULL);
  free(buffer);
  MPI_Finalize();
  return 0;
}
