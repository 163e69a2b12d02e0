/* What a program does with the library for decomposed arrays, for its tests: rearrange_cases CASE
 * FILE [IN_FLIGHT IO_RANKS]. The files are those of examples/rearrange. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>

#include "accel/c_library/api/rearrange_format.h"
#include "accel/c_library/api/rearrange_hdf5.h"
#include "accel/c_library/api/rearrange_pnetcdf.h"

enum { levels = 5, columns = 96, records = 3 };

static int rank, ranks, own;
static int64_t offsets[levels * columns];
static double area_data[columns];
static float t_data[levels * columns];
static int decomposed, area_decomp, t_decomp; /* the system, and its decompositions */

static void must(int code, const char* call) {
  if (code == SLABMARK_OK) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, call, slabmark_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must_native(int error, const char* call) {
  if (error >= 0) return;
  fprintf(stderr, "rank %d: %s failed: %d\n", rank, call, error);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static long kib_of_addresses(void) {
  char line[256];
  long kib = 0;
  FILE* const status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) {
    if (sscanf(line, "VmSize: %ld", &kib) == 1) break;
  }
  if (status) fclose(status);
  return kib;
}

static void deal_out(void) {
  own = (columns - rank + ranks - 1) / ranks;
  for (int l = 0; l < levels; ++l) {
    for (int c = 0; c < own; ++c) offsets[l * own + c] = l * columns + rank + c * ranks;
  }
  for (int c = 0; c < own; ++c) area_data[c] = 0.5 * (double)offsets[c];
}

static void make_record(int record) {
  for (int i = 0; i < own * levels; ++i) t_data[i] = (float)(1000 * record + offsets[i]);
}

static void init(void) {
  const int64_t extents[] = {levels, columns};
  must(slabmark_init(MPI_COMM_WORLD, &decomposed), "slabmark_init");
  must(slabmark_init_decomp(decomposed, SLABMARK_FLOAT64, 1, extents + 1, own, offsets,
                            &area_decomp),
       "slabmark_init_decomp");
  must(slabmark_init_decomp(decomposed, SLABMARK_FLOAT32, 2, extents, own * levels, offsets,
                            &t_decomp),
       "slabmark_init_decomp");
}

static void write_records(int file, int t) {
  static float back[levels * columns];
  for (int record = 0; record < records; ++record) {
    make_record(record);
    must(slabmark_set_frame(file, t, record), "slabmark_set_frame");
    must(slabmark_write_darray(file, t, t_decomp, own * levels, t_data, NULL), "T");
    /* More gets than puts: the record counts. */
    for (int gets = 0; gets < 2; ++gets)
      must(slabmark_iget_darray(file, t, t_decomp, own * levels, back), "T");
    must(slabmark_flush(file), "slabmark_flush");
    must_native(memcmp(back, t_data, (size_t)(own * levels) * sizeof *back) ? -1 : 0, "iget");
  }
}

static int count_wrong(int record) {
  int wrong = 0;
  for (int i = 0; i < own * levels; ++i) wrong += t_data[i] != (float)(1000 * record + offsets[i]);
  return wrong;
}

static int read_wrong(int file, int t) {
  int wrong = 0;
  for (int record = records - 1; record >= 0; --record) {
    must(slabmark_set_frame(file, t, record), "slabmark_set_frame");
    must(slabmark_read_darray(file, t, t_decomp, own * levels, t_data), "T");
    wrong += count_wrong(record);
  }
  return wrong;
}

/* In define mode. */
static int define_netcdf(MPI_Comm comm, const char* path) {
  int ncid, time, lev, ncol, area, t;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nc_var_align_size", "1");
  must_native(ncmpi_create(comm, path, NC_CLOBBER | NC_64BIT_DATA, info, &ncid), "create");
  ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time);
  ncmpi_def_dim(ncid, "lev", levels, &lev);
  ncmpi_def_dim(ncid, "ncol", columns, &ncol);
  ncmpi_def_var(ncid, "area", NC_DOUBLE, 1, (int[]){ncol}, &area);
  ncmpi_def_var(ncid, "T", NC_FLOAT, 3, (int[]){time, lev, ncol}, &t);
  ncmpi_put_att_text(ncid, t, "units", 1, "K");
  MPI_Info_free(&info);
  return ncid;
}

/* By all ranks. */
static int create_netcdf(const char* path) {
  const int ncid = define_netcdf(MPI_COMM_WORLD, path);
  must_native(ncmpi_enddef(ncid), "enddef");
  return ncid;
}

/* One element a request, as PnetCDF's own calls do it. */
static void put_natively(int ncid, int variable, int dims, int record, int count, const void* data,
                         MPI_Datatype type) {
  MPI_Offset** const starts = malloc(sizeof *starts * (size_t)(count + 1));
  MPI_Offset* const places = calloc((size_t)(3 * count + 1), sizeof *places);
  for (int i = 0; i < count; ++i) {
    starts[i] = places + 3 * i;
    if (dims == 1) starts[i][0] = offsets[i];
    if (dims == 3) {
      starts[i][0] = record;
      starts[i][1] = offsets[i] / columns;
      starts[i][2] = offsets[i] % columns;
    }
  }
  must_native(ncmpi_put_varn_all(ncid, variable, count, starts, NULL, data, count, type),
              "put_varn");
  free(places);
  free(starts);
}

static void native(const char* path) {
  const int ncid = create_netcdf(path);
  put_natively(ncid, 0, 1, 0, own, area_data, MPI_DOUBLE);
  for (int record = 0; record < records; ++record) {
    make_record(record);
    put_natively(ncid, 1, 3, record, own * levels, t_data, MPI_FLOAT);
  }
  must_native(ncmpi_close(ncid), "close");
}

/* One variable through PnetCDF, the other through the library, in a file that both have open. */
static void adopt(const char* path) {
  int file = 0, t = -1, time = -1, code;
  MPI_Offset length = 0;
  const int ncid = create_netcdf(path);
  put_natively(ncid, 0, 1, 0, own, area_data, MPI_DOUBLE);
  init();
  must(slabmark_adopt_pnetcdf(decomposed, ncid, SLABMARK_WRITE, MPI_INFO_NULL, &file), "adopt");
  must(slabmark_inq_varid(file, "T", &t), "T");
  write_records(file, t);
  ncmpi_inq_unlimdim(ncid, &time);
  ncmpi_inq_dimlen(ncid, time, &length);
  const int wrong = read_wrong(file, t);
  must(slabmark_set_frame(file, t, records), "slabmark_set_frame");
  code = slabmark_read_darray(file, t, t_decomp, own * levels, t_data);
  must(slabmark_close(file), "slabmark_close");
  must_native(ncmpi_close(ncid), "close");
  printf("rank %d: %d records, %d wrong, beyond them %d\n", rank, (int)length, wrong, code);
}

/* What a record has for PnetCDF. */
static int wrong_natively(int ncid, int variable, int record) {
  static float all[levels * columns];
  const MPI_Offset start[] = {record, 0, 0}, count[] = {1, levels, columns};
  must_native(ncmpi_get_vara_float_all(ncid, variable, start, count, all), "get_vara");
  for (int i = 0; i < own * levels; ++i) t_data[i] = all[offsets[i]];
  return count_wrong(record);
}

/* Defined by one rank, which leaves it in define mode, under a path of the folder it is in. `how`:
 * "take elsewhere" closes it in another folder, "take refused" with a call that is refused. */
static void take(const char* how, char* path) {
  int file = 0, area = -1, t = -1, ncid = -1;
  char* const name = strrchr(path, '/') + 1;
  name[-1] = 0;
  must_native(chdir(path), "chdir");
  if (rank == 0) ncid = define_netcdf(MPI_COMM_SELF, name);
  init();
  const int other = slabmark_take_pnetcdf(decomposed, "/dev/null", ncid, MPI_INFO_NULL, &file);
  must(slabmark_take_pnetcdf(decomposed, name, ncid, MPI_INFO_NULL, &file), "take");
  must(slabmark_inq_varid(file, "area", &area), "area");
  must(slabmark_inq_varid(file, "T", &t), "T");
  must(slabmark_write_darray(file, area, area_decomp, own, area_data, NULL), "area");
  write_records(file, t);
  if (strcmp(how, "take elsewhere") == 0) must_native(chdir("/"), "chdir");
  if (strcmp(how, "take refused") == 0) {
    must(slabmark_set_frame(file, t, records), "slabmark_set_frame");
    slabmark_write_darray(file, t, t_decomp, own * levels - (rank == 0), t_data, NULL);
  }
  printf("rank %d: %d %d\n", rank, other, slabmark_close(file));
}

static void write_pending(int file, int variable, int record) {
  make_record(record);
  must(slabmark_set_frame(file, variable, record), "slabmark_set_frame");
  must(slabmark_write_darray(file, variable, t_decomp, own * levels, t_data, NULL), "write");
}

/* Of a record that is there because holes are filled. */
static int wrong_of_filled(int file, int ncid, int variable) {
  static float all[levels * columns];
  const int64_t extents[] = {levels, columns};
  const MPI_Offset start[] = {4, 0, 0}, count[] = {1, levels, columns};
  const float fill = 9.5F;
  int none = 0, wrong = 0;
  must(slabmark_init_decomp(decomposed, SLABMARK_FLOAT32, 2, extents, 0, NULL, &none),
       "slabmark_init_decomp");
  must(slabmark_set_frame(file, variable, start[0]), "slabmark_set_frame");
  must(slabmark_write_darray(file, variable, none, 0, NULL, &fill), "write");
  must(slabmark_flush(file), "slabmark_flush");
  must_native(ncmpi_get_vara_float_all(ncid, variable, start, count, all), "get_vara");
  for (int i = 0; i < levels * columns; ++i) wrong += all[i] != fill;
  return wrong;
}

/* PnetCDF is in a mode in which it counts no records; then variables move, and one comes, while a
 * record is pending; and then the file is open there once more, and knows of no record that is new.
 */
static void changed(const char* path) {
  static const char text[8192];
  int file = 0, again = 0, dims[3], u = -1, other = -1, wrong = 0;
  const int ncid = create_netcdf(path), t = 1;
  init();
  must(slabmark_adopt_pnetcdf(decomposed, ncid, SLABMARK_WRITE, MPI_INFO_NULL, &file), "adopt");
  ncmpi_begin_indep_data(ncid);
  write_pending(file, t, 0);
  const int independent = slabmark_flush(file);
  ncmpi_end_indep_data(ncid);
  write_pending(file, t, 0);
  must(slabmark_flush(file), "slabmark_flush");
  wrong += wrong_natively(ncid, t, 0);
  write_pending(file, t, 1);
  must_native(ncmpi_redef(ncid), "redef");
  const int defining =
      slabmark_adopt_pnetcdf(decomposed, ncid, SLABMARK_WRITE, MPI_INFO_NULL, &again);
  ncmpi_inq_vardimid(ncid, t, dims);
  ncmpi_def_var(ncid, "U", NC_FLOAT, 3, dims, &u);
  ncmpi_put_att_text(ncid, NC_GLOBAL, "history", sizeof text, text);
  must_native(ncmpi_enddef(ncid), "enddef");
  write_pending(file, u, 1);
  must(slabmark_flush(file), "slabmark_flush");
  wrong += wrong_natively(ncid, t, 0) + wrong_natively(ncid, t, 1) + wrong_natively(ncid, u, 1);
  /* A record that is pending can be read. */
  write_pending(file, u, 2);
  must(slabmark_read_darray(file, u, t_decomp, own * levels, t_data), "read");
  wrong += count_wrong(2);
  must(slabmark_close(file), "slabmark_close");
  must_native(ncmpi_sync(ncid), "sync");

  must_native(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &other), "open");
  make_record(3);
  put_natively(ncid, t, 3, 3, own * levels, t_data, MPI_FLOAT);
  must_native(ncmpi_sync(ncid), "sync");
  must(slabmark_adopt_pnetcdf(decomposed, other, SLABMARK_WRITE, MPI_INFO_NULL, &file), "adopt");
  write_pending(file, u, 3);
  must(slabmark_flush(file), "slabmark_flush");
  wrong += wrong_of_filled(file, other, u);
  must(slabmark_close(file), "slabmark_close");
  must_native(ncmpi_close(other), "close");
  wrong += wrong_natively(ncid, t, 3) + wrong_natively(ncid, u, 3);
  must_native(ncmpi_close(ncid), "close");
  printf("rank %d: %d %d, %d wrong\n", rank, independent, defining, wrong);
}

/* `layout`: 'c' contiguous, 't' one chunk a step, 'g' of a single step that more may follow, 'z'
 * with a filter, 's' smaller chunks, 'l' contiguous without space, 'e' in another file, 'n' of no
 * extent. */
static void make_dataset(hid_t hdf5, const char* name, hid_t type, char layout) {
  const hsize_t extent[] = {layout == 'g' ? 1 : records, levels, columns};
  const hsize_t most[] = {H5S_UNLIMITED, levels, columns};
  const hsize_t chunk[] = {1, layout == 's' ? 1 : levels, columns};
  const int fixed = strchr("clen", layout) != NULL;
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hid_t space = layout == 'n' ? H5Screate(H5S_NULL)
                                    : H5Screate_simple(fixed ? 1 : 3, fixed ? extent + 2 : extent,
                                                       layout == 'g' ? most : NULL);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  if (!strchr("le", layout)) H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  if (layout == 'e') H5Pset_external(creation, "beside", 0, H5F_UNLIMITED);
  if (!fixed) H5Pset_chunk(creation, 3, chunk);
  if (layout == 'z') H5Pset_fletcher32(creation);
  const hid_t dataset = H5Dcreate2(hdf5, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (dataset < 0) must_native(-1, "H5Dcreate2");
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(creation);
}

/* A file of this rank alone, of which HDF5 keeps bytes in memory. */
static int adopt_without_mpio(const char* path, hid_t access) {
  char own_path[4096];
  int file = 0;
  snprintf(own_path, sizeof own_path, "%s.%d", path, rank);
  const hid_t id = H5Fcreate(own_path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const int code = slabmark_adopt_hdf5(decomposed, id, SLABMARK_WRITE, MPI_INFO_NULL, &file);
  H5Fclose(id);
  return code;
}

static void hdf5(const char* path, hsize_t user_block) {
  char beside[4096];
  int file = 0, area = -1, t = -1, number = -1;
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(creation, user_block);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t id = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
  H5Pclose(creation);
  make_dataset(id, "area", H5T_NATIVE_DOUBLE, 'c');
  make_dataset(id, "T", H5T_NATIVE_FLOAT, 't');
  make_dataset(id, "filtered", H5T_NATIVE_FLOAT, 'z');
  make_dataset(id, "small", H5T_NATIVE_FLOAT, 's');
  make_dataset(id, "big", H5T_IEEE_F32BE, 't');
  make_dataset(id, "grows", H5T_NATIVE_FLOAT, 'g');
  make_dataset(id, "outside", H5T_NATIVE_FLOAT, 'e');
  make_dataset(id, "null", H5T_NATIVE_FLOAT, 'n');
  init();
  must(slabmark_adopt_hdf5(decomposed, id, SLABMARK_WRITE, MPI_INFO_NULL, &file), "adopt");
  must(slabmark_inq_varid(file, "area", &area), "area");
  must(slabmark_inq_varid(file, "T", &t), "T");
  must(slabmark_write_darray(file, area, area_decomp, own, area_data, NULL), "area");
  write_records(file, t);
  must(slabmark_inq_varid(file, "grows", &t), "grows");
  const hid_t grows = H5Dopen2(id, "grows", H5P_DEFAULT);
  const hsize_t extent[] = {records, levels, columns};
  H5Dset_extent(grows, extent);
  H5Dclose(grows);
  must(slabmark_inq_varid(file, "grows", &number), "grows");
  write_records(file, number);
  must(slabmark_close(file), "slabmark_close");
  H5Fclose(id);
  H5Pclose(access);
  if (rank == 0) { /* through MPI-IO HDF5 gives all of them space at once */
    const hid_t alone = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    make_dataset(alone, "late", H5T_NATIVE_FLOAT, 'l');
    snprintf(beside, sizeof beside, "%s.beside", path);
    const hid_t other = H5Fcreate(beside, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    make_dataset(other, "T", H5T_NATIVE_FLOAT, 't');
    H5Fclose(other);
    H5Lcreate_external(beside, "T", alone, "linked", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(alone);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 16, 1);
  printf("rank %d: %d %d %d\n", rank, number - t, adopt_without_mpio(path, access),
         adopt_without_mpio(path, H5P_DEFAULT));
  H5Pclose(access);

  must(slabmark_open_hdf5(decomposed, path, SLABMARK_READ, MPI_INFO_NULL, &file), "open");
  must(slabmark_inq_varid(file, "T", &t), "T");
  const int wrong = read_wrong(file, t);
  printf("rank %d: %d wrong", rank, wrong);
  const char* const names[] = {"filtered", "small",  "big",  "late",
                               "outside",  "linked", "null", "none"};
  for (int n = 0; n < 8; ++n) printf(" %d", slabmark_inq_varid(file, names[n], &number));
  must(slabmark_set_frame(file, t, records), "slabmark_set_frame");
  printf(" %d\n", slabmark_read_darray(file, t, t_decomp, own * levels, t_data));
  must(slabmark_close(file), "slabmark_close");
  printf("rank %d: %d %d\n", rank,
         slabmark_open_hdf5(decomposed, "/nowhere/a.h5", SLABMARK_READ, MPI_INFO_NULL, &file),
         slabmark_open_pnetcdf(decomposed, path, SLABMARK_READ, MPI_INFO_NULL, &file));
}

/* One rank opens a file by HDF5, and makes its attribute or changes it. */
static void put_time(hid_t hdf5, int value) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t time = H5Aexists(hdf5, "time") > 0 ? H5Aopen(hdf5, "time", H5P_DEFAULT)
                                                 : H5Acreate2(hdf5, "time", H5T_NATIVE_INT, space,
                                                              H5P_DEFAULT, H5P_DEFAULT);
  must_native(H5Awrite(time, H5T_NATIVE_INT, &value), "H5Awrite");
  H5Aclose(time);
  H5Sclose(space);
}

static void fill_hdf5(const char* path) {
  int file = 0, area = -1, t = -1;
  must(slabmark_open_hdf5(decomposed, path, SLABMARK_WRITE, MPI_INFO_NULL, &file), path);
  must(slabmark_inq_varid(file, "area", &area), "area");
  must(slabmark_inq_varid(file, "T", &t), "T");
  must(slabmark_write_darray(file, area, area_decomp, own, area_data, NULL), "area");
  write_records(file, t);
  must(slabmark_close(file), "slabmark_close");
}

/* HDF5 defines the first of three files. */
static void define_once(const char* folder) {
  const char* const names[] = {"first.h5", "same.h5", "later.h5"};
  const double latitudes[] = {-90, 0, 90};
  const hsize_t three = 3;
  int definition = 0;
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, names[0]);
  init();
  if (rank == 0) {
    const hid_t first = H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
    make_dataset(first, "area", H5T_NATIVE_DOUBLE, 'c');
    make_dataset(first, "T", H5T_NATIVE_FLOAT, 't');
    const hid_t space = H5Screate_simple(1, &three, NULL);
    const hid_t lat =
        H5Dcreate2(first, "lat", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    must_native(H5Dwrite(lat, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, latitudes), "lat");
    H5Dclose(lat);
    H5Sclose(space);
    put_time(first, 1);
    H5Fclose(first);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  must(slabmark_keep_definition(decomposed, path, &definition), "slabmark_keep_definition");
  for (int i = 0; i < 3; ++i) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    if (i > 0)
      must(slabmark_create_defined(definition, path, MPI_INFO_NULL), "slabmark_create_defined");
    if (i == 2 && rank == 0) {
      const hid_t later = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
      put_time(later, 2);
      H5Fclose(later);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    fill_hdf5(path);
  }
}

static void must_go(const char* folder) {
  if (chdir(folder) != 0) must_native(-1, "chdir");
}

/* The program goes to another directory when it has files open by their names alone. */
static void leave(const char* folder) {
  int file = 0, hdf5 = 0, pnetcdf = 0;
  must_go(folder);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t id = H5Fcreate("a.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const int ncid = create_netcdf("a.nc");
  init();
  must_go("beside");
  hdf5 = slabmark_adopt_hdf5(decomposed, id, SLABMARK_WRITE, MPI_INFO_NULL, &file);
  pnetcdf = slabmark_adopt_pnetcdf(decomposed, ncid, SLABMARK_WRITE, MPI_INFO_NULL, &file);
  printf("rank %d: %d %d\n", rank, hdf5, pnetcdf);
  must_go("..");
  must(slabmark_adopt_hdf5(decomposed, id, SLABMARK_WRITE, MPI_INFO_NULL, &file), "a.h5");
  must(slabmark_close(file), "slabmark_close");
  must(slabmark_adopt_pnetcdf(decomposed, ncid, SLABMARK_WRITE, MPI_INFO_NULL, &file), "a.nc");
  must(slabmark_close(file), "slabmark_close");
  must_native(ncmpi_close(ncid), "close");
  H5Fclose(id);
  H5Pclose(access);
}

/* Where the ranks for I/O alone never were. */
static void write_elsewhere(const char* folder) {
  const int64_t extent = columns;
  int file = 0, variable = -1, decomp = 0;
  must_go(folder);
  must(slabmark_open_raw(decomposed, "a.raw", SLABMARK_CREATE, MPI_INFO_NULL, &file), "a.raw");
  must(slabmark_def_raw(file, SLABMARK_FLOAT64, columns, 0, 0, &variable), "slabmark_def_raw");
  must(slabmark_init_decomp(decomposed, SLABMARK_FLOAT64, 1, &extent, own, offsets, &decomp),
       "slabmark_init_decomp");
  must(slabmark_write_darray(file, variable, decomp, own, area_data, NULL), "write");
  must(slabmark_close(file), "slabmark_close");
}

/* On the ranks of the program, that is. False on those for I/O alone, when all is done. */
static int init_with_io_ranks(int io_ranks, const char* in_flight) {
  MPI_Comm comm = MPI_COMM_NULL;
  signal(SIGXFSZ, SIG_IGN);
  must(slabmark_init_io(MPI_COMM_WORLD, io_ranks, &comm, &decomposed), "slabmark_init_io");
  if (comm == MPI_COMM_NULL) return 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_free(&comm);
  must(slabmark_set_option(decomposed, "in_flight", in_flight), "in_flight");
  return 1;
}

/* The program ends with a system, and a file, that it has forgotten, while records are under way.
 */
static void forget(const char* path) {
  const int64_t share = 1 << 19, elements = share * ranks, start = rank * share;
  int file = 0, variable = -1, decomp = 0;
  float* const data = calloc((size_t)share, sizeof *data);
  must(slabmark_init_decomp_runs(decomposed, SLABMARK_FLOAT32, 1, &elements, 1, &start, &share,
                                 &decomp),
       "slabmark_init_decomp_runs");
  must(slabmark_open_raw(decomposed, path, SLABMARK_CREATE, MPI_INFO_NULL, &file), path);
  must(slabmark_def_raw(file, SLABMARK_FLOAT32, elements, 0, elements * 4, &variable),
       "slabmark_def_raw");
  for (int record = 0; record < 4; ++record) {
    must(slabmark_set_frame(file, variable, record), "slabmark_set_frame");
    must(slabmark_iput_darray(file, variable, decomp, share, data, NULL), "iput");
    must(slabmark_flush(file), "slabmark_flush");
  }
  free(data);
  decomposed = 0;
}

/* A plan of so many elements, and one of the holes between them, that one rank lacks memory for
 * it, for a while. */
static void memory(const char* path) {
  const int64_t own_elements = 400000, elements = 2 * own_elements * ranks;
  int64_t* const places = malloc((size_t)own_elements * sizeof *places);
  char* const data = calloc((size_t)own_elements, 1);
  const char fill = 7;
  int file = 0, variable = -1, decomp = 0, failed[2];
  for (int64_t e = 0; e < own_elements; ++e) places[e] = 2 * (e * ranks + rank);
  must(slabmark_init_decomp(decomposed, SLABMARK_INT8, 1, &elements, own_elements, places, &decomp),
       "slabmark_init_decomp");
  must(slabmark_open_raw(decomposed, path, SLABMARK_CREATE, MPI_INFO_NULL, &file), path);
  must(slabmark_def_raw(file, SLABMARK_INT8, elements, 0, 0, &variable), "slabmark_def_raw");
  struct rlimit before, now;
  getrlimit(RLIMIT_AS, &before);
  for (int turn = 0; turn < 3; ++turn) {
    now = before;
    now.rlim_cur = (rlim_t)(kib_of_addresses() * 1024 + (4 << 20));
    must(slabmark_iput_darray(file, variable, decomp, own_elements, data, turn == 1 ? &fill : NULL),
         "slabmark_iput_darray");
    if (rank == ranks - 1 && turn < 2) setrlimit(RLIMIT_AS, &now);
    const int code = slabmark_flush(file);
    setrlimit(RLIMIT_AS, &before);
    if (turn < 2) failed[turn] = code;
    if (turn == 2) printf("rank %d: %d %d, then %d\n", rank, failed[0], failed[1], code);
  }
  must(slabmark_close(file), "slabmark_close");
  free(places);
  free(data);
}

/* More than a file may hold. */
static void limit(const char* path) {
  enum { mebibytes = 16 };
  const int64_t elements = (int64_t)mebibytes << 17, share = elements / ranks;
  const int64_t start = rank * share;
  int file = 0, variable = -1, decomp = 0;
  double* const data = calloc((size_t)share, sizeof *data);
  must(slabmark_init_decomp_runs(decomposed, SLABMARK_FLOAT64, 1, &elements, 1, &start, &share,
                                 &decomp),
       "slabmark_init_decomp_runs");
  must(slabmark_open_raw(decomposed, path, SLABMARK_CREATE, MPI_INFO_NULL, &file), path);
  must(slabmark_def_raw(file, SLABMARK_FLOAT64, elements, 0, 0, &variable), "slabmark_def_raw");
  must(slabmark_iput_darray(file, variable, decomp, share, data, NULL), "slabmark_iput_darray");
  const int flushed = slabmark_flush(file);
  const int closed = slabmark_close(file);
  printf("rank %d: %d %d %s\n", rank, flushed, closed, slabmark_message());
  free(data);
}

/* The process `victim`, of an I/O rank, or the last rank of the program dies while records are
 * under way; the first is in the file. */
static void killed(const char* path, int64_t victim) {
  int file = 0, variable = -1;
  must(slabmark_open_raw(decomposed, path, SLABMARK_CREATE, MPI_INFO_NULL, &file), path);
  must(slabmark_def_raw(file, SLABMARK_FLOAT64, columns, 0, columns * sizeof(double), &variable),
       "slabmark_def_raw");
  const int64_t extent = columns;
  int decomp = 0;
  must(slabmark_init_decomp(decomposed, SLABMARK_FLOAT64, 1, &extent, own, offsets, &decomp),
       "slabmark_init_decomp");
  for (int record = 0; record < 1000; ++record) {
    must(slabmark_set_frame(file, variable, record), "slabmark_set_frame");
    must(slabmark_iput_darray(file, variable, decomp, own, area_data, NULL), "iput");
    must(slabmark_flush(file), "slabmark_flush");
    if (record == 0) must(slabmark_sync(file), "slabmark_sync");
    if (record != 5) continue;
    if (victim != 0 && rank == 0) kill((pid_t)victim, SIGKILL);
    if (victim == 0 && rank == ranks - 1) raise(SIGKILL);
  }
}

/* Right after a flush the file's own library puts the same elements, on other ranks; `hdf5` says
 * which library. */
static void put_after_flush(const char* path, int in_hdf5) {
  enum { share = 100000, turns = 4 };
  const int64_t elements = (int64_t)share * ranks;
  int64_t* const places = malloc(share * sizeof *places);
  int* const values = malloc(share * sizeof *values);
  int ncid = -1, dim, variable, file = 0, decomp = 0, wrong = 0;
  hid_t h5 = -1, dataset = -1, memory = -1, space = -1, transfer = -1;
  const MPI_Offset start = (MPI_Offset)(ranks - 1 - rank) * share, count = share;
  MPI_Comm comm = MPI_COMM_NULL;
  must(slabmark_inq_comm(decomposed, &comm), "slabmark_inq_comm");
  if (in_hdf5) {
    const hsize_t extent = (hsize_t)elements, first = (hsize_t)start, some = share;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    h5 = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    space = H5Screate_simple(1, &extent, NULL);
    memory = H5Screate_simple(1, &some, NULL);
    dataset = H5Dcreate2(h5, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &some, NULL);
    transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    H5Pclose(access);
    H5Pclose(creation);
    must(slabmark_adopt_hdf5(decomposed, h5, SLABMARK_WRITE, MPI_INFO_NULL, &file), "adopt");
  } else {
    must_native(ncmpi_create(comm, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid),
                "create");
    ncmpi_def_dim(ncid, "x", elements, &dim);
    ncmpi_def_var(ncid, "x", NC_INT, 1, &dim, &variable);
    must_native(ncmpi_enddef(ncid), "enddef");
    must(slabmark_adopt_pnetcdf(decomposed, ncid, SLABMARK_WRITE, MPI_INFO_NULL, &file), "adopt");
  }
  for (int i = 0; i < share; ++i) places[i] = (int64_t)i * ranks + rank;
  must(slabmark_init_decomp(decomposed, SLABMARK_INT32, 1, &elements, share, places, &decomp),
       "slabmark_init_decomp");
  must(slabmark_inq_varid(file, "x", &variable), "x");
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < share; ++i) values[i] = 2 * turn;
    must(slabmark_write_darray(file, variable, decomp, share, values, NULL), "write");
    must(slabmark_flush(file), "slabmark_flush");
    for (int i = 0; i < share; ++i) values[i] = 2 * turn + 1;
    must_native(in_hdf5 ? H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, transfer, values)
                        : ncmpi_put_vara_int_all(ncid, variable, &start, &count, values),
                "put");
    MPI_Barrier(comm);
    must(slabmark_read_darray(file, variable, decomp, share, values), "read");
    for (int i = 0; i < share; ++i) wrong += values[i] != 2 * turn + 1;
  }
  must(slabmark_close(file), "slabmark_close");
  if (in_hdf5) {
    H5Pclose(transfer);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(h5);
  } else {
    must_native(ncmpi_close(ncid), "close");
  }
  printf("rank %d: %d wrong\n", rank, wrong);
  free(places);
  free(values);
}

/* What objects of a program do that live longer than main(). */
static void late(const char* path) {
  int file = 0, other = 0;
  must(slabmark_init(MPI_COMM_WORLD, &decomposed), "slabmark_init");
  must(slabmark_open_raw(decomposed, path, SLABMARK_CREATE, MPI_INFO_NULL, &file), path);
  MPI_Finalize();
  const int closed = slabmark_close(file), ended = slabmark_finalize(decomposed);
  const int begun = slabmark_init(MPI_COMM_WORLD, &other);
  printf("rank %d: %d %d %d\n", rank, closed, ended, begun);
  exit(0);
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  static char lines[BUFSIZ]; /* go out whole; MPICH has taken the buffer away */
  setvbuf(stdout, lines, _IOLBF, sizeof lines);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  int64_t last_process = getpid();
  MPI_Bcast(&last_process, 1, MPI_INT64_T, ranks - 1, MPI_COMM_WORLD);
  deal_out();
  if (strcmp(argv[1], "native") == 0) native(argv[2]);
  if (strcmp(argv[1], "adopt") == 0) adopt(argv[2]);
  if (strcmp(argv[1], "changed") == 0) changed(argv[2]);
  if (strncmp(argv[1], "take", 4) == 0) take(argv[1], argv[2]);
  if (strcmp(argv[1], "hdf5") == 0) hdf5(argv[2], 0);
  if (strcmp(argv[1], "hdf5 after a user block") == 0) hdf5(argv[2], 2048);
  if (strcmp(argv[1], "define once") == 0) define_once(argv[2]);
  if (strcmp(argv[1], "late") == 0) late(argv[2]);
  if (strcmp(argv[1], "leave") == 0) leave(argv[2]);
  if (argc > 4 && init_with_io_ranks(atoi(argv[4]), argv[3])) {
    deal_out();
    if (strcmp(argv[1], "killed") == 0) killed(argv[2], 0);
    if (strcmp(argv[1], "killed io") == 0) killed(argv[2], last_process);
    if (strcmp(argv[1], "forget") == 0) forget(argv[2]);
    if (strcmp(argv[1], "limit") == 0) limit(argv[2]);
    if (strcmp(argv[1], "memory") == 0) memory(argv[2]);
    if (strcmp(argv[1], "elsewhere") == 0) write_elsewhere(argv[2]);
    if (strcmp(argv[1], "after pnetcdf") == 0) put_after_flush(argv[2], 0);
    if (strcmp(argv[1], "after hdf5") == 0) put_after_flush(argv[2], 1);
  }
  if (decomposed) must(slabmark_finalize(decomposed), "slabmark_finalize");
  MPI_Finalize();
  return 0;
}
