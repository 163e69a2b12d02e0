/* capture_hdf5 FILE SEED [OPERATIONS] [serial]: random calls of HDF5, of which each rank prints
 * what it asked for, element by element, as HDF5's own iterator has it,
 * into FILE.asked.RANK:
 *
 *   CALL DATASET collective|independent FILE_ELEMENTS / MEMORY_ELEMENTS
 *
 * Elements are numbers in the order of the array, runs as FIRST-LAST. Ranks write to columns of
 * their own, so that the file says what was written. It knows nothing of capture.
 * With KILLED in its environment it waits a moment before the last call, and then ends by SIGKILL.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>
#include <mpi.h>

enum { most_rank = 3, most_datasets = 6, memory_bytes = 1 << 20 };

static unsigned long long state;
static int rank_, ranks_ = 1;

static unsigned random_below(unsigned n) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return n == 0 ? 0 : (unsigned)(state >> 33) % n;
}

struct set {
  hid_t id, type;
  char name[64];
  int rank, grows;
  hsize_t extent[most_rank];
};

static struct set sets[most_datasets];
static int count;
static char* memory;

static void fail(const char* what) {
  int has_mpi = 0;
  fprintf(stderr, "capture_hdf5: %s failed\n", what);
  MPI_Initialized(&has_mpi);
  if (has_mpi) MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* The elements of a selection, in the order in which HDF5 walks it. */
static void print_elements(hid_t space) {
  const hssize_t all = H5Sget_select_npoints(space);
  hid_t walk = H5Ssel_iter_create(space, 1, 0);
  hssize_t done = 0;
  while (done < all) {
    hsize_t offsets[64];
    size_t lengths[64], sequences, elements, i;
    H5Ssel_iter_get_seq_list(walk, 64, (size_t)(all - done), &sequences, &elements, offsets,
                             lengths);
    for (i = 0; i < sequences; ++i) {
      printf(" %llu-%llu", (unsigned long long)offsets[i],
             (unsigned long long)(offsets[i] + lengths[i] - 1));
    }
    done += (hssize_t)elements;
  }
  H5Ssel_iter_close(walk);
}

/* Selects at random within [low, low + size) of a dataspace. */
static void select_in(hid_t space, int rank, const hsize_t* low, const hsize_t* size) {
  hsize_t start[most_rank], step[most_rank], number[most_rank], block[most_rank];
  const unsigned kind = random_below(6);
  int d, i;
  if (kind == 0) {
    H5Sselect_none(space);
    return;
  }
  if (kind == 1) { /* points, in any order, none twice */
    hsize_t points[8 * most_rank], total = 1;
    const hsize_t wanted = 1 + random_below(7);
    for (d = 0; d < rank; ++d) total *= size[d];
    const hsize_t first = random_below((unsigned)total), jump = total / (wanted + 1) + 1;
    hsize_t made = 0;
    for (i = 0; (hsize_t)i < wanted && made * jump < total; ++i, ++made) {
      hsize_t at = (first + made * jump) % total;
      for (d = rank; d-- > 0;) {
        points[made * rank + d] = low[d] + at % size[d];
        at /= size[d];
      }
    }
    H5Sselect_elements(space, H5S_SELECT_SET, made, points);
    return;
  }
  const int slabs = kind == 2 ? 2 + (int)random_below(3) : 1;
  for (i = 0; i < slabs; ++i) {
    for (d = 0; d < rank; ++d) {
      block[d] = kind == 3 ? 1 + random_below(2) : 1;
      step[d] = block[d] + (kind == 3 ? random_below(3) : 0);
      start[d] = random_below((unsigned)size[d]);
      hsize_t room = size[d] - start[d];
      if (block[d] > room) block[d] = room, step[d] = room;
      number[d] = 1 + random_below((unsigned)((room - block[d]) / step[d] + 1));
      if (kind != 3) {
        block[d] = number[d];
        step[d] = number[d];
        number[d] = 1;
      }
      start[d] += low[d];
    }
    H5Sselect_hyperslab(space, i == 0 ? H5S_SELECT_SET : H5S_SELECT_OR, start, step, number, block);
  }
}

/* What this rank may write of a dataset: columns of its own in the last dimension. */
static void own_part(const struct set* set, hsize_t* low, hsize_t* size) {
  int d;
  for (d = 0; d < set->rank; ++d) {
    low[d] = 0;
    size[d] = set->extent[d];
  }
  size[set->rank - 1] = set->extent[set->rank - 1] / ranks_;
  low[set->rank - 1] = rank_ * size[set->rank - 1];
}

/* Memory for as many elements as are selected in the file: of some shape. */
static hid_t make_memory(hid_t file) {
  const hsize_t wanted = (hsize_t)H5Sget_select_npoints(file);
  hsize_t dims[2], start[2] = {0, 0}, number[2];
  hid_t space;
  if (random_below(4) == 0 && wanted > 0) { /* one in two columns, somewhere */
    dims[0] = wanted + 2;
    dims[1] = 3;
    start[0] = random_below(2);
    start[1] = random_below(3);
    number[0] = wanted;
    number[1] = 1;
    space = H5Screate_simple(2, dims, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, number, NULL);
    return space;
  }
  dims[0] = wanted == 0 ? 1 : wanted;
  space = H5Screate_simple(1, dims, NULL);
  if (wanted == 0) H5Sselect_none(space);
  return space;
}

static void make_dataset(hid_t file) {
  struct set* set = &sets[count];
  hsize_t most[most_rank], chunk[most_rank];
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
  const unsigned layout = random_below(4);
  int d;
  set->rank = 1 + (int)random_below(most_rank);
  set->grows = 0;
  for (d = 0; d < set->rank; ++d) {
    set->extent[d] = most[d] = 2 + random_below(5);
    chunk[d] = 1 + random_below((unsigned)set->extent[d]);
  }
  set->extent[set->rank - 1] *= ranks_;
  most[set->rank - 1] *= ranks_;
  if (layout > 0) {
    H5Pset_chunk(creation, set->rank, chunk);
    if (layout == 1 && set->rank > 1) most[0] = H5S_UNLIMITED, set->grows = 1;
    if (layout == 2 && ranks_ == 1) H5Pset_deflate(creation, 1);
  }
  if (random_below(3) == 0) { /* a type of the program's */
    set->type = H5Tcreate(H5T_COMPOUND, 12);
    H5Tinsert(set->type, "a", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(set->type, "b", 8, H5T_NATIVE_INT);
  } else {
    const int unset = -1;
    set->type = H5Tcopy(random_below(2) ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT);
    if (random_below(2)) H5Pset_fill_value(creation, H5T_NATIVE_INT, &unset);
  }
  snprintf(set->name, sizeof set->name, "/group %d/set %d", count % 2, count);
  H5Pset_create_intermediate_group(links, 1);
  hid_t space = H5Screate_simple(set->rank, set->extent, most);
  set->id = H5Dcreate2(file, set->name, set->type, space, links, creation, H5P_DEFAULT);
  if (set->id < 0) fail("H5Dcreate");
  H5Sclose(space), H5Pclose(creation), H5Pclose(links);
  ++count;
}

static void print_call(const char* call, const struct set* set, int together, hid_t file,
                       hid_t in_memory) {
  printf("%s %s %s", call, set->name, together ? "collective" : "independent");
  print_elements(file);
  printf(" /");
  print_elements(in_memory);
  printf("\n");
}

/* One call; all ranks agree on which, and of which datasets. */
static void move(hid_t list, int together, unsigned long long* common) {
  hid_t ids[2], types[2], files[2], memories[2];
  const void* from[2];
  void* to[2];
  int parts, reads, i, d, which[2];
  unsigned long long own = state;
  state = *common;
  const int all = ranks_ == 1 && random_below(5) == 0;
  parts = !all && random_below(4) == 0 ? 2 : 1;
  reads = random_below(4) == 0;
  which[0] = (int)random_below((unsigned)count);
  which[1] = (which[0] + 1) % count;
  *common = state;
  state = own;
  for (i = 0; i < parts; ++i) {
    struct set* set = &sets[which[i]];
    hsize_t low[most_rank], size[most_rank];
    hssize_t by[most_rank] = {0, 0, 0};
    files[i] = H5Dget_space(set->id);
    own_part(set, low, size);
    if (!all) select_in(files[i], set->rank, low, size);
    if (!all && random_below(4) == 0 && H5Sget_select_npoints(files[i]) > 0) {
      hsize_t first[most_rank], last[most_rank];
      H5Sget_select_bounds(files[i], first, last);
      for (d = 0; d < set->rank; ++d) by[d] = (hssize_t)low[d] - (hssize_t)first[d];
      H5Soffset_simple(files[i], by);
    }
    memories[i] = make_memory(files[i]);
    ids[i] = set->id;
    types[i] = set->type;
    from[i] = to[i] = memory + i * (memory_bytes / 2);
    print_call(parts > 1 ? (reads ? "H5Dread_multi" : "H5Dwrite_multi")
               : reads   ? "H5Dread"
                         : "H5Dwrite",
               set, together, files[i], all ? files[i] : memories[i]);
  }
  memset(memory, 1 + rank_, memory_bytes);
  herr_t status;
  if (parts > 1) {
    status = reads ? H5Dread_multi(2, ids, types, memories, files, list, to)
                   : H5Dwrite_multi(2, ids, types, memories, files, list, from);
  } else if (all && reads) {
    status = H5Dread(ids[0], types[0], H5S_ALL, H5S_ALL, list, to[0]);
  } else if (all) {
    status = H5Dwrite(ids[0], types[0], H5S_ALL, files[0], list, from[0]);
  } else {
    status = reads ? H5Dread(ids[0], types[0], memories[0], files[0], list, to[0])
                   : H5Dwrite(ids[0], types[0], memories[0], files[0], list, from[0]);
  }
  if (status < 0) fail("a call");
  for (i = 0; i < parts; ++i) H5Sclose(files[i]), H5Sclose(memories[i]);
}

int main(int argc, char** argv) {
  const int serial = argc > 4 && !strcmp(argv[4], "serial");
  if (!serial) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  unsigned long long common = strtoull(argv[2], NULL, 10) * 77 + 5;
  const int operations = argc > 3 ? atoi(argv[3]) : 30;
  memory = malloc(memory_bytes);
  char asked[512];
  snprintf(asked, sizeof asked, "%s.asked.%d", argv[1], rank_);
  if (!freopen(asked, "w", stdout)) return 1;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), list = H5Pcreate(H5P_DATASET_XFER);
  if (!serial) H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_alignment(access, 64, 512);
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (file < 0) fail("H5Fcreate");
  state = common;
  while (count < 3) make_dataset(file);
  common = state;
  int i, d;
  for (i = 0; i < operations; ++i) {
    if (i == operations - 1 && getenv("KILLED")) usleep(150000);
    state = common;
    const unsigned what = random_below(16);
    const int together = !serial && ranks_ > 1;
    struct set* set = &sets[random_below((unsigned)count)];
    common = state;
    if (what == 0 && count < most_datasets) {
      make_dataset(file);
      common = state;
    } else if (what == 1 && set->grows) {
      ++set->extent[0];
      if (H5Dset_extent(set->id, set->extent) < 0) fail("H5Dset_extent");
      printf("H5Dset_extent %s", set->name);
      for (d = 0; d < set->rank; ++d) printf(" %llu", (unsigned long long)set->extent[d]);
      printf("\n");
    } else if (what == 2) {
      H5Fflush(file, H5F_SCOPE_GLOBAL);
      printf("H5Fflush\n");
    } else if (what == 3) {
      char name[32];
      snprintf(name, sizeof name, "attribute %d", i);
      hsize_t three = 3;
      hid_t space = H5Screate_simple(1, &three, NULL);
      hid_t attribute = H5Acreate2(set->id, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
      const int values[3] = {1, 2, 3};
      H5Awrite(attribute, H5T_NATIVE_INT, values);
      H5Aclose(attribute), H5Sclose(space);
    } else {
      if (!serial) H5Pset_dxpl_mpio(list, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
      state = common + 1000003ull * (unsigned)(i + 1) * (unsigned)(rank_ + 1);
      move(list, together, &common);
    }
  }
  if (getenv("KILLED")) fflush(stdout), raise(SIGKILL);
  for (i = 0; i < count; ++i) H5Dclose(sets[i].id), H5Tclose(sets[i].type);
  H5Pclose(access), H5Pclose(list);
  if (H5Fclose(file) < 0) fail("H5Fclose");
  free(memory);
  if (!serial) MPI_Finalize();
  return 0;
}
