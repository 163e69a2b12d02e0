/* Random calls of PnetCDF, the same ones for the same seed and number of ranks, whichever library
 * makes them: what they return and what is read goes to <log>.<rank>. Elements are put by one rank
 * and once between two waits, since PnetCDF does not say what stays otherwise, and a rank gets them
 * once: PnetCDF 1.12.3 brings other values else.
 *
 *     pnetcdf_random <seed>[-<last seed>] <operations> <file> <log> [collective]
 *
 * With `collective`, never in independent mode. Each seed of a range has a file and logs of its
 * own, <file>.<seed> and <log>.<seed>.<rank>.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#include <pnetcdf.h>

enum { most_dims = 4, most_requests = 12, most_boxes = 6, most_elements = 1024, flexible = 12 };
enum verb { IPUT, BPUT, IGET, PUT_ALL, GET_ALL, PUT, GET };
enum kind { VAR, VAR1, VARA, VARS, VARM, VARN };

static unsigned seed;
static int rank, ranks, ncid, records, variables, format;
static FILE* log_file;

struct generator {
  uint64_t state;
};
static struct generator shared, own; /* the same on all ranks; each rank's own */

static unsigned draw(struct generator* g, unsigned below) {
  g->state = g->state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(g->state >> 33) % below;
}

/* A variable: which of its elements were put, and got, since the last wait. */
struct variable {
  int id, type, dims, recorded;
  MPI_Offset length[most_dims];
  unsigned char taken[2][8 * most_elements];
};
static struct variable vars[64];

static size_t size_of_type(int t) {
  static const size_t sizes[] = {1, 1, 1, 2, 2, 4, 4, sizeof(long), 4, 8, 8, 8};
  return sizes[t];
}

static MPI_Datatype mpi_type(int t) {
  const MPI_Datatype types[] = {MPI_CHAR,     MPI_SIGNED_CHAR,    MPI_UNSIGNED_CHAR,
                                MPI_SHORT,    MPI_UNSIGNED_SHORT, MPI_INT,
                                MPI_UNSIGNED, MPI_LONG,           MPI_FLOAT,
                                MPI_DOUBLE,   MPI_LONG_LONG_INT,  MPI_UNSIGNED_LONG_LONG};
  return types[t];
}

static void set_value(char* at, int t, double v) {
  switch (t) {
#define SET(n, type)          \
  case n: {                   \
    type x = (type)v;         \
    memcpy(at, &x, sizeof x); \
    break;                    \
  }
    SET(0, char)
    SET(1, signed char)
    SET(2, unsigned char)
    SET(3, short)
    SET(4, unsigned short)
    SET(5, int)
    SET(6, unsigned)
    SET(7, long)
    SET(8, float)
    SET(9, double)
    SET(10, long long)
    SET(11, unsigned long long)
  }
}

/* What a call is given. */
struct call {
  struct variable* var;
  enum kind kind;
  int type; /* of memory; `flexible` + type: by MPI datatype */
  int boxes, mapped, spaced;
  MPI_Offset start[most_boxes][most_dims], count[most_boxes][most_dims], stride[most_dims],
      imap[most_dims];
  MPI_Offset *starts[most_boxes], *counts[most_boxes];
  MPI_Offset elements;
  char*
      memory; /* twice as much as the elements need: every second one is used where it is spaced */
  MPI_Datatype datatype;
};

#define EACH_TYPE(X)           \
  X(0, text, char)             \
  X(1, schar, signed char)     \
  X(2, uchar, unsigned char)   \
  X(3, short, short)           \
  X(4, ushort, unsigned short) \
  X(5, int, int)               \
  X(6, uint, unsigned)         \
  X(7, long, long)             \
  X(8, float, float)           \
  X(9, double, double) X(10, longlong, long long) X(11, ulonglong, unsigned long long)

#define KINDS(prefix, suffix, buffer, ...)                                                        \
  switch (c->kind) {                                                                              \
    case VAR:                                                                                     \
      return prefix##_var##suffix(ncid, id, buffer __VA_ARGS__);                                  \
    case VAR1:                                                                                    \
      return prefix##_var1##suffix(ncid, id, c->start[0], buffer __VA_ARGS__);                    \
    case VARA:                                                                                    \
      return prefix##_vara##suffix(ncid, id, c->start[0], c->count[0], buffer __VA_ARGS__);       \
    case VARS:                                                                                    \
      return prefix##_vars##suffix(ncid, id, c->start[0], c->count[0], c->stride,                 \
                                   buffer __VA_ARGS__);                                           \
    case VARM:                                                                                    \
      return prefix##_varm##suffix(ncid, id, c->start[0], c->count[0], c->stride,                 \
                                   c->mapped ? c->imap : NULL, buffer __VA_ARGS__);               \
    case VARN:                                                                                    \
      return prefix##_varn##suffix(ncid, id, c->boxes, c->starts, c->counts, buffer __VA_ARGS__); \
  }

static int make_call(enum verb verb, struct call* c, int* request) {
  const int id = c->var->id;
  void* const memory = c->memory;
  const MPI_Offset count = c->spaced ? 1 : c->elements;
  if (c->type >= flexible) {
    switch (verb) {
      case IPUT:
        KINDS(ncmpi_iput, , memory, , count, c->datatype, request) break;
      case BPUT:
        KINDS(ncmpi_bput, , memory, , count, c->datatype, request) break;
      case IGET:
        KINDS(ncmpi_iget, , memory, , count, c->datatype, request) break;
      case PUT_ALL:
        KINDS(ncmpi_put, _all, memory, , count, c->datatype) break;
      case GET_ALL:
        KINDS(ncmpi_get, _all, memory, , count, c->datatype) break;
      case PUT:
        KINDS(ncmpi_put, , memory, , count, c->datatype) break;
      case GET:
        KINDS(ncmpi_get, , memory, , count, c->datatype) break;
    }
  }
  switch (c->type) {
#define TYPED(n, name, type)                                        \
  case n:                                                           \
    switch (verb) {                                                 \
      case IPUT:                                                    \
        KINDS(ncmpi_iput, _##name, (type*)memory, , request) break; \
      case BPUT:                                                    \
        KINDS(ncmpi_bput, _##name, (type*)memory, , request) break; \
      case IGET:                                                    \
        KINDS(ncmpi_iget, _##name, (type*)memory, , request) break; \
      case PUT_ALL:                                                 \
        KINDS(ncmpi_put, _##name##_all, (type*)memory, ) break;     \
      case GET_ALL:                                                 \
        KINDS(ncmpi_get, _##name##_all, (type*)memory, ) break;     \
      case PUT:                                                     \
        KINDS(ncmpi_put, _##name, (type*)memory, ) break;           \
      case GET:                                                     \
        KINDS(ncmpi_get, _##name, (type*)memory, ) break;           \
    }                                                               \
    break;
    EACH_TYPE(TYPED)
  }
  return -9999;
}

static void check(int error, const char* what) {
  if (error == NC_NOERR) return;
  fprintf(stderr, "seed %u, rank %d: %s: %s\n", seed, rank, what, ncmpi_strerror(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static uint64_t hash_of(const char* bytes, size_t count) {
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
  return hash;
}

static MPI_Offset length_of(const struct variable* v, int d, int more_records) {
  return v->recorded && d == 0 ? records + more_records : v->length[d];
}

/* Counts elements of a box that are taken, or takes them. */
static int taken(struct variable* v, const MPI_Offset* start, const MPI_Offset* count,
                 const MPI_Offset* stride, int puts, int take) {
  int hits = 0;
  MPI_Offset index[most_dims] = {0}, total = 1;
  for (int d = 0; d < v->dims; ++d) total *= count[d];
  for (MPI_Offset n = 0; n < total; ++n) {
    MPI_Offset at = 0;
    for (int d = 0; d < v->dims; ++d)
      at = at * (d == 0 && v->recorded ? 8 : v->length[d]) + start[d] +
           index[d] * (stride ? stride[d] : 1);
    hits += v->taken[puts][at];
    if (take) v->taken[puts][at] = 1;
    for (int d = v->dims; d-- > 0;) {
      if (++index[d] < count[d]) break;
      index[d] = 0;
    }
  }
  return hits;
}

/* Makes a call for a variable, of elements that were not put, or got, since the last wait. With
 * `cut` >= 0 it stays within this rank's share of that dimension. Returns 0 where nothing was
 * found. `refused`: now and then it is one that PnetCDF refuses (1.12.3 hangs where only some ranks
 * make such a collective call). */
static int draw_call(struct call* c, struct variable* v, enum kind kind, int puts, int cut,
                     int refused) {
  memset(c, 0, sizeof *c);
  /* PnetCDF 1.12.3 now and then brings the padding behind records in place of their elements. */
  const int is_short = v->type < NC_INT || v->type == NC_UBYTE || v->type == NC_USHORT;
  if (!puts && v->recorded && is_short && (kind == VARS || kind == VARM)) kind = VARA;
  c->var = v;
  c->kind = kind;
  if (v->recorded && records == 0) return 0;
  MPI_Offset low[most_dims] = {0}, high[most_dims] = {0};
  for (int d = 0; d < v->dims; ++d) {
    high[d] = length_of(v, d, 0);
    if (cut < 0 || ranks == 1 || d != cut) continue;
    low[d] = high[d] * rank / ranks;
    high[d] = high[d] * (rank + 1) / ranks;
  }
  if (cut >= 0 && ranks > 1 && v->dims == 0 && rank != cut % ranks) return 0;
  if (cut >= 0 && ranks > 1 && v->dims > 0 && kind == VAR) return 0;
  for (int d = 0; d < v->dims; ++d) {
    if (low[d] >= high[d]) return 0;
  }
  const int wanted = kind == VARN ? 1 + (int)draw(&own, most_boxes) : 1;
  const int with_stride = (kind == VARS || kind == VARM);
  for (int b = 0, tries = 0; b < wanted && tries < 20; ++tries) {
    MPI_Offset* const start = c->start[c->boxes];
    MPI_Offset* const count = c->count[c->boxes];
    for (int d = 0; d < v->dims; ++d) {
      const unsigned space = (unsigned)(high[d] - low[d]);
      start[d] = kind == VAR ? 0 : low[d] + draw(&own, space);
      const unsigned left = (unsigned)(high[d] - start[d]);
      c->stride[d] = with_stride ? 1 + draw(&own, 3) : 1;
      /* PnetCDF 1.12.3 spoils its memory where a box of varn has several records. */
      count[d] = kind == VAR1 || (kind == VARN && v->recorded && d == 0) ? 1
                 : kind == VAR                                           ? high[d]
                               : 1 + draw(&own, (left - 1) / (unsigned)c->stride[d] + 1);
    }
    if (taken(v, start, count, with_stride ? c->stride : NULL, puts, 0)) {
      if (kind == VAR) return 0;
      continue;
    }
    taken(v, start, count, with_stride ? c->stride : NULL, puts, 1);
    MPI_Offset elements = 1;
    for (int d = 0; d < v->dims; ++d) elements *= count[d];
    c->elements += elements;
    c->starts[c->boxes] = start;
    c->counts[c->boxes] = count;
    ++c->boxes;
    ++b;
    if (v->dims == 0) break;
  }
  if (c->boxes == 0) return 0;
  c->type = v->type == NC_CHAR ? 0 : 1 + (int)draw(&own, 11);
  const int t = c->type;
  c->memory = calloc((size_t)c->elements * 2 + 2, size_of_type(t));
  if (kind == VARM && draw(&own, 2)) { /* the first dimension is the fastest in memory */
    c->mapped = 1;
    MPI_Offset next = 1;
    for (int d = 0; d < v->dims; ++d) {
      c->imap[d] = next;
      next *= c->count[0][d];
    }
  }
  if (draw(&own, 4) == 0) {
    c->type += flexible;
    c->datatype = mpi_type(t);
    if (!c->mapped && draw(&own, 2)) {
      c->spaced = 1;
      MPI_Type_vector((int)c->elements, 1, 2, mpi_type(t), &c->datatype);
      MPI_Type_commit(&c->datatype);
    }
  }
  const int wild = puts && draw(&own, 25) == 0; /* a value that many types do not hold */
  for (MPI_Offset i = 0; i < 2 * c->elements; ++i) {
    set_value(c->memory + (size_t)i * size_of_type(t), t, puts ? 1 + draw(&own, 100) : 7);
  }
  if (wild) set_value(c->memory, t, draw(&own, 2) ? 70000 : 3e9);
  if (refused && v->dims > v->recorded && kind != VAR && draw(&own, 30) == 0) {
    const int d = v->recorded + (int)draw(&own, (unsigned)(v->dims - v->recorded));
    switch (draw(&own, 3)) {
      case 0:
        c->start[0][d] = -1;
        break;
      case 1:
        c->start[0][d] = 1000;
        break;
      default:
        if (kind != VAR1) c->count[0][d] = 1000000;
        break;
    }
  }
  return 1;
}

static void log_memory(const struct call* c, const char* what) {
  const int t = c->type % flexible;
  fprintf(log_file, " %s %016llx", what,
          (unsigned long long)hash_of(c->memory, (size_t)c->elements * 2 * size_of_type(t)));
}

static void end_call(struct call* c) {
  if (c->spaced) MPI_Type_free(&c->datatype);
  free(c->memory);
}

static void forget_taken(void) {
  for (int v = 0; v < variables; ++v) memset(vars[v].taken, 0, sizeof vars[v].taken);
}

static void log_state(void) {
  MPI_Offset length = 0, usage = 0;
  int requests = 0, unlimited = -1;
  check(ncmpi_inq_nreqs(ncid, &requests), "inq_nreqs");
  check(ncmpi_inq_unlimdim(ncid, &unlimited), "inq_unlimdim");
  check(ncmpi_inq_dimlen(ncid, unlimited, &length), "inq_dimlen");
  const int error = ncmpi_inq_buffer_usage(ncid, &usage);
  fprintf(log_file, " pending %d records %lld usage %d %lld\n", requests, (long long)length, error,
          (long long)usage);
}

static struct variable* draw_variable(struct generator* g) {
  return &vars[draw(g, (unsigned)variables)];
}

/* PnetCDF 1.12.3 writes beyond its lists where requests are not posted in the order of the file. */
static int compare_places(const void* a, const void* b) {
  const int one = *(const int*)a, other = *(const int*)b;
  if (vars[one].recorded != vars[other].recorded) return vars[one].recorded - vars[other].recorded;
  return one - other;
}

static void post_and_wait(int independent) {
  struct call calls[most_requests];
  int ids[most_requests], statuses[most_requests], verbs[most_requests], count = 0;
  int cuts[64];
  for (int v = 0; v < variables; ++v)
    cuts[v] = vars[v].dims ? (int)draw(&shared, (unsigned)vars[v].dims) : (int)draw(&shared, 64);
  /* What other ranks put in the same wait is not read: PnetCDF does not wait for them in between.
   */
  const int only_gets = draw(&shared, independent ? 2 : 4) == 0;
  const int wanted = (int)draw(&own, most_requests + 1);
  int chosen[most_requests];
  for (int i = 0; i < wanted; ++i) chosen[i] = (int)draw(&own, (unsigned)variables);
  qsort(chosen, (size_t)wanted, sizeof *chosen, compare_places);
  for (int i = 0; i < wanted; ++i) {
    struct variable* const v = &vars[chosen[i]];
    const enum verb verb = only_gets     ? IGET
                           : independent ? (draw(&own, 2) ? IPUT : BPUT)
                                         : (enum verb)draw(&own, 3);
    if (!draw_call(&calls[count], v, (enum kind)draw(&own, 6), verb != IGET,
                   only_gets ? -1 : cuts[v - vars], 1))
      continue;
    ids[count] = -77;
    const int error = make_call(verb, &calls[count], &ids[count]);
    fprintf(log_file, "  verb %d kind %d type %d var %d: %d%s", verb, calls[count].kind,
            calls[count].type, v->id, error, ids[count] == NC_REQ_NULL ? " null" : "");
    log_state();
    verbs[count] = verb;
    if (error != NC_NOERR && error != NC_ERANGE) {
      end_call(&calls[count]);
    } else {
      ++count;
    }
  }
  /* One is not wanted after all. PnetCDF 1.12.3 counts ids rather than to look at them, so it is
   * left out below. */
  if (count > 0 && draw(&own, 8) == 0) {
    const int i = (int)draw(&own, (unsigned)count);
    int status = -5;
    const int error = ncmpi_cancel(ncid, 1, &ids[i], &status);
    fprintf(log_file, "  cancel %d: %d status %d%s", i, error, status,
            ids[i] == NC_REQ_NULL ? " null" : "");
    log_state();
    end_call(&calls[i]);
    --count;
    memmove(&ids[i], &ids[i + 1], (size_t)(count - i) * sizeof *ids);
    memmove(&verbs[i], &verbs[i + 1], (size_t)(count - i) * sizeof *verbs);
    memmove(&calls[i], &calls[i + 1], (size_t)(count - i) * sizeof *calls);
  }
  const int way = (int)draw(&shared, 4);
  for (int i = 0; i < count; ++i) statuses[i] = -5;
  int error, again = NC_NOERR;
  if (independent) {
    error = way == 0 ? ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL)
                     : ncmpi_wait(ncid, count, ids, statuses);
  } else if (way == 0) {
    error = ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
  } else if (way == 1) {
    error = ncmpi_wait_all(ncid, NC_PUT_REQ_ALL, NULL, NULL);
    again = ncmpi_wait_all(ncid, NC_GET_REQ_ALL, NULL, NULL);
  } else if (way == 2) {
    error = ncmpi_wait_all(ncid, count / 2, ids, statuses);
    again = ncmpi_wait_all(ncid, count - count / 2, ids + count / 2, statuses + count / 2);
  } else {
    error = ncmpi_wait_all(ncid, count, ids, statuses);
  }
  fprintf(log_file, "  wait %d: %d %d", way, error, again);
  const int listed = independent ? way > 0 : way > 1;
  for (int i = 0; i < count; ++i) {
    if (listed) fprintf(log_file, " %d%s", statuses[i], ids[i] == NC_REQ_NULL ? "n" : "");
    log_memory(&calls[i], verbs[i] == IGET ? "got" : "put");
    end_call(&calls[i]);
  }
  log_state();
  forget_taken();
}

static int of_version_1_15(void) { return strncmp(ncmpi_inq_libvers(), "1.15.", 5) == 0; }

static void blocking_call(int independent) {
  struct call c;
  struct variable* const v = draw_variable(&shared);
  enum kind kind = (enum kind)draw(&shared, 6);
  const int puts = (int)draw(&shared, 2);
  const int cut = v->dims ? (int)draw(&shared, (unsigned)v->dims) : (int)draw(&shared, 64);
  /* PnetCDF 1.12.3 hangs where some ranks have nothing of a scalar. */
  if (v->dims == 0 && !independent) return;
  if (kind == VAR && puts && ranks > 1) return; /* all ranks would put all of it */
  const int drawn = draw_call(&c, v, kind, puts, puts ? cut : -1, ranks == 1);
  /* PnetCDF 1.15 hangs or aborts where some ranks put nothing of records. */
  if (!independent && puts && v->recorded && of_version_1_15()) {
    int some_have_nothing = !drawn;
    MPI_Allreduce(MPI_IN_PLACE, &some_have_nothing, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (some_have_nothing) {
      if (drawn) end_call(&c);
      forget_taken();
      return;
    }
  }
  if (!drawn) {
    if (independent || kind == VAR) return;
    memset(&c, 0, sizeof c);
    c.var = v;
    c.kind = kind == VAR1 ? VARA : kind;
    c.type = v->type == NC_CHAR ? 0 : 9;
    for (int d = 0; d < v->dims; ++d) c.stride[d] = 1;
    c.memory = calloc(2, 8);
  }
  const int error =
      make_call(independent ? (puts ? PUT : GET) : (puts ? PUT_ALL : GET_ALL), &c, NULL);
  fprintf(log_file, "  blocking %d puts %d kind %d type %d var %d: %d", independent, puts, c.kind,
          c.type, v->id, error);
  log_memory(&c, "memory");
  log_state();
  end_call(&c);
  forget_taken();
}

/* Parts of several variables at once, in one type. */
static void several_variables(void) {
  int ids[8], count = 0;
  MPI_Offset start[8][most_dims], number[8][most_dims];
  MPI_Offset *starts[8], *counts[8];
  double* memory[8];
  const int puts = (int)draw(&shared, 2);
  const int wanted = 1 + (int)draw(&shared, 8);
  for (int i = 0; i < wanted; ++i) {
    struct variable* const v = draw_variable(&shared);
    struct call c;
    const int cut = v->dims ? v->id % v->dims : 0;
    if (v->type == NC_CHAR || v->dims == 0 ||
        !draw_call(&c, v, VARA, puts, puts ? cut : -1, ranks == 1))
      continue;
    ids[count] = v->id;
    memcpy(start[count], c.start[0], sizeof start[0]);
    memcpy(number[count], c.count[0], sizeof number[0]);
    starts[count] = start[count];
    counts[count] = number[count];
    memory[count] = calloc((size_t)c.elements, sizeof(double));
    for (MPI_Offset e = 0; e < c.elements; ++e) memory[count][e] = 1 + draw(&own, 100);
    end_call(&c);
    ++count;
  }
  const int error = puts ? ncmpi_mput_vara_double_all(ncid, count, ids, starts, counts, memory)
                         : ncmpi_mget_vara_double_all(ncid, count, ids, starts, counts, memory);
  fprintf(log_file, "  several %d puts %d: %d", count, puts, error);
  for (int i = 0; i < count; ++i) {
    if (error == NC_NOERR) fprintf(log_file, " %g", memory[i][0]);
    free(memory[i]);
  }
  log_state();
  forget_taken();
}

/* Each rank puts its share of one record more, or two, of all variables. */
static void add_records(void) {
  const int more = 1 + (int)draw(&shared, 2);
  if (records + more > 8) return;
  for (int v = 0; v < variables; ++v) {
    if (!vars[v].recorded) continue;
    MPI_Offset start[most_dims] = {records}, count[most_dims] = {more};
    const int cut = vars[v].dims - 1;
    for (int d = 1; d < vars[v].dims; ++d) count[d] = vars[v].length[d];
    if (cut > 0) {
      start[cut] = count[cut] * rank / ranks;
      count[cut] = vars[v].length[cut] * (rank + 1) / ranks - start[cut];
    } else if (rank != 0) {
      continue;
    }
    MPI_Offset elements = 1;
    for (int d = 0; d < vars[v].dims; ++d) elements *= count[d];
    char* const memory = malloc((size_t)elements * 8 + 8);
    for (MPI_Offset e = 0; e < elements; ++e)
      set_value(memory + e * (vars[v].type == NC_CHAR ? 1 : 8), vars[v].type == NC_CHAR ? 0 : 9,
                1 + draw(&own, 100));
    const int error =
        vars[v].type == NC_CHAR
            ? ncmpi_iput_vara_text(ncid, vars[v].id, start, count, memory, NULL)
            : ncmpi_iput_vara_double(ncid, vars[v].id, start, count, (double*)memory, NULL);
    check(error, "iput_vara of a new record");
    /* kept until the wait */
    static char* kept[64];
    free(kept[v]);
    kept[v] = memory;
  }
  check(ncmpi_wait_all(ncid, 0, NULL, NULL), "wait_all for nothing");
  check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all of new records");
  records += more;
  fprintf(log_file, "  records %d", records);
  log_state();
}

static void define_variable(int type, int dims, const int* dim_ids, const MPI_Offset* lengths,
                            int recorded) {
  char name[32];
  struct variable* const v = &vars[variables];
  sprintf(name, "v%d", variables);
  memset(v, 0, sizeof *v);
  v->type = type;
  v->dims = dims;
  v->recorded = recorded;
  memcpy(v->length, lengths, (size_t)dims * sizeof *lengths);
  check(ncmpi_def_var(ncid, name, type, dims, dim_ids, &v->id), "def_var");
  ++variables;
}

/* Every element of what has no records gets a value, so that none depends on who wrote what lies
 * around it. */
static void fill_fixed(int from) {
  for (int v = from; v < variables; ++v) {
    if (vars[v].recorded) continue;
    char* const memory = malloc(most_elements * 8);
    for (int e = 0; e < most_elements; ++e)
      set_value(memory + e * (vars[v].type == NC_CHAR ? 1 : 8), vars[v].type == NC_CHAR ? 0 : 9,
                1 + draw(&shared, 100));
    check(vars[v].type == NC_CHAR ? ncmpi_put_var_text_all(ncid, vars[v].id, memory)
                                  : ncmpi_put_var_double_all(ncid, vars[v].id, (double*)memory),
          "put_var_all");
    free(memory);
  }
}

/* All that the file holds but padding between variables, which is nobody's: PnetCDF leaves there
 * what its buffers had. */
static void log_contents(const char* path) {
  MPI_Offset header = 0;
  check(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
  check(ncmpi_inq_header_size(ncid, &header), "inq_header_size");
  check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
  fprintf(log_file, "header %lld\n", (long long)header);
  for (int v = 0; v < variables; ++v) {
    char* const memory = calloc(8 * most_elements, 8);
    check(vars[v].type == NC_CHAR ? ncmpi_get_var_text(ncid, vars[v].id, memory)
                                  : ncmpi_get_var_double(ncid, vars[v].id, (double*)memory),
          "get_var");
    fprintf(log_file, "contents %d %016llx\n", v,
            (unsigned long long)hash_of(memory, 8 * most_elements * 8));
    free(memory);
  }
  check(ncmpi_close(ncid), "close");
}

/* Dimensions of the file that variables are added on, and how many types its format has. */
static int x, y, types;
static MPI_Offset lx, ly;

static void define_file(const char* path) {
  const int formats[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA};
  format = (int)draw(&shared, 3);
  check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | formats[format], MPI_INFO_NULL, &ncid),
        "create");
  int time_dim, z;
  lx = 5 + draw(&shared, 9);
  ly = 1 + draw(&shared, 7);
  const MPI_Offset lz = 1 + draw(&shared, 5);
  check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time_dim), "def_dim");
  check(ncmpi_def_dim(ncid, "x", lx, &x), "def_dim");
  check(ncmpi_def_dim(ncid, "y", ly, &y), "def_dim");
  check(ncmpi_def_dim(ncid, "z", lz, &z), "def_dim");
  types = format == 2 ? 11 : 6;
  const int several = 1 + (int)draw(&shared, 20);
  for (int i = 0; i < several; ++i) {
    const int type = 1 + (int)draw(&shared, (unsigned)types);
    switch (draw(&shared, 6)) {
      case 0:
        define_variable(type, 0, NULL, (MPI_Offset[]){0}, 0);
        break;
      case 1:
        define_variable(type, 1, (int[]){x}, (MPI_Offset[]){lx}, 0);
        break;
      case 2:
        define_variable(type, 3, (int[]){z, y, x}, (MPI_Offset[]){lz, ly, lx}, 0);
        break;
      case 3:
        define_variable(type, 1, (int[]){time_dim}, (MPI_Offset[]){0}, 1);
        break;
      case 4:
        define_variable(type, 3, (int[]){time_dim, y, x}, (MPI_Offset[]){0, ly, lx}, 1);
        break;
      default:
        define_variable(type, 4, (int[]){time_dim, z, y, x}, (MPI_Offset[]){0, lz, ly, lx}, 1);
        break;
    }
  }
}

/* The operation `i`, drawn for all ranks; in independent mode, too, if ranks `may_be_alone`. */
static void operate(int i, const char* path, int may_be_alone) {
  const unsigned operation = draw(&shared, 20);
  fprintf(log_file, "%d: operation %u\n", i, operation);
  if (operation < 9) {
    post_and_wait(0);
  } else if (operation < 13) {
    blocking_call(0);
  } else if (operation < 15) {
    several_variables();
  } else if (operation < 17) {
    add_records();
  } else if (operation == 17 && may_be_alone) {
    /* A rank without a part in a collective put may be done before the others have written. */
    MPI_Barrier(MPI_COMM_WORLD);
    check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    blocking_call(1);
    MPI_Barrier(MPI_COMM_WORLD);
    post_and_wait(1);
    check(ncmpi_end_indep_data(ncid), "end_indep_data");
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (operation == 18 && variables < 40) {
    const int before = variables;
    check(ncmpi_redef(ncid), "redef");
    define_variable(1 + (int)draw(&shared, (unsigned)types), 2, (int[]){y, x},
                    (MPI_Offset[]){ly, lx}, 0);
    check(ncmpi_enddef(ncid), "enddef");
    fill_fixed(before);
    check(ncmpi_sync(ncid), "sync");
  } else if (operation == 19) {
    check(ncmpi_close(ncid), "close");
    check(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open");
    check(ncmpi_buffer_attach(ncid, 20000), "buffer_attach");
  }
}

static void run_seed(int operations, const char* path, const char* log, int may_be_alone) {
  shared.state = seed;
  own.state = seed * 1000u + (unsigned)rank + 17u;
  for (int i = 0; i < 5; ++i) draw(&own, 2), draw(&shared, 2);
  records = variables = 0;
  log_file = fopen(log, "w");
  if (!log_file) MPI_Abort(MPI_COMM_WORLD, 2);
  setvbuf(log_file, NULL, _IOLBF, 0);

  define_file(path);
  check(ncmpi_enddef(ncid), "enddef");
  fill_fixed(0);
  check(ncmpi_buffer_attach(ncid, 20000), "buffer_attach");
  for (int i = 0; i < operations; ++i) operate(i, path, may_be_alone);
  check(ncmpi_buffer_detach(ncid), "buffer_detach");
  check(ncmpi_close(ncid), "close");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) log_contents(path);
  fclose(log_file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5 && argc != 6) MPI_Abort(MPI_COMM_WORLD, 2);
  char* rest = NULL;
  const unsigned first = (unsigned)strtoul(argv[1], &rest, 10);
  const unsigned last = *rest == '-' ? (unsigned)strtoul(rest + 1, NULL, 10) : first;
  for (seed = first; seed <= last; ++seed) {
    char of_seed[16] = "", path[4096], log[4096];
    if (*rest == '-') snprintf(of_seed, sizeof of_seed, ".%u", seed);
    snprintf(path, sizeof path, "%s%s", argv[3], of_seed);
    snprintf(log, sizeof log, "%s%s.%d", argv[4], of_seed, rank);
    run_seed(atoi(argv[2]), path, log, argc == 5);
  }
  MPI_Finalize();
  return 0;
}
