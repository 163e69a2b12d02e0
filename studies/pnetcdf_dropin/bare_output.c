/* A program that knows nothing of Slabmark: writes an output file of a model through PnetCDF,
 * several times, and prints what each took.
 *
 *     mpiexec -n 4 bare_output MAPS.nc TEMPLATE.nc OUTPUT.nc RECORDS FILES [vara|fresh]
 *
 * MAPS.nc is in the many-map layout. TEMPLATE.nc (what slabmark bench e3sm --keep leaves) says
 * which dimensions, variables and attributes there are; a variable is laid out by the last map with
 * as many elements, and where there is none the first rank writes all of it. Each rank stands for
 * an equal number of the recorded ones. Requests are posted by ncmpi_iput_varn, one a variable and
 * record, and waited for once a record. With `vara`, variables are put in equal parts by
 * ncmpi_put_vara_all instead: calls that the drop-in passes on. With `fresh` each file is removed
 * before the clock of the next starts; else the next is written over it.
 *
 * A line a file: seconds of the slowest rank from create to close and of its parts, the sums over
 * records of post and wait, and both together of each record. Then the largest memory that a rank
 * ever had and what of it is data, in bytes; last the time of day, in seconds, before the program
 * comes to its end. Maps are read and buffers filled before the clock
 * starts. Errors end the job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>
#include <pnetcdf.h>

#define CHECK(call)                                                \
  do {                                                             \
    int status_ = (call);                                          \
    if (status_ != NC_NOERR) {                                     \
      fprintf(stderr, "%s: %s\n", #call, ncmpi_strerror(status_)); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                \
    }                                                              \
  } while (0)

enum {
  most_maps = 8,
  most_dims = 4,
  most_records = 64,
  create = 0,
  define,
  post,
  wait_,
  close_,
  parts
};

static int rank, ranks;

/* This rank's part of an array: boxes of one row each, of `dims` dimensions, the first of which is
 * the record if there is one. */
struct boxes {
  int count;
  MPI_Offset **starts, **counts;
};

struct map {
  int dims, length[most_dims];
  long long elements, own; /* in all, and of this rank */
  int runs, *offsets, *lengths;
  struct boxes fixed, recorded;
};

struct attribute {
  char name[NC_MAX_NAME + 1], *text;
  MPI_Offset length;
};

struct variable {
  char name[NC_MAX_NAME + 1];
  nc_type type;
  MPI_Datatype in_memory;
  int dims, dim_ids[most_dims], attributes, recorded, map; /* map -1: of the first rank */
  struct attribute* attribute;
  long long elements, own; /* of a record */
  char* data;
};

static struct map maps[most_maps];
static struct variable* variables;
static struct attribute* globals;
static struct {
  char name[NC_MAX_NAME + 1];
  MPI_Offset length;
}* dimensions;
static int map_count, variable_count, dimension_count, global_count, unlimited;
static long long data_bytes;

static struct attribute* read_attributes(int file, int variable, int count) {
  struct attribute* const all = calloc(count + 1, sizeof *all);
  for (int i = 0; i < count; i++) {
    CHECK(ncmpi_inq_attname(file, variable, i, all[i].name));
    CHECK(ncmpi_inq_attlen(file, variable, all[i].name, &all[i].length));
    all[i].text = malloc(all[i].length + 1);
    CHECK(ncmpi_get_att_text(file, variable, all[i].name, all[i].text));
  }
  return all;
}

static int by_offset(const void* a, const void* b) {
  const int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

static void read_map(int file, int number, int recorded, struct map* map) {
  char name[32];
  int id;
  snprintf(name, sizeof name, "D%d.ndims", number);
  CHECK(ncmpi_get_att_int(file, NC_GLOBAL, name, &map->dims));
  snprintf(name, sizeof name, "D%d.dims", number);
  CHECK(ncmpi_get_att_int(file, NC_GLOBAL, name, map->length));
  map->elements = 1;
  for (int d = 0; d < map->dims; d++) map->elements *= map->length[d];

  int* const of_rank = malloc(sizeof(int) * recorded);
  snprintf(name, sizeof name, "D%d.nreqs", number);
  CHECK(ncmpi_inq_varid(file, name, &id));
  CHECK(ncmpi_get_var_int_all(file, id, of_rank));
  MPI_Offset first = 0, count = 0;
  for (int r = 0; r < recorded; r++) {
    if (r < (long long)recorded * rank / ranks)
      first += of_rank[r];
    else if (r < (long long)recorded * (rank + 1) / ranks)
      count += of_rank[r];
  }
  free(of_rank);
  int* both[2] = {malloc(sizeof(int) * (count + 1)), malloc(sizeof(int) * (count + 1))};
  const char* const what[] = {"offsets", "lengths"};
  for (int i = 0; i < 2; i++) {
    snprintf(name, sizeof name, "D%d.%s", number, what[i]);
    CHECK(ncmpi_inq_varid(file, name, &id));
    CHECK(ncmpi_get_vara_int_all(file, id, &first, &count, both[i]));
  }
  /* One run after another, each cut at the rows of the last dimension. */
  int(*const runs)[2] = malloc(sizeof *runs * (count + 1));
  for (MPI_Offset i = 0; i < count; i++) runs[i][0] = both[0][i], runs[i][1] = both[1][i];
  qsort(runs, count, sizeof *runs, by_offset);
  free(both[0]), free(both[1]);
  const int row = map->length[map->dims - 1];
  int end = -1;
  for (MPI_Offset i = 0; i < count; i++) {
    map->own += runs[i][1];
    for (int at = runs[i][0], left = runs[i][1]; left > 0;) {
      const int room = row - at % row, length = left < room ? left : room;
      if (at == end && at % row != 0) {
        map->lengths[map->runs - 1] += length;
      } else {
        if ((map->runs & (map->runs + 1)) == 0) {
          map->offsets = realloc(map->offsets, sizeof(int) * 2 * (map->runs + 1));
          map->lengths = realloc(map->lengths, sizeof(int) * 2 * (map->runs + 1));
        }
        map->offsets[map->runs] = at;
        map->lengths[map->runs++] = length;
      }
      end = at += length;
      left -= length;
    }
  }
  free(runs);
}

static void read_maps(const char* path) {
  int file, id;
  MPI_Offset count, recorded;
  CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
  CHECK(ncmpi_inq_dimid(file, "num_decomp", &id));
  CHECK(ncmpi_inq_dimlen(file, id, &count));
  CHECK(ncmpi_inq_dimid(file, "decomp_nprocs", &id));
  CHECK(ncmpi_inq_dimlen(file, id, &recorded));
  map_count = (int)count;
  for (int m = 0; m < map_count; m++) read_map(file, m + 1, (int)recorded, &maps[m]);
  CHECK(ncmpi_close(file));
}

static MPI_Datatype type_in_memory(nc_type type) {
  switch (type) {
    case NC_CHAR:
      return MPI_CHAR;
    case NC_INT:
      return MPI_INT;
    case NC_FLOAT:
      return MPI_FLOAT;
    default:
      return MPI_DOUBLE;
  }
}

static void read_template(const char* path) {
  int file;
  CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
  CHECK(ncmpi_inq(file, &dimension_count, &variable_count, &global_count, &unlimited));
  dimensions = calloc(dimension_count, sizeof *dimensions);
  for (int d = 0; d < dimension_count; d++)
    CHECK(ncmpi_inq_dim(file, d, dimensions[d].name, &dimensions[d].length));
  globals = read_attributes(file, NC_GLOBAL, global_count);
  variables = calloc(variable_count, sizeof *variables);
  for (int v = 0; v < variable_count; v++) {
    struct variable* const it = &variables[v];
    CHECK(ncmpi_inq_var(file, v, it->name, &it->type, &it->dims, it->dim_ids, &it->attributes));
    it->attribute = read_attributes(file, v, it->attributes);
    it->in_memory = type_in_memory(it->type);
    it->recorded = it->dims > 0 && it->dim_ids[0] == unlimited;
    it->elements = 1;
    for (int d = it->recorded; d < it->dims; d++) it->elements *= dimensions[it->dim_ids[d]].length;
    it->map = -1;
    for (int m = 0; m < map_count; m++)
      if (maps[m].elements == it->elements && maps[m].dims == it->dims - it->recorded) it->map = m;
    it->own = it->map >= 0 ? maps[it->map].own : rank == 0 ? it->elements : 0;
  }
  CHECK(ncmpi_close(file));
}

/* As models and I/O libraries have them: start and count of a box side by side. */
static struct boxes boxes_of(const struct map* map, int recorded) {
  const int dims = map->dims + recorded;
  struct boxes all = {map->runs, malloc(sizeof(MPI_Offset*) * (2 * map->runs + 1)), NULL};
  MPI_Offset* numbers = calloc(2 * dims * map->runs + 1, sizeof *numbers);
  all.counts = all.starts + map->runs;
  for (int i = 0; i < map->runs; i++, numbers += 2 * dims) {
    all.starts[i] = numbers;
    all.counts[i] = numbers + dims;
    long long at = map->offsets[i];
    for (int d = dims; d-- > recorded; at /= map->length[d - recorded]) {
      all.starts[i][d] = at % map->length[d - recorded];
      all.counts[i][d] = 1;
    }
    if (recorded) all.counts[i][0] = 1;
    all.counts[i][dims - 1] = map->lengths[i];
  }
  return all;
}

static void post_record(int file, int record) {
  for (int m = 0; m < map_count; m++)
    for (int i = 0; i < maps[m].runs; i++) maps[m].recorded.starts[i][0] = record;
  for (int v = 0; v < variable_count; v++) {
    const struct variable* const it = &variables[v];
    if (!it->recorded && record > 0) continue;
    if (it->map >= 0) {
      const struct boxes* const b = it->recorded ? &maps[it->map].recorded : &maps[it->map].fixed;
      CHECK(ncmpi_iput_varn(file, v, b->count, b->starts, b->counts, it->data, it->own,
                            it->in_memory, NULL));
    } else if (rank == 0) {
      MPI_Offset start[most_dims] = {0}, count[most_dims];
      for (int d = 0; d < it->dims; d++) count[d] = dimensions[it->dim_ids[d]].length;
      if (it->recorded) start[0] = record, count[0] = 1;
      CHECK(ncmpi_iput_vara(file, v, start, count, it->data, it->own, it->in_memory, NULL));
    }
  }
}

/* Equal parts along the first dimension that has as many as there are ranks. */
static void put_record(int file, int record) {
  for (int v = 0; v < variable_count; v++) {
    const struct variable* const it = &variables[v];
    if (!it->recorded && record > 0) continue;
    MPI_Offset start[most_dims] = {0}, count[most_dims], elements = 1;
    int cut = -1;
    for (int d = 0; d < it->dims; d++) count[d] = dimensions[it->dim_ids[d]].length;
    if (it->recorded) start[0] = record, count[0] = 1;
    for (int d = it->dims; d-- > it->recorded;)
      if (count[d] >= ranks) cut = d;
    if (cut >= 0) {
      start[cut] = count[cut] * rank / ranks;
      count[cut] = count[cut] * (rank + 1) / ranks - start[cut];
    } else if (rank > 0 && it->dims > 0) {
      count[it->dims - 1] = 0;
    }
    for (int d = 0; d < it->dims; d++) elements *= count[d];
    CHECK(ncmpi_put_vara_all(file, v, start, count, it->data, elements, it->in_memory));
  }
}

static double now(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

static void write_file(const char* path, int records, int blocking) {
  double seconds[parts + 1 + most_records] = {0}, slowest[parts + 1 + most_records];
  int file, id;
  /* Each file is a new one, as a model's: PnetCDF would spend time on what the last one held. */
  if (rank == 0) remove(path);
  const double begin = now();
  CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  double before = now();
  seconds[create] = before - begin;
  for (int d = 0; d < dimension_count; d++)
    CHECK(ncmpi_def_dim(file, dimensions[d].name,
                        d == unlimited ? NC_UNLIMITED : dimensions[d].length, &id));
  for (int v = 0; v < variable_count; v++) {
    const struct variable* const it = &variables[v];
    CHECK(ncmpi_def_var(file, it->name, it->type, it->dims, it->dim_ids, &id));
    for (int a = 0; a < it->attributes; a++)
      CHECK(ncmpi_put_att_text(file, id, it->attribute[a].name, it->attribute[a].length,
                               it->attribute[a].text));
  }
  for (int a = 0; a < global_count; a++)
    CHECK(ncmpi_put_att_text(file, NC_GLOBAL, globals[a].name, globals[a].length, globals[a].text));
  CHECK(ncmpi_enddef(file));
  double after = now();
  seconds[define] = after - before;
  for (int record = 0; record < records; record++) {
    const double first = before = after;
    if (blocking)
      put_record(file, record);
    else
      post_record(file, record);
    after = now();
    seconds[post] += after - before;
    before = after;
    if (!blocking) CHECK(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
    after = now();
    seconds[wait_] += after - before;
    seconds[parts + 1 + record] = after - first;
  }
  CHECK(ncmpi_close(file));
  before = now();
  seconds[close_] = before - after;
  seconds[parts] = before - begin;
  MPI_Reduce(seconds, slowest, parts + 1 + records, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank > 0) return;
  printf("open-to-close %.6f create %.6f define %.6f post %.6f wait %.6f close %.6f",
         slowest[parts], slowest[create], slowest[define], slowest[post], slowest[wait_],
         slowest[close_]);
  for (int record = 0; record < records; record++)
    printf(" record%d %.6f", record, slowest[parts + 1 + record]);
  printf("\n");
}

static double high_water(void) {
  char line[256];
  double kib = 0;
  FILE* const status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %lf kB", &kib);
  if (status) fclose(status);
  return kib * 1024;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int records = argc > 4 ? atoi(argv[4]) : 0, files = argc > 5 ? atoi(argv[5]) : 0;
  if (argc < 6 || records < 1 || records > most_records || files < 1) {
    fprintf(stderr,
            "usage: bare_output MAPS.nc TEMPLATE.nc OUTPUT.nc RECORDS FILES [vara|fresh]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  read_maps(argv[1]);
  read_template(argv[2]);
  for (int m = 0; m < map_count; m++) {
    maps[m].fixed = boxes_of(&maps[m], 0);
    maps[m].recorded = boxes_of(&maps[m], 1);
  }
  const int blocking = argc > 6 && !strcmp(argv[6], "vara");
  const int fresh = argc > 6 && !strcmp(argv[6], "fresh");
  for (int v = 0; v < variable_count; v++) {
    struct variable* const it = &variables[v];
    int size;
    MPI_Type_size(it->in_memory, &size);
    /* An even distribution differs a little from that of the map. */
    const long long room = blocking ? it->elements : it->own;
    it->data = malloc(room * size + 1);
    for (long long i = 0; i < room; i++) {
      if (it->in_memory == MPI_DOUBLE)
        ((double*)it->data)[i] = rank + v + (double)i;
      else if (it->in_memory == MPI_FLOAT)
        ((float*)it->data)[i] = (float)(rank + v + i);
      else if (it->in_memory == MPI_INT)
        ((int*)it->data)[i] = (int)(rank + v + i);
      else
        it->data[i] = (char)('a' + i % 26);
    }
    data_bytes += room * size;
  }
  for (int i = 0; i < files; i++) {
    if (fresh && rank == 0) unlink(argv[3]);
    write_file(argv[3], records, blocking);
  }
  double memory[2] = {high_water(), (double)data_bytes}, most[2];
  MPI_Reduce(memory, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  if (rank == 0) {
    printf("memory %.0f data %.0f\n", most[0], most[1]);
    printf("ended %ld.%06ld\n", (long)end.tv_sec, end.tv_nsec / 1000);
  }
  MPI_Finalize();
  return 0;
}
