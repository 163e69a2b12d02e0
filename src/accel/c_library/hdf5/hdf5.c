/* Where the datasets of a file of HDF5 lie: HDF5 is asked, on one rank or on all. */
#include <stdlib.h>
#include <string.h>

#include "accel/c_library/api/rearrange_format.h"
#include "accel/c_library/api/rearrange_hdf5.h"

/* Plain memory, so that one rank can tell the others. */
typedef struct dataset {
  slabmark_array array;
  int64_t records; /* offsets that follow; 1 where there are no records */
} dataset;

typedef struct variable {
  dataset its;
  int64_t* offsets; /* of each record */
  char* name;
} variable;

typedef struct context {
  int system;
  MPI_Comm comm;
  hid_t file;  /* negative where only rank 0 has it */
  int adopted; /* all ranks have it, and keep it */
  int count;
  variable* variables;
} context;

static int refused(const char* call, const char* name) {
  return slabmark_fail(SLABMARK_EIO, "%s failed for '%s'; H5Eprint2() has HDF5's own reason.", call,
                       name);
}

static int out_of_memory(void) { return slabmark_fail(SLABMARK_ENOMEM, "Memory is exhausted."); }

static int type_of(hid_t dataset_id, slabmark_type* found) {
  const struct {
    hid_t native;
    slabmark_type type;
  } types[] = {{H5T_NATIVE_INT8, SLABMARK_INT8},     {H5T_NATIVE_UINT8, SLABMARK_UINT8},
               {H5T_NATIVE_INT16, SLABMARK_INT16},   {H5T_NATIVE_UINT16, SLABMARK_UINT16},
               {H5T_NATIVE_INT32, SLABMARK_INT32},   {H5T_NATIVE_UINT32, SLABMARK_UINT32},
               {H5T_NATIVE_INT64, SLABMARK_INT64},   {H5T_NATIVE_UINT64, SLABMARK_UINT64},
               {H5T_NATIVE_FLOAT, SLABMARK_FLOAT32}, {H5T_NATIVE_DOUBLE, SLABMARK_FLOAT64}};
  const hid_t type = H5Dget_type(dataset_id);
  int known = 0;
  for (size_t t = 0; type >= 0 && !known && t < sizeof types / sizeof *types; ++t) {
    if (H5Tequal(type, types[t].native) <= 0) continue;
    *found = types[t].type;
    known = 1;
  }
  if (type >= 0 && !known && H5Tget_class(type) == H5T_STRING && H5Tget_size(type) == 1) {
    *found = SLABMARK_UINT8;
    known = 1;
  }
  if (type >= 0) H5Tclose(type);
  return known;
}

/* The offsets of chunks that are a step of the first dimension each. */
typedef struct chunks {
  int64_t* offsets;
  int64_t records, found;
  hsize_t left_out; /* of the addresses */
} chunks;

static int take_chunk(const hsize_t* offset, unsigned filter_mask, haddr_t address, hsize_t size,
                      void* given) {
  chunks* const all = given;
  (void)filter_mask;
  (void)size;
  if ((int64_t)offset[0] >= all->records || address == HADDR_UNDEF) return H5_ITER_CONT;
  all->offsets[offset[0]] = (int64_t)(address + all->left_out);
  ++all->found;
  return H5_ITER_CONT;
}

/* HDF5 before 1.14.4 says where a chunk lies without the user block (its issue 3003). */
static int inquire_left_out(hid_t dataset_id, const char* name, hsize_t* bytes) {
  unsigned major = 0, minor = 0, release = 0;
  *bytes = 0;
  H5get_libversion(&major, &minor, &release);
  if (major > 1 || minor > 14 || (minor == 14 && release >= 4)) return SLABMARK_OK;
  const hid_t file = H5Iget_file_id(dataset_id);
  const hid_t creation = file < 0 ? H5I_INVALID_HID : H5Fget_create_plist(file);
  const herr_t status = creation < 0 ? -1 : H5Pget_userblock(creation, bytes);
  if (creation >= 0) H5Pclose(creation);
  if (file >= 0) H5Fclose(file);
  return status < 0 ? refused("H5Pget_userblock", name) : SLABMARK_OK;
}

/* (In a file with a user block H5Dget_offset has an address for one without space.) */
static haddr_t offset_of(hid_t dataset_id) {
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  if (H5Dget_space_status(dataset_id, &status) < 0) return HADDR_UNDEF;
  return status == H5D_SPACE_STATUS_NOT_ALLOCATED ? HADDR_UNDEF : H5Dget_offset(dataset_id);
}

static int inquire_layout(hid_t dataset_id, hid_t creation, const char* name, variable* found) {
  hsize_t extent[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
  const hid_t space = H5Dget_space(dataset_id);
  const int dims = space < 0 ? -1 : H5Sget_simple_extent_dims(space, extent, NULL);
  const int is_null = space >= 0 && H5Sget_simple_extent_type(space) == H5S_NULL;
  if (space >= 0) H5Sclose(space);
  if (dims < 0) return refused("H5Dget_space", name);
  const H5D_layout_t layout = H5Pget_layout(creation);
  const int chunked = layout == H5D_CHUNKED;
  dataset* const its = &found->its;
  its->array.has_records = chunked;
  its->array.elements = !is_null;
  for (int d = chunked; d < dims; ++d) its->array.elements *= (int64_t)extent[d];
  its->records = chunked ? (int64_t)extent[0] : 1;
  if (H5Pget_nfilters(creation) != 0 || H5Pget_external_count(creation) != 0 ||
      (layout != H5D_CONTIGUOUS && !chunked)) {
    return slabmark_fail(SLABMARK_EFORMAT,
                         "Dataset '%s' is neither contiguous nor chunked, has filters, or lies in "
                         "other files.",
                         name);
  }
  found->offsets = malloc(((size_t)its->records + 1) * sizeof *found->offsets);
  if (!found->offsets) return out_of_memory();
  if (!chunked) {
    const haddr_t address = offset_of(dataset_id);
    found->offsets[0] = (int64_t)address;
    if (address != HADDR_UNDEF || its->array.elements == 0) return SLABMARK_OK;
  } else {
    if (H5Pget_chunk(creation, dims, chunk) < 0) return refused("H5Pget_chunk", name);
    int is_step = chunk[0] == 1;
    for (int d = 1; d < dims; ++d) is_step = is_step && chunk[d] == extent[d];
    if (!is_step) {
      return slabmark_fail(SLABMARK_EFORMAT,
                           "A chunk of dataset '%s' is not one step of its first dimension.", name);
    }
    chunks all = {found->offsets, its->records, 0, 0};
    const int code = inquire_left_out(dataset_id, name, &all.left_out);
    if (code != SLABMARK_OK) return code;
    if (H5Dchunk_iter(dataset_id, H5P_DEFAULT, take_chunk, &all) < 0) {
      return refused("H5Dchunk_iter", name);
    }
    if (all.found == its->records) return SLABMARK_OK;
  }
  return slabmark_fail(SLABMARK_EFORMAT,
                       "Dataset '%s' has no space yet; create it with H5D_ALLOC_TIME_EARLY.", name);
}

/* Not one that is mounted there, or that a link leads to. */
static int lies_in(hid_t file, hid_t dataset_id) {
  H5O_info2_t of_root, of_dataset;
  return H5Oget_info3(file, &of_root, H5O_INFO_BASIC) >= 0 &&
         H5Oget_info3(dataset_id, &of_dataset, H5O_INFO_BASIC) >= 0 &&
         of_root.fileno == of_dataset.fileno;
}

static int inquire(hid_t file, const char* name, variable* found) {
  hid_t id = H5I_INVALID_HID;
  H5E_BEGIN_TRY { id = H5Dopen2(file, name, H5P_DEFAULT); }
  H5E_END_TRY
  if (id < 0) {
    return slabmark_fail(SLABMARK_EVARIABLE, "The file has no dataset '%s'.", name);
  }
  int code = SLABMARK_OK;
  const hid_t creation = H5Dget_create_plist(id);
  if (creation < 0) {
    code = refused("H5Dget_create_plist", name);
  } else if (!lies_in(file, id)) {
    code =
        slabmark_fail(SLABMARK_EFORMAT, "Dataset '%s' lies in another file; open that one.", name);
  } else if (!type_of(id, &found->its.array.type)) {
    code = slabmark_fail(SLABMARK_EFORMAT,
                         "Dataset '%s' does not hold numbers as this machine does, and nothing is "
                         "converted.",
                         name);
  } else {
    code = inquire_layout(id, creation, name, found);
  }
  if (creation >= 0) H5Pclose(creation);
  H5Dclose(id);
  return code;
}

static void forget(variable* its) {
  free(its->offsets);
  free(its->name);
}

/* Rank 0 tells the others what it found. */
static int share(context* its, variable* found) {
  int rank = 0, code = SLABMARK_OK;
  MPI_Comm_rank(its->comm, &rank);
  MPI_Bcast(&found->its, (int)sizeof found->its, MPI_BYTE, 0, its->comm);
  if (rank != 0) {
    found->offsets = malloc(((size_t)found->its.records + 1) * sizeof *found->offsets);
    if (!found->offsets) code = out_of_memory();
  }
  code = slabmark_agree(its->system, code);
  if (code == SLABMARK_OK) {
    MPI_Bcast(found->offsets, (int)found->its.records, MPI_INT64_T, 0, its->comm);
  }
  return code;
}

/* Collective. Where the program has the file open, a dataset may have grown since it was asked for.
 */
static int inq_varid(void* given, const char* name, int* number) {
  context* const its = given;
  int known = 0;
  while (known < its->count && strcmp(its->variables[known].name, name) != 0) ++known;
  if (known < its->count && !its->adopted) {
    *number = known;
    return SLABMARK_OK;
  }
  variable found;
  memset(&found, 0, sizeof found);
  int code = SLABMARK_OK;
  found.name = malloc(strlen(name) + 1);
  variable* const more = realloc(its->variables, ((size_t)its->count + 1) * sizeof *more);
  if (more) its->variables = more;
  if (!more || !found.name) {
    code = out_of_memory();
  } else {
    strcpy(found.name, name);
    if (its->file >= 0) code = inquire(its->file, name, &found);
  }
  code = slabmark_agree(its->system, code);
  if (code == SLABMARK_OK && !its->adopted) code = share(its, &found);
  if (code != SLABMARK_OK) {
    forget(&found);
    return code;
  }
  *number = known;
  if (known < its->count) {
    forget(&its->variables[known]);
  } else {
    ++its->count;
  }
  its->variables[known] = found;
  return SLABMARK_OK;
}

static int inq_array(void* given, int number, int64_t frame, int writing, slabmark_array* array) {
  const context* const its = given;
  (void)writing;
  if (number < 0 || number >= its->count) {
    return slabmark_fail(SLABMARK_EVARIABLE,
                         "There is no variable %d; slabmark_inq_varid() gives the numbers.",
                         number);
  }
  const variable* const its_variable = &its->variables[number];
  *array = its_variable->its.array;
  if (array->has_records && frame >= its_variable->its.records) {
    return slabmark_fail(
        SLABMARK_EFRAME, "Dataset '%s' has space for %lld records, so none for number %lld.",
        its_variable->name, (long long)its_variable->its.records, (long long)frame);
  }
  array->offset = its_variable->offsets[array->has_records ? frame : 0];
  return SLABMARK_OK;
}

static int close_file(void* given) {
  context* const its = given;
  if (!its) return SLABMARK_OK;
  int code = SLABMARK_OK;
  if (!its->adopted && its->file >= 0 && H5Fclose(its->file) < 0) {
    code = refused("H5Fclose", "the file");
  }
  for (int v = 0; v < its->count; ++v) forget(&its->variables[v]);
  free(its->variables);
  free(its);
  return code;
}

static int start(context* its, const char* path, int mode, MPI_Info info, int* file) {
  slabmark_format format;
  memset(&format, 0, sizeof format);
  /* What the program writes through HDF5 is not seen here. */
  format.fresh_from = INT64_MAX;
  format.is_shared = its->adopted;
  format.inq_varid = inq_varid;
  format.inq_array = inq_array;
  format.close = close_file;
  return slabmark_open_format(its->system, path, mode, info, &format, its, file);
}

static int check(const context* its, const char* path, int mode) {
  if (!its) return out_of_memory();
  if (!path) return slabmark_fail(SLABMARK_EARGUMENT, "The path is a null pointer.");
  if (mode == SLABMARK_READ || mode == SLABMARK_WRITE) return SLABMARK_OK;
  return slabmark_fail(SLABMARK_EARGUMENT,
                       "A file of HDF5 is made by HDF5, and opened here with SLABMARK_READ or "
                       "SLABMARK_WRITE.");
}

/* Other drivers keep the bytes of a file, or some of them, in memory or in places of their own, and
 * without MPI-IO's HDF5 itself keeps chunks. */
static int check_driver(hid_t file) {
  hid_t driver = H5I_INVALID_HID;
  const hid_t access = H5Fget_access_plist(file);
  if (access >= 0) driver = H5Pget_driver(access);
  if (access >= 0) H5Pclose(access);
  if (driver >= 0 && driver == H5FD_MPIO) return SLABMARK_OK;
  return slabmark_fail(
      SLABMARK_EFORMAT,
      "Only a file that HDF5 has open by MPI-IO can be written by a plan beside it; "
      "see H5Pset_fapl_mpio.");
}

static context* new_context(int system, MPI_Comm comm) {
  context* const its = calloc(1, sizeof *its);
  if (!its) return NULL;
  its->system = system;
  its->comm = comm;
  its->file = H5I_INVALID_HID;
  return its;
}

int slabmark_open_hdf5(int system, const char* path, int mode, MPI_Info info, int* file) {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, code = slabmark_inq_comm(system, &comm);
  if (code != SLABMARK_OK) return code;
  context* const its = new_context(system, comm);
  code = check(its, path, mode);
  MPI_Comm_rank(comm, &rank);
  if (code == SLABMARK_OK && rank == 0) {
    H5E_BEGIN_TRY { its->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT); }
    H5E_END_TRY
    if (its->file < 0) code = slabmark_fail(SLABMARK_EIO, "HDF5 cannot open '%s'.", path);
  }
  code = slabmark_agree(system, code);
  if (code != SLABMARK_OK) {
    close_file(its);
    return code;
  }
  return start(its, path, mode, info, file);
}

int slabmark_adopt_hdf5(int system, hid_t hdf5_file, int mode, MPI_Info info, int* file) {
  MPI_Comm comm = MPI_COMM_NULL;
  int code = slabmark_inq_comm(system, &comm);
  if (code != SLABMARK_OK) return code;
  context* const its = new_context(system, comm);
  const ssize_t length = H5Fget_name(hdf5_file, NULL, 0);
  char* const path = length < 0 ? NULL : malloc((size_t)length + 1);
  if (length < 0) {
    code = slabmark_fail(SLABMARK_EHANDLE, "HDF5 knows no open file of this number.");
  } else if (!path) {
    code = out_of_memory();
  } else {
    H5Fget_name(hdf5_file, path, (size_t)length + 1);
    code = check(its, path, mode);
  }
  /* All ranks or none: HDF5 duplicates the communicator. */
  code = slabmark_agree(system, code);
  if (code == SLABMARK_OK) code = check_driver(hdf5_file);
  if (code == SLABMARK_OK) {
    its->file = hdf5_file;
    its->adopted = 1;
  }
  code = slabmark_agree(system, code);
  if (code == SLABMARK_OK) code = slabmark_check_adopted(system, path);
  if (code == SLABMARK_OK) {
    code = start(its, path, mode, info, file);
  } else {
    free(its);
  }
  free(path);
  return code;
}

/* For the Fortran module. */
int slabmark_fortran_open_hdf5(int system, const char* path, int mode, MPI_Fint info, int* file);
int slabmark_fortran_open_hdf5(int system, const char* path, int mode, MPI_Fint info, int* file) {
  return slabmark_open_hdf5(system, path, mode, MPI_Info_f2c(info), file);
}

int slabmark_fortran_adopt_hdf5(int system, hid_t hdf5_file, int mode, MPI_Fint info, int* file);
int slabmark_fortran_adopt_hdf5(int system, hid_t hdf5_file, int mode, MPI_Fint info, int* file) {
  return slabmark_adopt_hdf5(system, hdf5_file, mode, MPI_Info_f2c(info), file);
}
