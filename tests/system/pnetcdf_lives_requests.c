/* Lives of requests: what is posted, waited for, cancelled and refused in unusual ways. */
#include <sys/wait.h>

#include "pnetcdf_lives.h"

enum { most = 16 };

/* A file as create() makes it, all of whose elements are 0: what nobody puts is told, too. */
static int create_filled(const char* name, MPI_Comm comm, MPI_Info info, int ids[3]) {
  const int file = create(at(name), comm, info, ids);
  const int zeros[length] = {0};
  int own, all;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &all);
  for (int v = 0; v < 3; ++v) {
    /* Where a part of the ranks has the file there are more elements than they have. */
    for (int part = own; part < ranks; part += all) {
      const MPI_Offset start[2] = {v == 1 ? 0 : (MPI_Offset)part * length,
                                   (MPI_Offset)part * length};
      const MPI_Offset count[2] = {v == 1 ? 1 : length, length};
      must(ncmpi_iput_vara_int(file, ids[v], start, count, zeros, NULL), "iput");
    }
  }
  must(wait_for_all(file), "wait_all");
  return file;
}

/* Elements of this rank side by side. */
static int put_row(int file, int id, int first, const int* values, int count, int* request) {
  const MPI_Offset start = (MPI_Offset)rank * length + first, elements = count;
  return ncmpi_iput_vara_int(file, id, &start, &elements, values, request);
}

static int get_row(int file, int id, int first, int* values, int count, int* request) {
  const MPI_Offset start = (MPI_Offset)rank * length + first, elements = count;
  return ncmpi_iget_vara_int(file, id, &start, &elements, values, request);
}

static void tell_values(const char* what, const int* values, int count) {
  char text[512];
  int at = 0;
  for (int i = 0; i < count; ++i)
    at += snprintf(text + at, sizeof text - (size_t)at, " %d", values[i]);
  say("%s:%s", what, text);
}

/* What became of a list of requests; ids themselves are the library's affair. */
static void tell_list(const char* what, int error, const int* ids, const int* statuses, int count) {
  char text[512] = "";
  int at_text = 0;
  for (int i = 0; i < count; ++i) {
    at_text += snprintf(text + at_text, sizeof text - (size_t)at_text, " %d%s", statuses[i],
                        ids[i] == NC_REQ_NULL ? " gone" : "");
  }
  say("%s %d:%s", what, error, text);
}

static void wait_for(const char* what, wait_function* call, int file, int count, int* ids) {
  int statuses[most];
  for (int i = 0; i < most; ++i) statuses[i] = 5;
  tell_list(what, call(file, count, ids, statuses), ids, statuses, count);
  tell_pending(file);
}

static int bput_row(int file, int id, const int* values, int count, int* request) {
  const MPI_Offset start = (MPI_Offset)rank * length, elements = count;
  return ncmpi_bput_vara_int(file, id, &start, &elements, values, request);
}

static void tell_buffer(int file) {
  MPI_Offset usage = -1, size = -1;
  const int used = ncmpi_inq_buffer_usage(file, &usage), has = ncmpi_inq_buffer_size(file, &size);
  say("buffer %d %lld of %d %lld", used, (long long)usage, has, (long long)size);
}

static void attaches_and_detaches(void) {
  int ids[3], requests[4] = {NC_REQ_NULL, NC_REQ_NULL, NC_REQ_NULL, NC_REQ_NULL};
  const int file = create_filled("buffers.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  say("detach nothing %d", ncmpi_buffer_detach(file));
  say("bput without %d", bput_row(file, ids[0], numbers(50), 4, &requests[0]));
  say("attach nothing %d", ncmpi_buffer_attach(file, 0));
  say("attach less %d", ncmpi_buffer_attach(file, -1));
  say("attach %d", ncmpi_buffer_attach(file, 100));
  say("attach again %d", ncmpi_buffer_attach(file, 100));
  int values[length];
  memcpy(values, numbers(51), sizeof values);
  say("bput %d", bput_row(file, ids[0], values, 10, &requests[0]));
  memset(values, 0, sizeof values); /* it is the program's again */
  tell_buffer(file);
  say("detach too early %d", ncmpi_buffer_detach(file));
  say("bput too much %d", bput_row(file, ids[2], numbers(52), length + 8, &requests[1]));
  say("bput more %d", bput_row(file, ids[2], numbers(53), length, &requests[2]));
  say("iput beside it %d", put_row(file, ids[2], 0, numbers(54), 3, &requests[3]));
  tell_buffer(file);
  wait_for("wait", ncmpi_wait_all, file, 4, requests);
  tell_buffer(file);
  say("bput the size %d", bput_row(file, ids[2], numbers(55), 12, &requests[0]));
  say("bput and more %d", bput_row(file, ids[0], numbers(56), 12, &requests[1]));
  say("bput and more %d", bput_row(file, ids[0], numbers(57), 12, &requests[2]));
  wait_for("cancel", ncmpi_cancel, file, 1, requests);
  tell_buffer(file);
  wait_for("wait", ncmpi_wait_all, file, 3, requests);
  say("detach %d", ncmpi_buffer_detach(file));
  say("detach again %d", ncmpi_buffer_detach(file));
  tell_buffer(file);
  say("attach %d", ncmpi_buffer_attach(file, 40));
  say("bput %d", bput_row(file, ids[0], numbers(58), 2, NULL));
  say("close %d", ncmpi_close(file));
  tell(0, at("buffers.nc"), ids[2]);
}

/* A get is waited for before the put that was posted first, and with it. */
static void gets_what_is_pending(void) {
  int ids[3], put_id, get_id, values[length] = {0};
  const int file = create_filled("pending.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  must(put_row(file, ids[0], 0, numbers(60), length, &put_id), "iput");
  must(get_row(file, ids[0], 0, values, length, &get_id), "iget");
  wait_for("wait for the get", ncmpi_wait_all, file, 1, &get_id);
  tell_values("before", values, length);
  must(get_row(file, ids[0], 2, values, 5, &get_id), "iget");
  wait_for("wait for both", ncmpi_wait_all, file, 2, (int[]){get_id, put_id});
  tell_values("after", values, 5);
  must(get_row(file, ids[2], 0, values, 4, &get_id), "iget");
  must(put_row(file, ids[2], 0, numbers(61), 4, &put_id), "iput");
  say("wait for gets %d", ncmpi_wait_all(file, NC_GET_REQ_ALL, NULL, NULL));
  tell_pending(file);
  tell_values("gets alone", values, 4);
  say("wait for puts %d", ncmpi_wait_all(file, NC_PUT_REQ_ALL, NULL, NULL));
  tell_pending(file);
  tell(file, NULL, ids[2]);
  say("close %d", ncmpi_close(file));
}

/* Each rank for another part of its requests, in another order. */
static void waits_for_some(void) {
  int ids[3], requests[6], some[6], back[3][2];
  const int file = create_filled("some.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  for (int i = 0; i < 3; ++i) {
    must(put_row(file, ids[0], 2 * i, numbers(70 + i), 2, &requests[2 * i]), "iput");
    must(get_row(file, ids[2], 2 * i, back[i], 2, &requests[2 * i + 1]), "iget");
  }
  const int count = rank % 4;
  for (int i = 0; i < count; ++i) some[i] = requests[5 - i];
  wait_for("wait for some", ncmpi_wait_all, file, count, some);
  say("wait for none %d", ncmpi_wait_all(file, 0, requests, NULL));
  wait_for("wait for one", ncmpi_wait_all, file, rank % 2, requests);
  say("wait for puts %d", ncmpi_wait_all(file, NC_PUT_REQ_ALL, NULL, NULL));
  tell_pending(file);
  say("wait for the rest %d", wait_for_all(file));
  tell_pending(file);
  say("wait for %d kinds that there are not: %d", -7, ncmpi_wait_all(file, -7, NULL, NULL));
  tell(file, NULL, ids[0]);
  for (int i = 0; i < 3; ++i) tell_values("got", back[i], 2);
  /* Without statuses, without ids, and without a place for the id. */
  must(put_row(file, ids[2], 0, numbers(75), 3, &requests[0]), "iput");
  must(put_row(file, ids[2], 3, numbers(76), 3, NULL), "iput");
  say("wait without statuses %d", ncmpi_wait_all(file, 1, requests, NULL));
  tell_pending(file);
  say("wait for the rest %d", wait_for_all(file));
  tell(file, NULL, ids[2]);
  say("close %d", ncmpi_close(file));
}

static void cancels_some(void) {
  int ids[3], requests[5], values[4] = {-1, -1, -1, -1};
  const int file = create_filled("cancels.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  must(ncmpi_buffer_attach(file, 1000), "attach");
  must(put_row(file, ids[0], 0, numbers(80), 4, &requests[0]), "iput");
  must(bput_row(file, ids[2], numbers(81), 4, &requests[1]), "bput");
  must(get_row(file, ids[0], 4, values, 4, &requests[2]), "iget");
  must(put_row(file, ids[0], 6, numbers(82), 4, &requests[3]), "iput");
  must(put_row(file, ids[2], 6, numbers(83), 4, &requests[4]), "iput");
  int some[] = {requests[2], requests[1], requests[0]};
  wait_for("cancel", ncmpi_cancel, file, rank % 2 ? 1 : 3, some);
  tell_buffer(file);
  say("cancel nothing %d", ncmpi_cancel(file, 0, NULL, NULL));
  wait_for("cancel what there is not", ncmpi_cancel, file, 1, (int[]){NC_REQ_NULL});
  wait_for("wait", ncmpi_wait_all, file, 2, requests + 3);
  say("cancel gets %d", ncmpi_cancel(file, NC_GET_REQ_ALL, NULL, NULL));
  tell_pending(file);
  say("cancel all %d", ncmpi_cancel(file, NC_REQ_ALL, NULL, NULL));
  tell_pending(file);
  tell_buffer(file);
  say("wait %d", wait_for_all(file));
  tell(file, NULL, ids[0]);
  tell(file, NULL, ids[2]);
  tell_values("got", values, 4);
  say("detach %d", ncmpi_buffer_detach(file));
  say("close %d", ncmpi_close(file));
}

/* Requests for records are pending when records become longer. */
static void adds_to_records(void) {
  int ids[3], added, dims[2], back[3];
  const int file = create_filled("longer.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  const MPI_Offset starts[2][2] = {{0, rank}, {2, rank}}, count[2] = {1, 3}, stride[2] = {1, ranks};
  const int* const values[] = {numbers(90), numbers(91)};
  for (int i = 0; i < 2; ++i) {
    must(ncmpi_iput_vars_int(file, ids[1], starts[i], count, stride, values[i], NULL), "iput");
  }
  must(ncmpi_iget_vars_int(file, ids[1], starts[0], count, stride, back, NULL), "iget");
  must(ncmpi_redef(file), "redef");
  must(ncmpi_inq_dimid(file, "time", &dims[0]), "inq_dimid");
  must(ncmpi_inq_dimid(file, "x", &dims[1]), "inq_dimid");
  must(ncmpi_def_var(file, "added", NC_DOUBLE, 2, dims, &added), "def_var");
  must(ncmpi_enddef(file), "enddef");
  tell_pending(file);
  tell_wait(file);
  tell_records(file);
  tell_values("got", back, 3);
  const MPI_Offset third[2] = {2, rank};
  must(ncmpi_get_vars_int_all(file, ids[1], third, count, stride, back), "get_vars");
  tell_values("third record", back, 3);
  say("close %d", ncmpi_close(file));
}

static void names_ids_that_are_none(void) {
  int ids[3], requests[4] = {NC_REQ_NULL, 4711, NC_REQ_NULL, -12};
  const int file = create_filled("none.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  must(put_row(file, ids[0], 0, numbers(100), 3, &requests[0]), "iput");
  must(put_row(file, ids[2], 0, numbers(101), 3, &requests[2]), "iput");
  int one[] = {4711};
  wait_for("cancel one", ncmpi_cancel, file, 1, one);
  int twice[] = {requests[0], requests[0]};
  wait_for("cancel twice", ncmpi_cancel, file, 2, twice);
  wait_for("wait", ncmpi_wait_all, file, 1, requests + 1);
  say("wait for the rest %d", wait_for_all(file));
  tell_pending(file);
  tell(file, NULL, ids[0]);
  tell(file, NULL, ids[2]);
  say("no variable %d", ncmpi_iput_var_int(file, 77, requests, NULL));
  say("the file as a whole %d", ncmpi_iput_var_int(file, NC_GLOBAL, requests, NULL));
  say("close %d", ncmpi_close(file));
}

static void asks_for_nothing(void) {
  int ids[3], requests[4];
  const int file = create_filled("nothing.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  MPI_Offset first[1] = {0}, behind[1] = {(MPI_Offset)length * ranks}, none[1] = {0}, one[1] = {1};
  MPI_Offset* starts[] = {first, behind, first};
  MPI_Offset* counts[] = {none, none, none};
  MPI_Offset* some[] = {none, none, one};
  first[0] = rank;
  for (int i = 0; i < 4; ++i) requests[i] = -77;
  say("boxes of nothing %d",
      ncmpi_iput_varn_int(file, ids[0], 2, starts, counts, NULL, &requests[0]));
  say("a box of something %d",
      ncmpi_iput_varn_int(file, ids[0], 3, starts, some, numbers(110), &requests[1]));
  say("no counts %d",
      ncmpi_iput_varn_int(file, ids[2], 1, starts, NULL, numbers(111), &requests[2]));
  say("nothing behind the end %d",
      ncmpi_iput_vara_int(file, ids[0], behind, none, numbers(113), &requests[3]));
  for (int i = 0; i < 4; ++i)
    say("a request %d: %d", i, requests[i] != NC_REQ_NULL && requests[i] != -77);
  tell_wait(file);
  say("nothing of all %d", ncmpi_put_varn_int_all(file, ids[0], 0, NULL, NULL, NULL));
  say("some have nothing %d",
      ncmpi_put_vara_int_all(file, ids[2], first, rank ? one : none, numbers(114)));
  tell(file, NULL, ids[0]);
  tell(file, NULL, ids[2]);
  say("close %d", ncmpi_close(file));
}

static void strides_oddly(void) {
  int ids[3], request;
  const int file = create_filled("strides.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  const MPI_Offset strides[] = {-1, 0, 1, 5, (MPI_Offset)1 << 40};
  for (int i = 0; i < 5; ++i) {
    const MPI_Offset start = (MPI_Offset)rank * length + 2 * i, count = i == 4 ? 1 : 2;
    request = -77;
    const int error =
        ncmpi_iput_vars_int(file, ids[0], &start, &count, &strides[i], numbers(120 + i), &request);
    say("stride %lld: %d, a request %d", (long long)strides[i], error,
        request != NC_REQ_NULL && request != -77);
  }
  tell_pending(file);
  tell_wait(file);
  const MPI_Offset start = rank, count = (MPI_Offset)1 << 33, less = -4, stride = 2;
  say("more than there are %d",
      ncmpi_iput_vars_int(file, ids[0], &start, &count, &stride, numbers(125), NULL));
  say("less than none %d",
      ncmpi_iput_vars_int(file, ids[0], &start, &less, &stride, numbers(125), NULL));
  say("before the first %d", ncmpi_iput_vara_int(file, ids[0], &less, &start, numbers(125), NULL));
  say("no start %d", ncmpi_iput_vara_int(file, ids[0], NULL, &start, numbers(125), NULL));
  say("no count %d", ncmpi_iput_vara_int(file, ids[0], &start, NULL, numbers(125), NULL));
  const MPI_Offset record = -1;
  const MPI_Offset before[2] = {record, 0}, counts[2] = {1, 1};
  say("record before the first %d",
      ncmpi_iput_vara_int(file, ids[1], before, counts, numbers(125), NULL));
  const MPI_Offset later[2] = {5, 0};
  int value = 0;
  say("get a record that is not there %d",
      ncmpi_iget_vara_int(file, ids[1], later, counts, &value, NULL));
  tell_wait(file);
  tell(file, NULL, ids[0]);
  say("close %d", ncmpi_close(file));
}

/* Elements that are counted with more than 32 bits. */
static void is_long(void) {
  int file, dims[2], wide, high, back[2] = {0, 0};
  must(
      ncmpi_create(MPI_COMM_WORLD, at("long.nc"), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
      "create");
  must(ncmpi_def_dim(file, "x", ((MPI_Offset)1 << 31) + 64, &dims[0]), "def_dim");
  must(ncmpi_def_dim(file, "y", ((MPI_Offset)1 << 33), &dims[1]), "def_dim");
  must(ncmpi_def_var(file, "wide", NC_BYTE, 1, dims, &wide), "def_var");
  must(ncmpi_def_var(file, "high", NC_BYTE, 1, dims + 1, &high), "def_var");
  must(ncmpi_enddef(file), "enddef");
  const MPI_Offset start = ((MPI_Offset)1 << 31) + 2 * rank, count = 2, all = (MPI_Offset)1 << 32;
  const signed char values[] = {(signed char)(1 + rank), (signed char)(2 + rank)};
  must(ncmpi_iput_vara_schar(file, wide, &start, &count, values, NULL), "iput");
  say("beyond the end %d", ncmpi_iput_vara_schar(file, wide, &start, &all, values, NULL));
  const MPI_Offset stride = (MPI_Offset)1 << 31;
  say("beyond the end in steps %d",
      ncmpi_iput_vars_schar(file, wide, &start, &count, &stride, values, NULL));
  say("another count %d",
      ncmpi_iput_vara(file, wide, &start, &count, values, 3, MPI_SIGNED_CHAR, NULL));
  say("less %d", ncmpi_iput_vara(file, wide, &start, &count, values, 1, MPI_SIGNED_CHAR, NULL));
  tell_pending(file);
  tell_wait(file);
  must(ncmpi_get_vara_int_all(file, wide, &start, &count, back), "get");
  tell_values("got", back, 2);
  say("close %d", ncmpi_close(file));
  together();
  if (rank == 0) unlink(at("long.nc"));
}

/* Parts of the ranks have files of their own beside one of all. */
static void parts_have_their_own(void) {
  int ids[2][3], files[2];
  files[0] = create_filled("world.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids[0]);
  put_row(files[0], ids[0][0], 0, numbers(130), length, NULL);
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Comm part;
    char name[32];
    const int color = turn < 2 ? rank % 2 : 0;
    MPI_Comm_split(MPI_COMM_WORLD, color, turn == 1 ? -rank : rank, &part);
    snprintf(name, sizeof name, "part%d%d.nc", turn, color);
    files[1] = create_filled(name, part, MPI_INFO_NULL, ids[1]);
    MPI_Comm_free(&part);
    for (int i = 0; i <= color; ++i) { /* not all ranks as often */
      put_row(files[1], ids[1][0], 3 * i, numbers(131 + turn), 3, NULL);
      tell_wait(files[1]);
    }
    put_row(files[1], ids[1][2], 0, numbers(135), length, NULL);
    if (turn == 0) tell_wait(files[0]);
    say("close %d", ncmpi_close(files[1]) == (NC_EPENDING));
    together();
    tell(0, at(turn < 2 ? "part00.nc" : "part20.nc"), ids[1][0]);
  }
  tell(files[0], NULL, ids[0][0]);
  say("close %d", ncmpi_close(files[0]));
}

static void reads_only(void) {
  int ids[3], values[length], request = -77;
  int file = create_filled("read.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  put(file, ids[0], numbers(140));
  tell_wait_and_close(file);
  must(ncmpi_open(MPI_COMM_WORLD, at("read.nc"), NC_NOWRITE, MPI_INFO_NULL, &file), "open");
  const MPI_Offset start = rank, count = length, stride = ranks;
  say("iput %d", ncmpi_iput_vars_int(file, ids[0], &start, &count, &stride, values, &request));
  say("a request %d", request != NC_REQ_NULL && request != -77);
  say("iget %d", ncmpi_iget_vars_int(file, ids[0], &start, &count, &stride, values, &request));
  say("put %d", ncmpi_put_vars_int_all(file, ids[0], &start, &count, &stride, values));
  say("attach %d", ncmpi_buffer_attach(file, 100));
  say("bput %d", bput_row(file, ids[0], numbers(141), 2, NULL));
  say("redef %d", ncmpi_redef(file));
  say("fill %d", ncmpi_fill_var_rec(file, ids[1], 1));
  tell_pending(file);
  tell_wait(file);
  tell_values("got", values, length);
  say("detach %d", ncmpi_buffer_detach(file));
  say("close %d", ncmpi_close(file));
}

/* Text is no number, and not every number fits. */
static void converts(void) {
  int file, x, text, small, real, whole, requests[6];
  must(ncmpi_create(MPI_COMM_WORLD, at("converts.nc"), NC_CLOBBER, MPI_INFO_NULL, &file), "create");
  must(ncmpi_def_dim(file, "x", (MPI_Offset)4 * ranks, &x), "def_dim");
  must(ncmpi_def_var(file, "text", NC_CHAR, 1, &x, &text), "def_var");
  must(ncmpi_def_var(file, "small", NC_SHORT, 1, &x, &small), "def_var");
  must(ncmpi_def_var(file, "real", NC_DOUBLE, 1, &x, &real), "def_var");
  must(ncmpi_def_var(file, "whole", NC_INT, 1, &x, &whole), "def_var");
  must(ncmpi_enddef(file), "enddef");
  const MPI_Offset start = (MPI_Offset)4 * rank, count = 4;
  const int values[4] = {1, 70000, -3, 4 + rank};
  const double reals[4] = {1.5, 1e300, -2.9, rank};
  const long long large[4] = {1, (long long)1 << 40, 3, 4};
  for (int i = 0; i < 6; ++i) requests[i] = NC_REQ_NULL;
  say("numbers as text %d", ncmpi_iput_vara_int(file, text, &start, &count, values, &requests[0]));
  say("text as numbers %d",
      ncmpi_iput_vara_text(file, small, &start, &count, "abcd", &requests[1]));
  say("text %d", ncmpi_iput_vara_text(file, text, &start, &count, "abcd", &requests[2]));
  say("large ones %d", ncmpi_iput_vara_int(file, small, &start, &count, values, &requests[3]));
  say("larger ones %d", ncmpi_iput_vara_longlong(file, whole, &start, &count, large, &requests[4]));
  say("reals %d", ncmpi_iput_vara_double(file, real, &start, &count, reals, &requests[5]));
  tell_pending(file);
  wait_for("wait", ncmpi_wait_all, file, 6, requests);
  short shorts[4] = {9, 9, 9, 9};
  int back[4] = {9, 9, 9, 9};
  float floats[4] = {9, 9, 9, 9};
  char letters[5] = "";
  say("get %d", ncmpi_get_vara_int_all(file, small, &start, &count, back));
  say("small %d _ %d %d", back[0], back[2], back[3]);
  say("get %d", ncmpi_get_vara_text_all(file, text, &start, &count, letters));
  say("text %s", letters);
  /* One after another: 1.12.3 brings something else where one wait gets an element twice. */
  say("reals as floats %d",
      ncmpi_iget_vara_float(file, real, &start, &count, floats, &requests[0]));
  wait_for("wait", ncmpi_wait_all, file, 1, requests);
  say("reals as whole %d", ncmpi_iget_vara_int(file, real, &start, &count, back, &requests[0]));
  say("reals as text %d", ncmpi_iget_vara_text(file, real, &start, &count, letters, NULL));
  say("whole as small %d",
      ncmpi_iget_vara_short(file, whole, &start, &count, shorts, &requests[1]));
  wait_for("wait", ncmpi_wait_all, file, 2, requests);
  say("%g _ %g %g, %d _ %d %d, %d _ %d %d", floats[0], floats[2], floats[3], back[0], back[2],
      back[3], shorts[0], shorts[2], shorts[3]);
  say("close %d", ncmpi_close(file));
}

static void fills_records(void) {
  int ids[3], file, x, dims[2], filled, no_fill, back[4];
  must(ncmpi_create(MPI_COMM_WORLD, at("fills.nc"), NC_CLOBBER, MPI_INFO_NULL, &file), "create");
  must(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]), "def_dim");
  must(ncmpi_def_dim(file, "x", (MPI_Offset)4 * ranks, &x), "def_dim");
  dims[1] = x;
  must(ncmpi_def_var(file, "r", NC_INT, 2, dims, &ids[0]), "def_var");
  must(ncmpi_def_var(file, "v", NC_INT, 1, &x, &ids[1]), "def_var");
  const int minus = -9;
  say("def_var_fill %d", ncmpi_def_var_fill(file, ids[0], 0, &minus));
  say("def_var_fill %d", ncmpi_def_var_fill(file, ids[1], 0, NULL));
  must(ncmpi_enddef(file), "enddef");
  say("inq_var_fill %d", ncmpi_inq_var_fill(file, ids[0], &no_fill, &filled));
  say("no fill %d, %d", no_fill, filled);
  for (MPI_Offset record = 0; record < 3; ++record) {
    const MPI_Offset start[2] = {record, (MPI_Offset)4 * rank + 1}, count[2] = {1, 2};
    if (record == 2)
      must(ncmpi_iput_vara_int(file, ids[0], start, count, numbers(150), NULL), "iput");
    say("fill %d", ncmpi_fill_var_rec(file, ids[0], record));
    tell_records(file);
    if (record < 2)
      must(ncmpi_iput_vara_int(file, ids[0], start, count, numbers(151), NULL), "iput");
    tell_wait(file);
    const MPI_Offset from[2] = {record, (MPI_Offset)4 * rank}, four[2] = {1, 4};
    must(ncmpi_get_vara_int_all(file, ids[0], from, four, back), "get");
    tell_values("record", back, 4);
  }
  const MPI_Offset start = (MPI_Offset)4 * rank + 1, count = 1, from = (MPI_Offset)4 * rank,
                   four = 4;
  must(ncmpi_iput_vara_int(file, ids[1], &start, &count, numbers(152), NULL), "iput");
  tell_wait(file);
  must(ncmpi_get_vara_int_all(file, ids[1], &from, &four, back), "get");
  tell_values("fixed", back, 4);
  say("fill of a fixed one %d", ncmpi_fill_var_rec(file, ids[1], 0));
  say("close %d", ncmpi_close(file));
}

static void is_given_hints(void) {
  static const char* const hints[][2] = {
      {"nc_num_subfiles", "2"},       {"nc_in_place_swap", "enable"}, {"cb_nodes", "1000"},
      {"cb_nodes", "not a number"},   {"striping_unit", "12345"},     {"slabmark", "off"},
      {"nc_record_align_size", "64"}, {"nc_var_align_size", "512"},   {"romio_no_indep_rw", "true"},
      {"nc_ibuf_size", "8"}};
  for (size_t i = 0; i < sizeof hints / sizeof *hints; ++i) {
    int ids[3], values[length];
    char name[32];
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, hints[i][0], hints[i][1]);
    snprintf(name, sizeof name, "hint%zu.nc", i);
    const int file = create_filled(name, MPI_COMM_WORLD, info, ids);
    MPI_Info_free(&info);
    memcpy(values, numbers(160 + (int)i), sizeof values);
    put(file, ids[0], values);
    tell_wait(file);
    tell_values("the program's are as they were", values, length);
    tell(file, NULL, ids[0]);
    say("close %d", ncmpi_close(file));
  }
}

/* Files of the older formats, of which each can hold less. */
static void has_older_formats(void) {
  static const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA};
  int old = -1, file, x, large, id, format;
  say("set_default_format %d", ncmpi_set_default_format(NC_FORMAT_CDF2, &old));
  say("it was %d", old);
  for (int i = 0; i < 3; ++i) {
    char name[32];
    snprintf(name, sizeof name, "format%d.nc", i);
    must(ncmpi_create(MPI_COMM_WORLD, at(name), NC_CLOBBER | modes[i], MPI_INFO_NULL, &file),
         "create");
    must(ncmpi_inq_format(file, &format), "inq_format");
    say("format %d", format);
    must(ncmpi_def_dim(file, "x", length, &x), "def_dim");
    say("dimension %d", ncmpi_def_dim(file, "large", ((MPI_Offset)1 << 31) + 4, &large));
    say("type %d", ncmpi_def_var(file, "v", NC_INT64, 1, &x, &id));
    say("type %d", ncmpi_def_var(file, "w", NC_INT, 1, &x, &id));
    must(ncmpi_enddef(file), "enddef");
    const MPI_Offset start = rank, count = 1;
    must(ncmpi_iput_vara_int(file, id, &start, &count, numbers(170), NULL), "iput");
    tell_wait(file);
    int back = 0;
    must(ncmpi_get_vara_int_all(file, id, &start, &count, &back), "get");
    say("got %d, close %d", back, ncmpi_close(file));
  }
  say("set_default_format %d", ncmpi_set_default_format(old, NULL));
  say("set_default_format %d", ncmpi_set_default_format(77, NULL));
}

/* Processes that this one starts, with files open and requests pending. */
static void has_children(void) {
  int ids[3], status = -1;
  const int file = create_filled("children.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  put(file, ids[0], numbers(180));
  fflush(stdout);
  say("a shell %d", system("exit 3") >> 8);
  const pid_t child = fork();
  if (child == 0) {
    execlp("sh", "sh", "-c", "exit 4", (char*)NULL);
    _exit(1);
  }
  waitpid(child, &status, 0);
  say("a program %d", WEXITSTATUS(status));
  const pid_t other = fork();
  if (other == 0) _exit(5);
  waitpid(other, &status, 0);
  say("a process %d", WEXITSTATUS(status));
  tell_wait(file);
  tell(file, NULL, ids[0]);
  say("close %d", ncmpi_close(file));
}

/* Datatypes are gone when requests are waited for, and counts are no counts. */
static void uses_datatypes(void) {
  int ids[3], values[2 * length], requests[4];
  MPI_Datatype type, nested, empty;
  const int file = create_filled("types.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  for (int i = 0; i < 2 * length; ++i) values[i] = 1000 * rank + i;
  const MPI_Offset start = (MPI_Offset)rank * length, count = length;
  MPI_Type_vector(length, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  say("spaced %d", ncmpi_iput_vara(file, ids[0], &start, &count, values, 1, type, &requests[0]));
  MPI_Type_contiguous(length / 2, MPI_INT, &nested);
  MPI_Type_commit(&nested);
  say("side by side %d",
      ncmpi_iput_vara(file, ids[2], &start, &count, values, 2, nested, &requests[1]));
  MPI_Type_free(&type);
  MPI_Type_free(&nested);
  wait_for("wait", ncmpi_wait_all, file, 2, requests);
  tell(file, NULL, ids[0]);
  tell(file, NULL, ids[2]);
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  for (int i = 0; i < 4; ++i) requests[i] = -77;
  say("of nothing %d",
      ncmpi_iput_vara(file, ids[0], &start, &count, values, 1, empty, &requests[0]));
  say("no count %d",
      ncmpi_iput_vara(file, ids[0], &start, &count, values, 0, MPI_INT, &requests[1]));
  say("count is open %d",
      ncmpi_iput_vara(file, ids[0], &start, &count, values, -1, MPI_INT, &requests[2]));
  say("no type %d",
      ncmpi_iput_vara(file, ids[2], &start, &count, values, 7, MPI_DATATYPE_NULL, &requests[3]));
  MPI_Type_free(&empty);
  tell_pending(file);
  tell_wait(file);
  tell(file, NULL, ids[0]);
  tell(file, NULL, ids[2]);
  say("close %d", ncmpi_close(file));
}

/* Maps of memory: turned, and with the same element for all. */
static void maps_memory(void) {
  int file, dims[2], id, back[12];
  must(ncmpi_create(MPI_COMM_WORLD, at("maps.nc"), NC_CLOBBER, MPI_INFO_NULL, &file), "create");
  must(ncmpi_def_dim(file, "y", (MPI_Offset)3 * ranks, &dims[0]), "def_dim");
  must(ncmpi_def_dim(file, "x", 4, &dims[1]), "def_dim");
  must(ncmpi_def_var(file, "v", NC_INT, 2, dims, &id), "def_var");
  must(ncmpi_enddef(file), "enddef");
  const MPI_Offset start[2] = {(MPI_Offset)3 * rank, 0}, count[2] = {3, 4};
  const MPI_Offset turned[2] = {1, 3}, same[2] = {0, 0}, wide[2] = {8, 2}, stride[2] = {1, 1};
  int values[32];
  for (int i = 0; i < 32; ++i) values[i] = 100 * rank + i;
  const MPI_Offset* const maps[] = {turned, wide, same};
  for (int i = 0; i < 3; ++i) {
    must(ncmpi_iput_varm_int(file, id, start, count, i ? NULL : stride, maps[i], values, NULL),
         "iput");
    tell_wait(file);
    must(ncmpi_get_vara_int_all(file, id, start, count, back), "get");
    tell_values("put", back, 12);
  }
  for (int i = 0; i < 12; ++i) back[i] = 10 * rank + i;
  must(ncmpi_put_vara_int_all(file, id, start, count, back), "put");
  memset(values, 0, sizeof values);
  must(ncmpi_iget_varm_int(file, id, start, count, NULL, turned, values, NULL), "iget");
  tell_wait(file); /* 1.12.3 brings something else where one wait gets an element twice */
  must(ncmpi_iget_varm_int(file, id, start, count, NULL, NULL, values + 12, NULL), "iget");
  tell_wait(file);
  tell_values("got", values, 24);
  say("close %d", ncmpi_close(file));
}

/* Requests for all of a variable whose records are not there yet, or are pending. */
static void asks_for_whole_variables(void) {
  int ids[3], values[16 * length], request = -77;
  const int file = create(at("whole.nc"), MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  memset(values, 0, sizeof values);
  say("get of no record %d", ncmpi_iget_var_int(file, ids[1], values, &request));
  say("a request %d", request != NC_REQ_NULL && request != -77);
  tell_wait(file);
  say("put of no record %d", ncmpi_iput_var_int(file, ids[1], values, &request));
  tell_wait(file);
  tell_records(file);
  const MPI_Offset start[2] = {1, (MPI_Offset)rank * length}, count[2] = {1, length};
  const MPI_Offset first[2] = {0, (MPI_Offset)rank * length};
  must(ncmpi_iput_vara_int(file, ids[1], first, count, numbers(190), NULL), "iput");
  must(ncmpi_iput_vara_int(file, ids[1], start, count, numbers(191), NULL), "iput");
  tell_records(file);
  tell_wait(file);
  tell_records(file);
  static int all[2 * 16 * length];
  must(ncmpi_iget_var_int(file, ids[1], all, NULL), "iget_var");
  tell_wait(file);
  say("records hold %08x", digest(all, 2 * length * ranks));
  int value = 0;
  say("a scalar's start %d", ncmpi_iget_var1_int(file, ids[0], start + 1, &value, NULL));
  tell_wait(file);
  say("close %d", ncmpi_close(file));
}

/* What is told of sizes, and what sync leaves pending. */
static void tells_of_itself(void) {
  int ids[3];
  const int file = create_filled("itself.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  put(file, ids[0], numbers(200));
  say("sync %d", ncmpi_sync(file));
  say("sync_numrecs %d", ncmpi_sync_numrecs(file));
  tell_pending(file);
  tell_wait(file);
  tell(file, NULL, ids[0]);
  MPI_Offset before[2], after[2];
  must(ncmpi_inq_put_size(file, &before[0]), "inq_put_size");
  must(ncmpi_inq_get_size(file, &before[1]), "inq_get_size");
  int back[length];
  put(file, ids[2], numbers(201));
  must(get_row(file, ids[0], 0, back, length, NULL), "iget");
  tell_wait(file);
  must(ncmpi_inq_put_size(file, &after[0]), "inq_put_size");
  must(ncmpi_inq_get_size(file, &after[1]), "inq_get_size");
  say("put %lld, got %lld", (long long)(after[0] - before[0]), (long long)(after[1] - before[1]));
  say("close %d", ncmpi_close(file));
}

/* Posted while the file is defined, and before its definition is given up. */
static void posts_while_defining(void) {
  int ids[3], file = create_filled("defining.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids), added, x;
  must(ncmpi_redef(file), "redef");
  int request = -77;
  say("iput %d", put_row(file, ids[0], 0, numbers(210), 3, &request));
  tell_pending(file);
  say("put %d", ncmpi_put_var_int_all(file, ids[0], numbers(210)));
  say("wait %d", wait_for_all(file));
  must(ncmpi_enddef(file), "enddef");
  tell_wait(file);
  tell(file, NULL, ids[0]);
  put(file, ids[2], numbers(211));
  must(ncmpi_redef(file), "redef");
  must(ncmpi_inq_dimid(file, "x", &x), "inq_dimid");
  must(ncmpi_def_var(file, "added", NC_INT, 1, &x, &added), "def_var");
  say("abort %d", ncmpi_abort(file) == NC_NOERR || rank > 0);
  together();
  must(ncmpi_open(MPI_COMM_WORLD, at("defining.nc"), NC_WRITE, MPI_INFO_NULL, &file), "open");
  say("the added one is there %d", ncmpi_inq_varid(file, "added", &added));
  tell(file, NULL, ids[2]);
  say("redef twice %d", ncmpi_redef(file) + 1000 * ncmpi_redef(file));
  say("independent while defining %d", ncmpi_begin_indep_data(file));
  say("close while defining %d", ncmpi_close(file));
}

/* The same elements several times by one rank, of which one is waited for first. */
static void puts_again(void) {
  int ids[3], requests[3];
  const int file = create_filled("again.nc", MPI_COMM_WORLD, MPI_INFO_NULL, ids);
  for (int i = 0; i < 3; ++i)
    must(put_row(file, ids[0], i, numbers(220 + i), 4, &requests[i]), "iput");
  wait_for("wait for the last", ncmpi_wait_all, file, 1, requests + 2);
  wait_for("wait for the first", ncmpi_wait_all, file, 1, requests);
  int values[length] = {0};
  const MPI_Offset start = (MPI_Offset)rank * length, count = length;
  must(ncmpi_get_vara_int_all(file, ids[0], &start, &count, values), "get");
  tell_values("first over last", values, 7);
  must(ncmpi_put_vara_int_all(file, ids[0], &start, &count, numbers(225)),
       "put"); /* before the second */
  wait_for("wait for the second", ncmpi_wait_all, file, 1, requests + 1);
  must(ncmpi_get_vara_int_all(file, ids[0], &start, &count, values), "get");
  tell_values("second over all", values, 7);
  say("close %d", ncmpi_close(file));
}

/* Collective calls of many pieces, to which ranks bring more, less and nothing. */
static void brings_more_or_less(void) {
  int ids[3], file, dims[2], id, back[64];
  must(ncmpi_create(MPI_COMM_WORLD, at("pieces.nc"), NC_CLOBBER, MPI_INFO_NULL, &file), "create");
  must(ncmpi_def_dim(file, "y", 64, &dims[0]), "def_dim");
  must(ncmpi_def_dim(file, "x", (MPI_Offset)2 * ranks, &dims[1]), "def_dim");
  must(ncmpi_def_var(file, "v", NC_INT, 2, dims, &id), "def_var");
  must(ncmpi_def_var(file, "w", NC_INT, 2, dims, &ids[0]), "def_var");
  must(ncmpi_enddef(file), "enddef");
  int values[64];
  for (int turn = 0; turn < 4; ++turn) {
    MPI_Offset start[2] = {0, (MPI_Offset)2 * rank}, count[2] = {64, 1};
    for (int i = 0; i < 64; ++i) values[i] = 1000 * turn + 100 * rank + i;
    if (turn == 1 && rank == 0) count[0] = 0;
    if (turn == 2) start[0] = count[0] = rank;
    say("put %d", ncmpi_put_vara_int_all(file, id, start, count, values));
    memset(back, 0, sizeof back);
    start[0] = 0;
    count[0] = 64;
    say("get %d", ncmpi_get_vara_int_all(file, id, start, count, back));
    say("holds %08x", digest(back, 64));
  }
  MPI_Offset starts[2] = {0, (MPI_Offset)2 * rank + 1}, counts[2] = {64, 1};
  MPI_Offset* const start_of[] = {starts, starts};
  MPI_Offset* const count_of[] = {counts, counts};
  int* const buffers[] = {values, values};
  int variables[] = {id, ids[0]};
  say("mput %d",
      ncmpi_mput_vara_int_all(file, rank ? 2 : 1, variables, start_of, count_of, buffers));
  say("mget %d", ncmpi_mget_vara_int_all(file, 1, variables, start_of, count_of, (int*[]){back}));
  say("holds %08x", digest(back, 64));
  say("mget of nothing %d", ncmpi_mget_vara_int_all(file, 0, NULL, NULL, NULL, NULL));
  say("close %d", ncmpi_close(file));
}

const struct life lives_of_requests[] = {{"attaches and detaches", attaches_and_detaches},
                                         {"gets what is pending", gets_what_is_pending},
                                         {"waits for some", waits_for_some},
                                         {"cancels some", cancels_some},
                                         {"adds to records", adds_to_records},
                                         {"names ids that are none", names_ids_that_are_none},
                                         {"asks for nothing", asks_for_nothing},
                                         {"strides oddly", strides_oddly},
                                         {"is long", is_long},
                                         {"parts have their own", parts_have_their_own},
                                         {"reads only", reads_only},
                                         {"converts", converts},
                                         {"fills records", fills_records},
                                         {"is given hints", is_given_hints},
                                         {"has older formats", has_older_formats},
                                         {"has children", has_children},
                                         {"uses datatypes", uses_datatypes},
                                         {"maps memory", maps_memory},
                                         {"asks for whole variables", asks_for_whole_variables},
                                         {"tells of itself", tells_of_itself},
                                         {"posts while defining", posts_while_defining},
                                         {"puts again", puts_again},
                                         {"brings more or less", brings_more_or_less},
                                         {NULL, NULL}};
