/* What becomes of files, ids and requests in unusual lives: each rank prints what the calls return
 * and what the files hold, the same with any library.
 *
 *     pnetcdf_lives <folder>             all but:
 *     pnetcdf_lives <folder> threads     two threads, each with a file of its own, and many files
 *     pnetcdf_lives <folder> spawn       ranks have a file together with one that they start
 *
 * Lives of requests are in pnetcdf_lives_requests.c, those beside others in pnetcdf_lives_beside.c.
 */
#include "pnetcdf_lives.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

int rank, ranks;
const char* folder;
const char* life;

/* The program goes elsewhere, where another file has the same name. */
static void moves_on(void) {
  int ids[3];
  char before[4096];
  if (!getcwd(before, sizeof before) || chdir(folder)) abort();
  const int file = create("moves.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  if (rank == 0) {
    if (access("elsewhere", F_OK)) must(system("mkdir elsewhere"), "mkdir");
    put_text("elsewhere/moves.nc", "another one");
  }
  together();
  if (chdir("elsewhere")) abort();
  put(file, ids[0], numbers(1));
  tell_wait_and_close(file);
  say("the other one is left alone: %d", has_text("moves.nc", "another one"));
  if (chdir(before)) abort();
  tell(0, at("moves.nc"), ids[0]);
}

/* A link is turned to another file, and later a file is put in the place of the one that is open.
 */
static void changes_names(void) {
  int ids[3];
  if (rank == 0) {
    put_text(at("other.nc"), "another one");
    put_text(at("linked.nc"), ""); /* PnetCDF 1.15.0 dies of a link to nothing */
    unlink(at("link.nc"));
    if (symlink("linked.nc", at("link.nc"))) abort();
  }
  together();
  int file = create(at("link.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  together();
  if (rank == 0 && (unlink(at("link.nc")) || symlink("other.nc", at("link.nc")))) abort();
  together();
  put(file, ids[0], numbers(2));
  tell_wait_and_close(file);
  say("the other one is left alone: %d", has_text(at("other.nc"), "another one"));
  tell(0, at("linked.nc"), ids[0]);
  file = create(at("renamed.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  together();
  if (rank == 0) {
    if (rename(at("renamed.nc"), at("kept.nc"))) abort();
    put_text(at("renamed.nc"), "another one");
  }
  together();
  put(file, ids[0], numbers(3));
  tell_wait_and_close(file);
  say("the other one is left alone: %d", has_text(at("renamed.nc"), "another one"));
  tell(0, at("kept.nc"), ids[0]);
}

static void is_deleted(void) {
  int ids[3];
  const int file = create(at("deleted.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  together();
  if (rank == 0) unlink(at("deleted.nc"));
  together();
  put(file, ids[0], numbers(4));
  tell_wait(file);
  tell(file, NULL, ids[0]);
  say("close %d", ncmpi_close(file));
  say("is there %d", !access(at("deleted.nc"), F_OK));
}

static void exists_already(void) {
  int ids[3], file = -1;
  const char* const path = at("exists.nc");
  must(ncmpi_close(create(path, MPI_COMM_WORLD, MPI_INFO_NULL, ids)), "close");
  say("create %d", ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, MPI_INFO_NULL, &file));
  say("open %d", ncmpi_open(MPI_COMM_WORLD, at("nowhere.nc"), NC_WRITE, MPI_INFO_NULL, &file));
  must(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file), "open");
  const MPI_Offset start = rank, count = 1;
  int request = -77;
  say("iput %d", ncmpi_iput_vara_int(file, ids[0], &start, &count, numbers(5), &request));
  tell_wait_and_close(file);
  tell_wait_and_close(file);
}

/* The program frees what it opened the file with. */
static void outlives_what_it_was_made_with(void) {
  int ids[3];
  MPI_Comm comm;
  MPI_Info info;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Info_create(&info);
  MPI_Info_set(info, "nc_var_align_size", "1");
  const int file = create(at("outlives.nc"), comm, info, ids);
  MPI_Comm_free(&comm);
  MPI_Info_free(&info);
  put(file, ids[0], numbers(6));
  tell_wait_and_close(file);
  tell(0, at("outlives.nc"), ids[0]);
}

static void two_at_once(void) {
  int ids[2][3], file[2];
  for (int i = 0; i < 2; ++i) {
    file[i] = create(at(i ? "two.nc" : "one.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids[i]);
  }
  for (int v = 0; v < 3; v += 2) {
    for (int i = 0; i < 2; ++i) put(file[i], ids[i][v], numbers(1000 * i + v));
  }
  tell_pending(file[0]);
  for (int i = 2; i-- > 0;) tell_wait(file[i]);
  for (int i = 0; i < 2; ++i) {
    tell(file[i], NULL, ids[i][2]);
    say("close %d", ncmpi_close(file[i]));
  }
}

/* What is put through one handle stays where another one writes around it. */
static void is_open_twice(void) {
  int ids[3], other;
  const int file = create(at("twice.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  must(ncmpi_sync(file), "sync");
  must(ncmpi_open(MPI_COMM_WORLD, at("twice.nc"), NC_WRITE, MPI_INFO_NULL, &other), "open");
  put(other, ids[0], numbers(7));
  tell_wait_and_close(other);
  const MPI_Offset start = 2 * rank, count = 1;
  must(ncmpi_iput_vara_int(file, ids[0], &start, &count, &rank, NULL), "iput");
  tell_wait(file);
  tell(file, NULL, ids[0]);
  say("close %d", ncmpi_close(file));
}

/* Requests are pending while variables are added; a wait in define mode is an error. */
static void defines_more(void) {
  int ids[3], added, x;
  const int file = create(at("more.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  int request = put(file, ids[0], numbers(8));
  put(file, ids[2], numbers(9));
  must(ncmpi_redef(file), "redef");
  must(ncmpi_inq_dimid(file, "x", &x), "inq_dimid");
  must(ncmpi_def_var(file, "added", NC_DOUBLE, 1, &x, &added), "def_var");
  static const char text[5000]; /* so that the header grows beyond the page before the data */
  must(ncmpi_put_att_text(file, NC_GLOBAL, "longer", sizeof text, text), "put_att");
  tell_requests("wait while defining", ncmpi_wait_all, file, 1, &request);
  must(ncmpi_enddef(file), "enddef");
  tell_pending(file);
  put(file, added, numbers(10));
  tell_wait(file);
  tell(file, NULL, ids[0]);
  tell(file, NULL, ids[2]);
  tell(file, NULL, added);
  say("close %d", ncmpi_close(file));
}

static void is_given_up(void) {
  int ids[3];
  int file = create(at("left.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  put(file, ids[0], numbers(11));
  say("close with a pending request %d", ncmpi_close(file));
  file = create(at("aborted.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  put(file, ids[0], numbers(12));
  say("abort with a pending request %d", ncmpi_abort(file));
  together();
  say("is there %d", !access(at("aborted.nc"), F_OK));
  must(ncmpi_create(MPI_COMM_WORLD, at("undefined.nc"), NC_CLOBBER, MPI_INFO_NULL, &file),
       "create");
  ncmpi_abort(file); /* 1.12.3 has all ranks delete it, so for all but one it fails */
  together();
  say("is there %d", !access(at("undefined.nc"), F_OK));
}

/* One rank asks for what there is not, or puts what does not fit. */
static void errs_on_one_rank(void) {
  int ids[1], requests[2], file, x, small;
  must(ncmpi_create(MPI_COMM_WORLD, at("errs.nc"), NC_CLOBBER, MPI_INFO_NULL, &file), "create");
  must(ncmpi_def_dim(file, "x", (MPI_Offset)length * ranks, &x), "def_dim");
  must(ncmpi_def_var(file, "v", NC_INT, 1, &x, &ids[0]), "def_var");
  must(ncmpi_def_var(file, "small", NC_SHORT, 1, &x, &small), "def_var");
  must(ncmpi_enddef(file), "enddef");
  for (int turn = 0; turn < 3; ++turn) {
    const int errs = rank == ranks - 1 && turn > 0;
    MPI_Offset start = (MPI_Offset)rank * length, count = length;
    int values[length];
    for (int i = 0; i < length; ++i) values[i] = 10 * turn + rank;
    if (errs && turn == 2) values[length / 2] = 70000;
    requests[0] = put(file, ids[0], numbers(13 + turn));
    requests[1] = NC_REQ_NULL;
    if (errs && turn == 1) start += length;
    const int error = ncmpi_iput_vara_int(file, small, &start, &count, values, &requests[1]);
    say("iput %d, a request %d", error, requests[1] != NC_REQ_NULL);
    tell_pending(file);
    tell_requests("wait", ncmpi_wait_all, file, 2, requests);
    tell(file, NULL, ids[0]);
  }
  say("close %d", ncmpi_close(file));
}

/* Only the last rank has records, then none has anything, then all fill. */
static void grows_and_fills(void) {
  int ids[3], file = create(at("grows.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  const MPI_Offset start[2] = {2, 0}, count[2] = {1, length}, none[2] = {1, 0};
  if (rank == ranks - 1) {
    must(ncmpi_iput_vara_int(file, ids[1], start, count, numbers(20), NULL), "iput");
  }
  tell_wait(file);
  tell_records(file);
  int request = -77, varn = -77;
  const int one = ncmpi_iput_vara_int(file, ids[1], start, none, numbers(21), &request);
  say("of nothing %d, a request %d", one, request != NC_REQ_NULL);
  const int other = ncmpi_iput_varn_int(file, ids[1], 0, NULL, NULL, numbers(22), &varn);
  say("of no boxes %d, a request %d", other, varn != NC_REQ_NULL);
  tell_pending(file);
  tell_requests("wait", ncmpi_wait_all, file, 2, (int[]){request, varn});
  say("wait for nothing %d", ncmpi_wait_all(file, 0, NULL, NULL));
  tell_requests("wait for what is not pending", ncmpi_wait_all, file, 1, (int[]){4711});
  must(ncmpi_redef(file), "redef");
  int filled, with_value, x, old = -1;
  const int sevens = 7;
  must(ncmpi_inq_dimid(file, "x", &x), "inq_dimid");
  say("set_fill %d", ncmpi_set_fill(file, NC_FILL, &old));
  must(ncmpi_def_var(file, "filled", NC_INT, 1, &x, &filled), "def_var");
  must(ncmpi_def_var(file, "with_value", NC_INT, 1, &x, &with_value), "def_var");
  must(ncmpi_def_var_fill(file, with_value, 0, &sevens), "def_var_fill");
  say("set_fill back %d", ncmpi_set_fill(file, NC_NOFILL, &old));
  say("it was %d", old);
  must(ncmpi_def_var_fill(file, filled, 0, NULL), "def_var_fill");
  must(ncmpi_def_var_fill(file, with_value, 0, &sevens), "def_var_fill");
  must(ncmpi_enddef(file), "enddef");
  const MPI_Offset begin = 3 * rank, three = 2;
  must(ncmpi_iput_vara_int(file, filled, &begin, &three, numbers(23), NULL), "iput");
  must(ncmpi_iput_vara_int(file, with_value, &begin, &three, numbers(24), NULL), "iput");
  tell_wait(file);
  tell(file, NULL, filled);
  tell(file, NULL, with_value);
  say("close %d", ncmpi_close(file));
  must(ncmpi_open(MPI_COMM_WORLD, at("grows.nc"), NC_NOWRITE, MPI_INFO_NULL, &file), "open");
  tell_records(file);
  must(ncmpi_close(file), "close");
}

/* Posted in one mode, waited for in another. */
static void changes_modes(void) {
  int ids[2], file, x;
  must(ncmpi_create(MPI_COMM_WORLD, at("modes.nc"), NC_CLOBBER, MPI_INFO_NULL, &file), "create");
  must(ncmpi_def_dim(file, "x", (MPI_Offset)length * ranks, &x), "def_dim");
  must(ncmpi_def_var(file, "v", NC_INT, 1, &x, &ids[0]), "def_var");
  must(ncmpi_def_var(file, "w", NC_INT, 1, &x, &ids[1]), "def_var");
  must(ncmpi_enddef(file), "enddef");
  int request = put(file, ids[0], numbers(30));
  tell_requests("wait in collective mode", ncmpi_wait, file, 1, &request);
  tell_requests("cancel", ncmpi_cancel, file, 1, &request);
  request = put(file, ids[0], numbers(31));
  must(ncmpi_begin_indep_data(file), "begin_indep_data");
  int other = put(file, ids[1], numbers(32));
  tell_pending(file);
  tell_requests("wait", ncmpi_wait, file, 1, &request);
  must(ncmpi_end_indep_data(file), "end_indep_data");
  tell_requests("wait_all", ncmpi_wait_all, file, 1, &other);
  together();
  tell(file, NULL, ids[0]);
  tell(file, NULL, ids[1]);
  request = put(file, ids[0], numbers(33));
  const int before = request;
  tell_requests("cancel", ncmpi_cancel, file, 1, &request);
  request = before;
  tell_requests("wait for what was cancelled", ncmpi_wait_all, file, 1, &request);
  tell(file, NULL, ids[0]);
  say("close %d", ncmpi_close(file));
}

static void is_never_closed(void) {
  int ids[3];
  const int file = create(at("open.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  put(file, ids[0], numbers(40));
  tell_wait(file);
  put(file, ids[2], numbers(41));
}

/* Of two records in one wait the last does not fit: there are as many as were asked for, and the
 * first holds what was put. Which ranks hear of it is open. */
static void outgrows_its_limit(void) {
  int ids[3], back[length], file = create(at("limit.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  struct rlimit before, now;
  getrlimit(RLIMIT_FSIZE, &before);
  now = before;
  now.rlim_cur = 100000;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &now);
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Offset start[2] = {turn, rank}, count[2] = {1, length}, stride[2] = {1, ranks};
    must(ncmpi_iput_vars_int(file, ids[1], start, count, stride, numbers(50 + turn), NULL), "iput");
    start[0] = 20000;
    if (turn == 1)
      must(ncmpi_iput_vars_int(file, ids[1], start, count, stride, numbers(52), NULL), "iput");
    int error = wait_for_all(file);
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    say("wait fails %d", error != NC_NOERR);
    tell_records(file);
  }
  ncmpi_close(file); /* PnetCDF may say so again */
  setrlimit(RLIMIT_FSIZE, &before);
  must(ncmpi_open(MPI_COMM_WORLD, at("limit.nc"), NC_NOWRITE, MPI_INFO_NULL, &file), "open");
  tell_records(file);
  for (int turn = 0; turn < 2; ++turn) {
    const MPI_Offset start[2] = {turn, rank}, count[2] = {1, length}, stride[2] = {1, ranks};
    must(ncmpi_get_vars_int_all(file, ids[1], start, count, stride, back), "get");
    say("record %d holds %08x", turn, digest(back, length));
  }
  say("close %d", ncmpi_close(file));
}

/* Many files are open at once, of communicators that go and stay, and other ones have their names
 * and ids later. */
static void has_many(void) {
  enum { many = 8 };
  int ids[many][3], files[many];
  char name[32];
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < many; ++i) {
      MPI_Comm comm;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      if (i % 2) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      snprintf(name, sizeof name, "many%d.nc", i);
      files[i] = create(at(name), comm, MPI_INFO_NULL, ids[i]);
      put(files[i], ids[i][0], numbers(60 + 10 * turn + i));
      if (i % 3) MPI_Comm_free(&comm);
    }
    for (int i = many; i-- > 0;) tell_wait(files[i]);
    for (int i = 0; i < many; i += 2) say("close %d", ncmpi_close(files[i]));
    for (int i = 1; i < many; i += 2) {
      put(files[i], ids[i][2], numbers(80 + i));
      if (turn == 0 || i % 4 == 1)
        tell_wait_and_close(files[i]);
      else
        say("abort %d", ncmpi_abort(files[i]));
    }
    for (int i = 0; i < many; i += 3) {
      snprintf(name, sizeof name, "many%d.nc", i);
      tell(0, at(name), ids[i][0]);
    }
  }
}

/* A file of each rank alone, in which they do not do the same. */
static void is_of_one_rank(void) {
  int ids[3], file, back[length];
  char name[32];
  snprintf(name, sizeof name, "alone%d.nc", rank);
  file = create(at(name), MPI_COMM_SELF, MPI_INFO_NULL, ids);
  const MPI_Offset count[2] = {1, length}, stride[2] = {1, ranks};
  for (int record = 0; record <= rank; ++record) {
    const MPI_Offset start[2] = {record, rank};
    must(ncmpi_iput_vars_int(file, ids[1], start, count, stride, numbers(90 + record), NULL),
         "iput");
    tell_wait(file);
    tell_records(file);
  }
  const MPI_Offset start[2] = {rank, rank};
  must(ncmpi_get_vars_int_all(file, ids[1], start, count, stride, back), "get");
  say("the last record holds %08x, close %d", digest(back, length), ncmpi_close(file));
}

static void waits_for_anothers(void) {
  int ids[2][3], files[2];
  for (int i = 0; i < 2; ++i)
    files[i] = create(at(i ? "his.nc" : "hers.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids[i]);
  int request = put(files[0], ids[0][0], numbers(95));
  int copy = request;
  tell_requests("wait for another file's", ncmpi_wait_all, files[1], 1, &copy);
  tell_requests("wait", ncmpi_wait_all, files[0], 1, &request);
  tell(files[0], NULL, ids[0][0]);
  for (int i = 0; i < 2; ++i) say("close %d", ncmpi_close(files[i]));
}

struct its_file {
  int file, ids[3], wrong;
};

static void* write_records(void* argument) {
  struct its_file* const its = argument;
  for (int turn = 0; turn < 12; ++turn) {
    const MPI_Offset start = rank, count = length, stride = ranks;
    int values[length], back[length] = {0};
    for (int i = 0; i < length; ++i) values[i] = 1000 * its->file + 100 * turn + i + rank;
    its->wrong += ncmpi_iput_vars_int(its->file, its->ids[0], &start, &count, &stride, values,
                                      NULL) != NC_NOERR;
    its->wrong += wait_for_all(its->file) != NC_NOERR;
    its->wrong += ncmpi_iget_vars_int(its->file, its->ids[0], &start, &count, &stride, back,
                                      NULL) != NC_NOERR;
    its->wrong += wait_for_all(its->file) != NC_NOERR;
    its->wrong += memcmp(values, back, sizeof back) != 0;
  }
  return NULL;
}

static void threads(void) {
  struct its_file its[2];
  pthread_t thread;
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < 2; ++i) {
      its[i].wrong = 0;
      its[i].file = create(at(i ? "b.nc" : "a.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, its[i].ids);
    }
    pthread_create(&thread, NULL, write_records, &its[0]);
    write_records(&its[1]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; ++i) {
      say("wrong %d", its[i].wrong);
      say("close %d", ncmpi_close(its[i].file));
    }
  }
}

/* More files are open at once than there are groups whose memory is kept. */
static void many_at_once(void) {
  enum { many = 20 };
  int ids[many][3], files[many], back[length], wrong = 0;
  char name[32];
  for (int i = 0; i < many; ++i) {
    snprintf(name, sizeof name, "at_once%d.nc", i);
    files[i] = create(at(name), MPI_COMM_WORLD, MPI_INFO_NULL, ids[i]);
  }
  const MPI_Offset start = rank, count = length, stride = ranks;
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < many; ++i) {
      const int* const values = numbers(1000 * turn + i);
      put(files[i], ids[i][2 * turn], values);
      wrong += wait_for_all(files[i]) != NC_NOERR;
      wrong += ncmpi_get_vars_int_all(files[i], ids[i][2 * turn], &start, &count, &stride, back) !=
               NC_NOERR;
      wrong += memcmp(values, back, sizeof back) != 0;
      if (turn) wrong += ncmpi_close(files[i]) != NC_NOERR;
    }
  }
  say("wrong %d", wrong);
}

/* Of the ranks of a file one was started by the others, and ends before they do. */
static void spawn(char* program, MPI_Comm parent) {
  int ids[3], low = 0;
  char* arguments[] = {(char*)folder, "spawn", NULL};
  MPI_Comm others = parent, all;
  setenv("SLABMARK_REPORT", "1", 1); /* which a process that is started may not have */
  if (parent == MPI_COMM_NULL) {
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                   MPI_ERRCODES_IGNORE);
  }
  MPI_Intercomm_merge(others, parent != MPI_COMM_NULL, &all);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &ranks);
  for (int i = 0; i < 2; ++i) {
    const int file = create(at("spawn.nc"), all, MPI_INFO_NULL, ids);
    put(file, ids[0], numbers(5));
    low = wait_for_all(file);
    if (low == NC_NOERR) low = ncmpi_close(file);
  }
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&others);
  if (parent != MPI_COMM_NULL) return;
  while (access(at("spawn.ended"), F_OK)) usleep(10000);
  say("wrote %d, and the one that was started has ended", low);
}

static void live(const struct life* one, const char* only) {
  if (only && strcmp(only, one->name)) return;
  life = one->name;
  one->live();
  together();
  fflush(stdout);
}

int main(int argc, char** argv) {
  static const struct life lives[] = {{"moves on", moves_on},
                                      {"changes names", changes_names},
                                      {"is deleted", is_deleted},
                                      {"exists already", exists_already},
                                      {"outlives", outlives_what_it_was_made_with},
                                      {"two at once", two_at_once},
                                      {"is open twice", is_open_twice},
                                      {"defines more", defines_more},
                                      {"is given up", is_given_up},
                                      {"errs on one rank", errs_on_one_rank},
                                      {"grows and fills", grows_and_fills},
                                      {"changes modes", changes_modes},
                                      {"outgrows its limit", outgrows_its_limit},
                                      {"has many", has_many},
                                      {"is of one rank", is_of_one_rank},
                                      {"waits for another's", waits_for_anothers},
                                      {"is never closed", is_never_closed}};
  int level = 0;
  const int threaded = argc == 3 && !strcmp(argv[2], "threads");
  MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2 || ranks > 16) MPI_Abort(MPI_COMM_WORLD, 2);
  folder = argv[1];
  if (threaded) {
    life = "threads";
    if (level == MPI_THREAD_MULTIPLE) {
      threads();
      many_at_once();
    } else {
      say("MPI does without");
    }
  } else if (argc == 3 && !strcmp(argv[2], "spawn")) {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    life = "spawn";
    spawn(argv[0], parent);
    MPI_Finalize();
    if (parent != MPI_COMM_NULL) put_text(at("spawn.ended"), "");
    return 0;
  } else {
    /* A launcher may cut what ranks print anywhere, and put what another one prints there. */
    char said[4096];
    snprintf(said, sizeof said, "%s.said.%d", folder, rank);
    if (!freopen(said, "w", stdout)) MPI_Abort(MPI_COMM_WORLD, 2);
    const char* const only = argc > 2 ? argv[2] : NULL;
    for (const struct life* one = lives_of_requests; one->name; ++one) live(one, only);
    for (const struct life* one = lives_beside; one->name; ++one) live(one, only);
    for (size_t i = 0; i < sizeof lives / sizeof *lives; ++i) live(&lives[i], only);
  }
  MPI_Finalize();
  return 0;
}
