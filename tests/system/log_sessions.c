/* log_sessions write FILE [WORD...]: makes a file in five stages, with plain HDF5 calls. Each ends
 * with a flush or a close; when that is done, the environment variable COMPLETED is the stage's
 * number. Words: serial      POSIX driver (default: MPI-IO) collective  metadata is read and
 * written collectively latest      HDF5's newest format deflate     "d" and "n" are in chunks that
 * go through filters wait        after the fourth stage it waits for a line of standard input
 * log_sessions check FILE...: opens each for writing, checks that it is as some stage left it, and
 * prints which.
 *
 * Stage s writes s * 1000 + i into the elements i of /d with i % 3 == s % 3. It makes the group /gS
 * with the attribute "stage", and in it the log dataset "n" (s * 100 + i), the scalar "scalar" (s)
 * and the references "refs" (none), which HDF5 keeps itself, and it removes "n" and "refs" of stage
 * s - 2. The root's attribute "step" is s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>

enum { stages = 5, share = 60 };

static int ranks = 1, rank = 0, serial = 0, filtered = 0;

static int asked(int argc, char** argv, const char* word) {
  int i;
  for (i = 3; i < argc; ++i) {
    if (strcmp(argv[i], word) == 0) return 1;
  }
  return 0;
}

static void must(int good, const char* what, int stage) {
  if (good) return;
  fprintf(stderr, "log_sessions: stage %d: %s failed\n", stage, what);
  H5Eprint2(H5E_DEFAULT, stderr);
  /* The others would wait for this rank for ever. What MPICH's launcher has not read when a rank
   * aborts is lost, and all ranks may come here together. */
  if (serial || ranks == 1) exit(1);
  sleep(1);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Small enough that metadata goes to the file in the middle of a stage, too. */
static void shrink_cache(hid_t access) {
  H5AC_cache_config_t cache;
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  H5Pget_mdc_config(access, &cache);
  cache.set_initial_size = 1;
  cache.initial_size = cache.min_size = cache.max_size = 4096;
  cache.incr_mode = H5C_incr__off;
  cache.flash_incr_mode = H5C_flash_incr__off;
  cache.decr_mode = H5C_decr__off;
  cache.dirty_bytes_threshold = 1024;
  must(H5Pset_mdc_config(access, &cache) >= 0, "H5Pset_mdc_config", 0);
}

static hid_t access_list(int argc, char** argv) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (!serial) H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  if (asked(argc, argv, "latest"))
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  if (asked(argc, argv, "collective")) {
    H5Pset_coll_metadata_write(access, 1);
    H5Pset_all_coll_metadata_ops(access, 1);
  }
  shrink_cache(access);
  return access;
}

static void set_attribute(hid_t object, const char* name, int value) {
  hid_t space, attribute;
  if (H5Aexists(object, name) > 0) {
    attribute = H5Aopen(object, name, H5P_DEFAULT);
  } else {
    space = H5Screate(H5S_SCALAR);
    attribute = H5Acreate2(object, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
  }
  must(H5Awrite(attribute, H5T_NATIVE_INT, &value) >= 0, "H5Awrite", value);
  H5Aclose(attribute);
}

static hid_t make(hid_t place, const char* name, hid_t type, hsize_t length) {
  const hsize_t chunk = 8;
  hid_t space = length == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &length, NULL);
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE), made;
  if (filtered && length > 0 && H5Tget_class(type) == H5T_INTEGER) {
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_deflate(creation, 1);
    H5Pset_fletcher32(creation);
  }
  /* What nobody writes of a dataset with space is else what lies there: Intel MPI leaves what its
   * buffer held where collective writes of metadata have gaps. */
  if (H5Tget_class(type) == H5T_REFERENCE) H5Pset_fill_time(creation, H5D_FILL_TIME_ALLOC);
  made = H5Dcreate2(place, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  must(made >= 0, name, 0);
  H5Pclose(creation);
  H5Sclose(space);
  return made;
}

/* This rank's share of the elements, by turns. */
static void write_elements(hid_t dataset, int length, int from, int step, int base) {
  hid_t space = H5Dget_space(dataset);
  hsize_t one = 1;
  hid_t memory = H5Screate_simple(1, &one, NULL);
  int i;
  for (i = from; i < length; i += step) {
    const int value = base + i;
    hsize_t at = (hsize_t)i;
    if (i / step % ranks != rank) continue;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
    must(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &value) >= 0, "H5Dwrite",
         base);
  }
  H5Sclose(memory);
  H5Sclose(space);
}

static void run_stage(hid_t file, hid_t d, int stage) {
  char name[32];
  hid_t group, dataset;
  set_attribute(file, "step", stage);
  snprintf(name, sizeof name, "g%d", stage);
  group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  set_attribute(group, "stage", stage);
  dataset = make(group, "scalar", H5T_STD_I32LE, 0);
  if (rank == 0)
    must(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &stage) >= 0, "scalar",
         stage);
  H5Dclose(dataset);
  H5Dclose(make(group, "refs", H5T_STD_REF_OBJ, (hsize_t)(share * ranks)));
  dataset = make(group, "n", H5T_STD_I32LE, (hsize_t)(10 * ranks));
  write_elements(dataset, 10 * ranks, 0, 1, stage * 100);
  H5Dclose(dataset);
  H5Gclose(group);
  write_elements(d, share * ranks, stage % 3, 3, stage * 1000);
  if (stage <= 2) return;
  snprintf(name, sizeof name, "g%d/n", stage - 2);
  must(H5Ldelete(file, name, H5P_DEFAULT) >= 0, "H5Ldelete", stage);
  snprintf(name, sizeof name, "g%d/refs", stage - 2);
  must(H5Ldelete(file, name, H5P_DEFAULT) >= 0, "H5Ldelete", stage);
}

static void completed(int stage) {
  char number[16];
  snprintf(number, sizeof number, "%d", stage);
  setenv("COMPLETED", number, 1);
}

static void end_stage(hid_t file, hid_t d, int stage, int closes) {
  run_stage(file, d, stage);
  if (closes) {
    H5Dclose(d);
    must(H5Fclose(file) >= 0, "H5Fclose", stage);
  } else {
    must(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush", stage);
  }
  completed(stage);
}

static void write_file(const char* path, hid_t access, int waits) {
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  hid_t d;
  must(file >= 0, "H5Fcreate", 0);
  d = make(file, "d", H5T_STD_I32LE, (hsize_t)(share * ranks));
  end_stage(file, d, 1, 0);
  end_stage(file, d, 2, 0);
  end_stage(file, d, 3, 1);
  file = H5Fopen(path, H5F_ACC_RDWR, access);
  must(file >= 0, "H5Fopen", 4);
  d = H5Dopen2(file, "d", H5P_DEFAULT);
  end_stage(file, d, 4, 0);
  if (waits) {
    printf("waiting\n");
    fflush(stdout);
    (void)getchar();
  }
  end_stage(file, d, 5, 1);
}

static int get_attribute(hid_t object, const char* name) {
  int value = -1;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  H5Aread(attribute, H5T_NATIVE_INT, &value);
  H5Aclose(attribute);
  return value;
}

static int* read_all(hid_t file, const char* name, hid_t type, int* length) {
  hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  hid_t space = H5Dget_space(dataset);
  int* values;
  *length = (int)H5Sget_simple_extent_npoints(space);
  must(dataset >= 0 && *length > 0, name, 0);
  values = (int*)calloc((size_t)*length, 8);
  must(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, name, 0);
  H5Sclose(space);
  H5Dclose(dataset);
  return values;
}

static int expected(int i, int stage) {
  while (stage > 0 && stage % 3 != i % 3) --stage;
  return stage == 0 ? 0 : stage * 1000 + i;
}

static void check_group(hid_t file, int stage, int last) {
  char name[32];
  int i, length, *values;
  hid_t group;
  snprintf(name, sizeof name, "g%d", stage);
  if (stage > last) {
    must(H5Lexists(file, name, H5P_DEFAULT) == 0, "a group of a later stage is there, which", last);
    return;
  }
  group = H5Gopen2(file, name, H5P_DEFAULT);
  must(get_attribute(group, "stage") == stage, name, last);
  values = read_all(group, "scalar", H5T_NATIVE_INT, &length);
  must(values[0] == stage, "scalar", last);
  free(values);
  must((H5Lexists(group, "n", H5P_DEFAULT) > 0) == (stage > last - 2), "n", last);
  must((H5Lexists(group, "refs", H5P_DEFAULT) > 0) == (stage > last - 2), "refs", last);
  if (stage > last - 2) {
    values = read_all(group, "n", H5T_NATIVE_INT, &length);
    for (i = 0; i < length; ++i) must(values[i] == stage * 100 + i, "an element of n", last);
    free(values);
    values = read_all(group, "refs", H5T_STD_REF_OBJ, &length);
    for (i = 0; i < 2 * length; ++i) must(values[i] == 0, "a reference", last);
    free(values);
  }
  H5Gclose(group);
}

static void check_file(const char* path) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  int i, length, last, *values;
  must(file >= 0, path, 0);
  last = get_attribute(file, "step");
  values = read_all(file, "d", H5T_NATIVE_INT, &length);
  for (i = 0; i < length; ++i) must(values[i] == expected(i, last), "an element of d", last);
  free(values);
  for (i = 1; i <= stages; ++i) check_group(file, i, last);
  must(H5Fclose(file) >= 0, "H5Fclose", last);
  printf("%d\n", last);
}

int main(int argc, char** argv) {
  hid_t access;
  int i;
  if (argc < 3) return 2;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  MPI_Init(&argc, &argv);
  if (strcmp(argv[1], "check") == 0) {
    for (i = 2; i < argc; ++i) check_file(argv[i]);
    return MPI_Finalize();
  }
  serial = asked(argc, argv, "serial");
  filtered = asked(argc, argv, "deflate");
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  access = access_list(argc, argv);
  write_file(argv[2], access, asked(argc, argv, "wait"));
  H5Pclose(access);
  return MPI_Finalize();
}
