/* log_calls SCENARIO [WORD...]: what HDF5's calls say of a file and its datasets. It knows nothing
 * of the connector, prints what the calls return, and leaves a.h5 (and b.h5) in its folder.
 *
 * The same with the connector and without:
 *   links [tracked] [read]      lists, counts and numbers the links of the root, and from elsewhere
 *   unlink NAME|CRT_ORDER INC|DEC   deletes the links of the root one after another by number
 *   referenced                  reads and writes what references of all kinds lead to
 *   own-memory                  texts of any length are read into memory of the program's own kind
 *   mapped [parallel]           a virtual dataset over datasets of its file and of another
 *   properties KIND [parallel]  files that are created or opened with other properties
 *   storage [early|parallel]    sizes and states of storage, and what works in memory alone
 * With the connector:
 *   refused                     calls that it refuses, each with the sentence that it says
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

#include "log_scenario.h"

#if !H5_VERSION_GE(2, 0, 0)
#define H5Dread_chunk2(dataset, list, first, mask, to, bytes) \
  ((void)(bytes), H5Dread_chunk(dataset, list, first, mask, to))
#endif

enum { length = 12 };

static hid_t create(const char* name) {
  hid_t access = access_list(), file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  return file;
}

static hid_t dataset(hid_t place, const char* name, hid_t creation) {
  hsize_t elements = length;
  hid_t space = H5Screate_simple(1, &elements, NULL);
  hid_t made = H5Dcreate2(place, name, H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Sclose(space);
  return made;
}

static void group(hid_t place, const char* name) {
  H5Gclose(H5Gcreate2(place, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

static herr_t write_from(hid_t where, int first) {
  int values[length], i;
  for (i = 0; i < length; ++i) values[i] = first + i;
  return H5Dwrite(where, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

/* In H5Fflush they wait for each other only if there is metadata to write. */
static void wait_for_others(void) {
  if (asked("parallel")) MPI_Barrier(MPI_COMM_WORLD);
}

static hid_t line(hsize_t elements) { return H5Screate_simple(1, &elements, NULL); }

/* Every stride-th of a line, `count` from `start` on. */
static hid_t part(hsize_t start, hsize_t stride, hsize_t count) {
  hid_t space = line(length);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, NULL);
  return space;
}

static void show(const char* what, hid_t from) {
  int values[length] = {0}, i;
  printf("%s %d:", what, H5Dread(from, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  for (i = 0; i < length; ++i) printf(" %d", values[i]);
  printf("\n");
}

/* ---- links ---- */

static herr_t see_link(hid_t place, const char* name, const H5L_info2_t* info, void* left) {
  (void)place;
  printf(" %s/%d", name, (int)info->type);
  return left != NULL && --*(int*)left == 0;
}

static herr_t see_object(hid_t place, const char* name, const H5O_info2_t* info, void* unused) {
  (void)place, (void)unused;
  printf(" %s/%d", name, (int)info->type);
  return 0;
}

static herr_t see_name(hid_t place, const char* name, void* left) {
  (void)place;
  printf(" %s", name);
  return --*(int*)left == 0;
}

static void see_in_order(hid_t file, const char* where, H5_index_t index, H5_iter_order_t order) {
  H5G_info_t counts;
  H5O_info2_t object;
  H5L_info2_t link;
  hsize_t n, at = 0;
  char name[64];
  int left = 2;
  hid_t opened;
  printf("%s, index %d, order %d\n", where, (int)index, (int)order);
  say(" H5Literate",
      H5Literate_by_name2(file, where, index, order, NULL, see_link, NULL, H5P_DEFAULT));
  say(" two of it",
      H5Literate_by_name2(file, where, index, order, &at, see_link, &left, H5P_DEFAULT));
  say(" ended at", (long long)at);
  say(" the others",
      H5Literate_by_name2(file, where, index, order, &at, see_link, NULL, H5P_DEFAULT));
  say(" ended at", (long long)at);
  say(" H5Lvisit", H5Lvisit_by_name2(file, where, index, order, see_link, NULL, H5P_DEFAULT));
  say(" H5Ovisit",
      H5Ovisit_by_name3(file, where, index, order, see_object, NULL, H5O_INFO_BASIC, H5P_DEFAULT));
  for (n = 0; n < 8; ++n) {
    name[0] = '\0';
    say(" number", (long long)n);
    H5Lget_name_by_idx(file, where, index, order, n, name, sizeof name, H5P_DEFAULT);
    printf("  %s\n", name);
    say("  H5Lget_info_by_idx",
        H5Lget_info_by_idx2(file, where, index, order, n, &link, H5P_DEFAULT));
    say("  H5Oget_info_by_idx",
        H5Oget_info_by_idx3(file, where, index, order, n, &object, H5O_INFO_BASIC, H5P_DEFAULT) < 0
            ? -1
            : (int)object.type);
    say("  H5Gget_info_by_idx",
        H5Gget_info_by_idx(file, where, index, order, n, &counts, H5P_DEFAULT) < 0
            ? -1
            : (long long)counts.nlinks);
    opened = H5Oopen_by_idx(file, where, index, order, n, H5P_DEFAULT);
    say("  H5Oopen_by_idx", opened < 0 ? -1 : (int)H5Iget_type(opened));
    if (opened >= 0) H5Oclose(opened);
  }
}

/* A file whose root has links before and behind the connector's in every order. */
static hid_t make_links(const char* name) {
  hid_t access = access_list(), creation = H5Pcreate(H5P_FILE_CREATE), file;
  if (asked("tracked"))
    H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  file = H5Fcreate(name, H5F_ACC_TRUNC, creation, access);
  group(file, "a");
  H5Dclose(dataset(file, "Z", H5P_DEFAULT));
  group(file, "_slablo");
  H5Dclose(dataset(file, "_slablog_", H5P_DEFAULT));
  group(file, "a/_slablog");
  H5Dclose(dataset(file, "a/_slablog/d", H5P_DEFAULT));
  H5Lcreate_soft("/nothing", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_hard(file, "/", file, "a/up", H5P_DEFAULT, H5P_DEFAULT);
  H5Pclose(creation);
  H5Pclose(access);
  return file;
}

static void see_links(void) {
  const char* places[] = {"/", "a", "a/up"};
  hid_t file = make_links("a.h5"), other;
  hsize_t count = 0;
  int i, index, order, at = 1, left = 2;
  if (asked("read")) {
    H5Fclose(file);
    file = H5Fopen("a.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  }
  other = create("b.h5");
  say("of nothing", H5Literate2(other, H5_INDEX_NAME, H5_ITER_INC, &count, see_link, NULL));
  say("ended at", (long long)count);
  H5Fclose(other);
  for (i = 0; i < 3; ++i) {
    for (index = 0; index < (asked("tracked") ? 2 : 1); ++index) {
      for (order = H5_ITER_INC; order < H5_ITER_NATIVE; ++order) {
        see_in_order(file, places[i], (H5_index_t)index, (H5_iter_order_t)order);
      }
    }
  }
  say("H5Gget_num_objs", H5Gget_num_objs(file, &count));
  say("are", (long long)count);
  say("H5Giterate", H5Giterate(file, "/", &at, see_name, &left));
  say("ended at", at);
  if (!asked("read")) {
    other = create("b.h5");
    group(other, "m");
    say("H5Fmount", H5Fmount(other, "m", file, H5P_DEFAULT));
    see_in_order(other, "m", H5_INDEX_NAME, H5_ITER_INC);
    see_in_order(other, "/", H5_INDEX_NAME, H5_ITER_INC);
    say("H5Funmount", H5Funmount(other, "m"));
    H5Fclose(other);
  }
  H5Fclose(file);
}

static void unlink_by_number(void) {
  const H5_index_t index = asked("NAME") ? H5_INDEX_NAME : H5_INDEX_CRT_ORDER;
  const H5_iter_order_t order = asked("INC") ? H5_ITER_INC : H5_ITER_DEC;
  hid_t file = make_links("a.h5");
  int i;
  for (i = 0; i < 6; ++i) {
    say("H5Ldelete_by_idx", H5Ldelete_by_idx(file, "/", index, order, i < 2 ? 1 : 0, H5P_DEFAULT));
    say("", H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, see_link, NULL));
  }
  say("H5Fclose", H5Fclose(file));
}

/* ---- virtual datasets ---- */

static void map(hid_t list, hid_t shown, const char* file, const char* name, hid_t source) {
  H5Pset_virtual(list, shown, file, name, source);
  H5Sclose(shown);
  H5Sclose(source);
}

static void see_mapped(void) {
  const int fill = -1, nine[9] = {70, 71, 72, 73, 74, 75, 76, 77, 78};
  hid_t a, b, d, other, v, nested, list, memory, selected;
  b = create("b.h5");
  other = dataset(b, "other", H5P_DEFAULT);
  write_from(other, 500);
  a = create("a.h5");
  group(a, "g");
  d = dataset(a, "g/d", H5P_DEFAULT);
  list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_fill_value(list, H5T_NATIVE_INT, &fill);
  map(list, part(0, 2, 5), ".", "/g/d", part(3, 1, 5));
  map(list, part(1, 2, 4), "b.h5", "other", part(0, 3, 4));
  map(list, part(11, 1, 1), ".", "/nothing", part(0, 1, 1));
  v = dataset(a, "v", list);
  H5Pclose(list);
  list = H5Pcreate(H5P_DATASET_CREATE);
  map(list, part(0, 1, length), ".", "/v", part(0, 1, length));
  nested = dataset(a, "nested", list);
  H5Pclose(list);
  say("H5Dwrite", write_from(d, 100));
  show("v, of what is pending", v);
  show("nested", nested);
  say("H5Fflush", H5Fflush(a, H5F_SCOPE_GLOBAL));
  say("H5Fflush", H5Fflush(b, H5F_SCOPE_GLOBAL));
  show("v, of what was flushed", v);
  say("H5Dwrite", write_from(d, 200));
  say("H5Dwrite", write_from(other, 600));
  show("v, of both", v);
  if (!asked("parallel")) {
    selected = part(0, 1, 9);
    memory = line(9);
    say("H5Dwrite", H5Dwrite(v, H5T_NATIVE_INT, memory, selected, H5P_DEFAULT, nine));
    show("v, as written itself", v);
    show("d, as written through v", d);
    show("other, as written through v", other);
    H5Sclose(memory);
    H5Sclose(selected);
    say("H5Dwrite of more than is mapped", write_from(v, 0));
  }
  H5Dclose(d);
  H5Dclose(v);
  H5Dclose(nested);
  H5Dclose(other);
  say("H5Fclose", H5Fclose(b));
  say("H5Fclose", H5Fclose(a));
  a = H5Fopen("a.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  v = H5Dopen2(a, "v", H5P_DEFAULT);
  show("v, of closed files", v);
  H5Dclose(v);
  H5Fclose(a);
}

/* ---- memory of a program's own ---- */

enum { extra = 64 };

static void* take(size_t bytes, void* count) {
  ++*(int*)count;
  return (char*)malloc(bytes + extra) + extra;
}

static void give(void* memory, void* count) {
  if (memory == NULL) return;
  --*(int*)count;
  free((char*)memory - extra);
}

static void see_own_memory(void) {
  const char* fill = "nothing";
  char* texts[length] = {NULL};
  int count = 0;
  hid_t file = create("a.h5"), type = H5Tcopy(H5T_C_S1), space = line(length), one;
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE), transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Tset_size(type, H5T_VARIABLE);
  H5Pset_fill_value(creation, type, &fill);
  one = H5Dcreate2(file, "texts", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Dclose(one);
  H5Fclose(file);
  file = H5Fopen("a.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  one = H5Dopen2(file, "texts", H5P_DEFAULT);
  H5Pset_vlen_mem_manager(transfer, take, &count, give, &count);
  say("H5Dread", H5Dread(one, type, H5S_ALL, H5S_ALL, transfer, texts));
  printf("%s %s\n", texts[0], texts[length - 1]);
  say("taken", count);
  say("H5Treclaim", H5Treclaim(type, space, transfer, texts));
  say("taken", count);
  H5Dclose(one);
  say("H5Fclose", H5Fclose(file));
}

/* ---- references ---- */

static void see_referenced(void) {
  hid_t file = create("a.h5"), space = part(2, 3, 3), found[5];
  hdset_reg_ref_t old_region;
  hobj_ref_t old_object;
  H5R_ref_t object, region;
  int i;
  group(file, "g");
  found[0] = dataset(file, "g/d", H5P_DEFAULT);
  say("H5Dwrite", write_from(found[0], 1));
  H5Dclose(found[0]);
  say("H5Rcreate", H5Rcreate(&old_object, file, "g/d", H5R_OBJECT, H5I_INVALID_HID));
  say("H5Rcreate", H5Rcreate(&old_region, file, "g/d", H5R_DATASET_REGION, space));
  say("H5Rcreate_object", H5Rcreate_object(file, "g/d", H5P_DEFAULT, &object));
  say("H5Rcreate_region", H5Rcreate_region(file, "g/d", space, H5P_DEFAULT, &region));
  found[0] = H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, &old_object);
  found[1] = H5Rdereference2(file, H5P_DEFAULT, H5R_DATASET_REGION, &old_region);
  found[2] = H5Ropen_object(&object, H5P_DEFAULT, H5P_DEFAULT);
  found[3] = H5Ropen_object(&region, H5P_DEFAULT, H5P_DEFAULT);
  found[4] = H5Oopen(file, "g/d", H5P_DEFAULT);
  for (i = 0; i < 5; ++i) {
    show("before", found[i]);
    say("H5Dwrite", write_from(found[i], 100 * i));
    show("after", found[i]);
    say("H5Dclose", H5Dclose(found[i]));
  }
  H5Rdestroy(&object);
  H5Rdestroy(&region);
  H5Sclose(space);
  say("H5Fclose", H5Fclose(file));
}

/* ---- properties of files ---- */

static void set_properties(const char* kind, hid_t creation, hid_t access) {
  herr_t status = 0;
  if (strcmp(kind, "sizes-16") == 0) status = H5Pset_sizes(creation, 16, 16);
  if (strcmp(kind, "addresses-16") == 0) status = H5Pset_sizes(creation, 16, 8);
  if (strcmp(kind, "sizes-4") == 0) status = H5Pset_sizes(creation, 4, 4);
  if (strcmp(kind, "userblock") == 0) status = H5Pset_userblock(creation, 2048);
  if (strcmp(kind, "symbol-k") == 0) status = H5Pset_sym_k(creation, 2, 2);
  if (strcmp(kind, "chunk-k") == 0) status = H5Pset_istore_k(creation, 4);
  if (strcmp(kind, "shared") == 0) {
    status = H5Pset_shared_mesg_nindexes(creation, 1);
    H5Pset_shared_mesg_index(creation, 0, H5O_SHMESG_ALL_FLAG, 10);
  }
  if (strcmp(kind, "track-order") == 0) {
    status = H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  }
  if (strcmp(kind, "persistent") == 0) {
    status = H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_FSM_AGGR, 1, 1);
  }
  if (strcmp(kind, "aggregated") == 0) {
    status = H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_AGGR, 0, 1);
  }
  if (strcmp(kind, "unmanaged") == 0) {
    status = H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_NONE, 0, 1);
  }
  if (strncmp(kind, "page", 4) == 0) {
    status = H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_PAGE,
                                        strcmp(kind, "pages-persistent") == 0, 1);
    H5Pset_file_space_page_size(creation, 4096);
  }
  if (strcmp(kind, "page-buffer") == 0) status = H5Pset_page_buffer_size(access, 65536, 0, 0);
  if (strcmp(kind, "blocks") == 0) {
    status = H5Pset_meta_block_size(access, 1 << 16);
    H5Pset_small_data_block_size(access, 1 << 16);
    H5Pset_sieve_buf_size(access, 1 << 16);
  }
  if (strcmp(kind, "evict") == 0) status = H5Pset_evict_on_close(access, 1);
  if (strcmp(kind, "unlocked") == 0) status = H5Pset_file_locking(access, 0, 1);
  if (strcmp(kind, "newest-1.10") == 0)
    status = H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  if (strcmp(kind, "newest-1.14") == 0)
    status = H5Pset_libver_bounds(access, H5F_LIBVER_V114, H5F_LIBVER_V114);
  say("set", status);
}

static void see_properties(void) {
  const char* kind = arguments[2];
  char name[16];
  hid_t creation = H5Pcreate(H5P_FILE_CREATE), access = access_list(), file, one, found;
  hsize_t block = 0;
  size_t address = 0, size = 0;
  int i;
  set_properties(kind, creation, access);
  file = H5Fcreate("a.h5", H5F_ACC_TRUNC, creation, access);
  say("H5Fcreate", file >= 0);
  if (file < 0) return;
  /* HDF5 2.2.0 itself loses links where lengths have 16 bytes and a group has more of them. */
  for (i = 0; i < (strcmp(kind, "sizes-16") == 0 ? 2 : 20); ++i) {
    snprintf(name, sizeof name, "g%d", i);
    group(file, name);
  }
  one = dataset(file, "d", H5P_DEFAULT);
  say("H5Dcreate", one >= 0);
  say("H5Dwrite", write_from(one, 1));
  say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  wait_for_others(); /* no 1 of a rank comes after another's 100 */
  say("H5Dwrite", write_from(one, 100));
  show("d", one);
  H5Dclose(one);
  say("H5Fclose", H5Fclose(file));
  file = H5Fopen("a.h5", H5F_ACC_RDWR, access);
  say("H5Fopen", file >= 0);
  found = H5Fget_create_plist(file);
  H5Pget_userblock(found, &block);
  H5Pget_sizes(found, &address, &size);
  say("user block", (long long)block);
  say("bytes of an address", (long long)address);
  say("bytes of a size", (long long)size);
  H5Pclose(found);
  one = H5Dopen2(file, "d", H5P_DEFAULT);
  show("d", one);
  say("H5Fflush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  wait_for_others(); /* no rank writes what another still reads */
  say("H5Dwrite", write_from(one, 200));
  H5Dclose(one);
  one = dataset(file, "g1/e", H5P_DEFAULT);
  say("H5Dwrite", write_from(one, 300));
  H5Dclose(one);
  say("H5Ldelete", H5Ldelete(file, "g0", H5P_DEFAULT));
  say("H5Fclose", H5Fclose(file));
  H5Pclose(creation);
  H5Pclose(access);
}

/* ---- storage ---- */

static void see_storage_of(const char* what, hid_t of) {
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  printf("%s: ", what);
  say("H5Dget_storage_size", (long long)H5Dget_storage_size(of));
  say("H5Dget_space_status", H5Dget_space_status(of, &status));
  say("is", (long long)status);
}

static herr_t hand_over(const void** from, size_t* bytes, void* values) {
  *from = values;
  *bytes = sizeof(int) * length / 2;
  return 0;
}

static void see_storage(void) {
  int values[length], some[length] = {0}, i, fill = 7;
  hid_t file = create("a.h5"), list = H5Pcreate(H5P_DATASET_CREATE), one, space;
  if (asked("early")) H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
  one = dataset(file, "d", list);
  see_storage_of("new", one);
  say("H5Dwrite from nowhere", H5Dwrite(one, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, NULL));
  say("H5Dread to nowhere", H5Dread(one, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, NULL));
  write_from(one, 1);
  see_storage_of("written", one);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  see_storage_of("flushed", one);
  H5Dclose(one);
  H5Fclose(file);
  file = H5Fopen("a.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  one = H5Dopen2(file, "d", H5P_DEFAULT);
  see_storage_of("opened", one);
  H5Dread(one, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  space = part(0, 2, length / 2);
  say("H5Dgather", H5Dgather(space, values, H5T_NATIVE_INT, sizeof some, some, NULL, NULL));
  say("H5Dfill", H5Dfill(&fill, H5T_NATIVE_INT, values, H5T_NATIVE_INT, space));
  for (i = 0; i < length; ++i) printf(" %d %d", values[i], some[i]);
  say("H5Dscatter", H5Dscatter(hand_over, some, H5T_NATIVE_INT, space, values));
  for (i = 0; i < length; ++i) printf(" %d", values[i]);
  printf("\n");
  H5Sclose(space);
  H5Dclose(one);
  H5Fclose(file);
}

/* ---- what is refused ---- */

static herr_t first_reason(unsigned n, const H5E_error2_t* error, void* line) {
  (void)n;
  snprintf((char*)line, 512, "%s", error->desc);
  return 1;
}

/* A failure's first reason, which is the connector's sentence. */
static void why(const char* what, long long outcome) {
  char reason[512] = "";
  if (outcome < 0) H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_reason, reason);
  printf("%s %s: %s\n", what, outcome < 0 ? "fails" : "works", reason);
}

static herr_t see_chunk(const hsize_t* offset, unsigned mask, haddr_t at, hsize_t size,
                        void* data) {
  (void)offset, (void)mask, (void)at, (void)size, (void)data;
  return 0;
}

static void see_refused(void) {
  hsize_t chunk = 4, count = 0, offset = 0, room = 0;
  unsigned mask = 0;
  haddr_t address = 0;
  int values[length] = {0};
  hid_t file = create("a.h5"), list = H5Pcreate(H5P_DATASET_CREATE), type = H5Tcopy(H5T_NATIVE_INT);
  hid_t space = line(length), elsewhere, one, unlimited, source, v;
  size_t bytes = sizeof values;
  H5D_chunk_index_t index;
  hsize_t none[1] = {H5S_UNLIMITED};
  group(file, "g");
  why("H5Gcreate", H5Gcreate2(file, "_slablog", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  why("H5Gcreate", H5Gcreate2(file, "/_slablog/g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  why("H5Dcreate", H5Dcreate2(file, "_slablog", type, space, H5P_DEFAULT, list, H5P_DEFAULT));
  why("H5Tcommit", H5Tcommit2(file, "_slablog/t", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  why("H5Lcreate_soft", H5Lcreate_soft("/g", file, "_slablog", H5P_DEFAULT, H5P_DEFAULT));
  why("H5Lcreate_hard", H5Lcreate_hard(file, "g", file, "_slablog/g", H5P_DEFAULT, H5P_DEFAULT));
  why("H5Lmove", H5Lmove(file, "g", file, "/_slablog", H5P_DEFAULT, H5P_DEFAULT));
  why("H5Lmove", H5Lmove(file, "_slablog", H5L_SAME_LOC, "g/h", H5P_DEFAULT, H5P_DEFAULT));
  why("H5Lcopy", H5Lcopy(file, "g", H5L_SAME_LOC, "_slablog/g", H5P_DEFAULT, H5P_DEFAULT));
  why("H5Ldelete", H5Ldelete(file, "_slablog/mark", H5P_DEFAULT));
  elsewhere = H5Gcreate2(file, "g/_slablog", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  why("H5Gcreate elsewhere", elsewhere);
  H5Gclose(elsewhere);
  H5Pset_chunk(list, 1, &chunk);
  one = dataset(file, "d", list);
  write_from(one, 1);
  why("H5Dget_num_chunks", H5Dget_num_chunks(one, H5S_ALL, &count));
  why("H5Dget_chunk_info", H5Dget_chunk_info(one, H5S_ALL, 0, &offset, &mask, &address, &room));
  why("H5Dget_chunk_info_by_coord",
      H5Dget_chunk_info_by_coord(one, &offset, &mask, &address, &room));
  why("H5Dget_chunk_storage_size", H5Dget_chunk_storage_size(one, &offset, &room));
  why("H5Dchunk_iter", H5Dchunk_iter(one, H5P_DEFAULT, see_chunk, NULL));
  why("H5Dread_chunk", H5Dread_chunk2(one, H5P_DEFAULT, &offset, &mask, values, &bytes));
  why("H5Dwrite_chunk", H5Dwrite_chunk(one, H5P_DEFAULT, 0, &offset, 4 * sizeof(int), values));
  why("H5Dget_chunk_index_type", H5Dget_chunk_index_type(one, &index));
  say("H5Dget_offset is undefined", H5Dget_offset(one) == HADDR_UNDEF);
  show("d", one);
  why("H5Fget_file_image", H5Fget_file_image(file, NULL, 0));
  H5Pclose(list);
  list = H5Pcreate(H5P_DATASET_CREATE);
  unlimited = H5Screate_simple(1, &chunk, none);
  offset = 0;
  H5Sselect_hyperslab(unlimited, H5S_SELECT_SET, &offset, NULL, none, NULL);
  source = H5Scopy(unlimited);
  H5Pset_virtual(list, unlimited, ".", "/d", source);
  v = H5Dcreate2(file, "v", H5T_NATIVE_INT, unlimited, H5P_DEFAULT, list, H5P_DEFAULT);
  why("H5Dread of a mapping without an end",
      H5Dread(v, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  H5Dclose(v);
  H5Dclose(one);
  say("H5Fclose", H5Fclose(file));
  file = H5Fopen("a.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  v = H5Dopen2(file, "v", H5P_DEFAULT);
  show("v, of a file opened again", v);
  H5Dclose(v);
  say("H5Fget_file_image of a file that is only read", H5Fget_file_image(file, NULL, 0) > 0);
  H5Fclose(file);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  begin(argc, argv);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  if (strcmp(argv[1], "links") == 0) see_links();
  if (strcmp(argv[1], "unlink") == 0) unlink_by_number();
  if (strcmp(argv[1], "own-memory") == 0) see_own_memory();
  if (strcmp(argv[1], "referenced") == 0) see_referenced();
  if (strcmp(argv[1], "mapped") == 0) see_mapped();
  if (strcmp(argv[1], "properties") == 0) see_properties();
  if (strcmp(argv[1], "storage") == 0) see_storage();
  if (strcmp(argv[1], "refused") == 0) see_refused();
  if (asked("parallel")) MPI_Finalize();
  return 0;
}
