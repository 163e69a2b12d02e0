/* Where the variables of a file of PnetCDF lie. PnetCDF is asked, on one rank or on all; the header
 * stays its own, but for the number of records in a file that no rank has open there. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <pnetcdf.h>

#include "accel/c_library/api/rearrange_format.h"
#include "accel/c_library/api/rearrange_pnetcdf.h"

enum { most_dims = 1024 };

typedef struct variable {
  slabmark_array first; /* its first record, if it has records */
  char name[NC_MAX_NAME + 1];
} variable;

/* Plain memory, so that one rank can tell the others. */
typedef struct header {
  int64_t record_bytes;
  int64_t records;
  int format; /* as ncmpi_inq_format() says */
  int count;
} header;

typedef struct context {
  header header;
  variable* variables; /* of a file that no rank has open; else PnetCDF is asked each time */
  int64_t records;     /* also those that the header does not know of yet */
  int ncid;            /* -1: no rank has it open */
  MPI_Comm comm;
  char* path;
} context;

static int refused(const char* call, int error) {
  return slabmark_fail(error == NC_ENOTVAR ? SLABMARK_EVARIABLE : SLABMARK_EIO, "%s failed: %s.",
                       call, ncmpi_strerror(error));
}

static int type_of(nc_type type, slabmark_type* found) {
  switch (type) {
    case NC_BYTE:
      *found = SLABMARK_INT8;
      return 1;
    case NC_CHAR:
    case NC_UBYTE:
      *found = SLABMARK_UINT8;
      return 1;
    case NC_SHORT:
      *found = SLABMARK_INT16;
      return 1;
    case NC_USHORT:
      *found = SLABMARK_UINT16;
      return 1;
    case NC_INT:
      *found = SLABMARK_INT32;
      return 1;
    case NC_UINT:
      *found = SLABMARK_UINT32;
      return 1;
    case NC_INT64:
      *found = SLABMARK_INT64;
      return 1;
    case NC_UINT64:
      *found = SLABMARK_UINT64;
      return 1;
    case NC_FLOAT:
      *found = SLABMARK_FLOAT32;
      return 1;
    case NC_DOUBLE:
      *found = SLABMARK_FLOAT64;
      return 1;
    default:
      return 0;
  }
}

static int inquire_variable(int ncid, int number, int unlimited, variable* its) {
  nc_type type = NC_NAT;
  int dims = 0;
  int dim_ids[most_dims];
  MPI_Offset offset = 0;
  int error = ncmpi_inq_varndims(ncid, number, &dims);
  if (error == NC_NOERR && dims > most_dims) {
    return slabmark_fail(SLABMARK_EFORMAT, "Variable %d has %d dimensions.", number, dims);
  }
  if (error == NC_NOERR)
    error = ncmpi_inq_var(ncid, number, its->name, &type, &dims, dim_ids, NULL);
  if (error == NC_NOERR) error = ncmpi_inq_varoffset(ncid, number, &offset);
  if (error != NC_NOERR) return refused("ncmpi_inq_var", error);
  if (!type_of(type, &its->first.type)) {
    return slabmark_fail(SLABMARK_EFORMAT, "Variable '%s' is of an unknown type.", its->name);
  }
  its->first.offset = (int64_t)offset;
  its->first.elements = 1;
  its->first.has_records = dims > 0 && dim_ids[0] == unlimited;
  for (int d = its->first.has_records; d < dims; ++d) {
    MPI_Offset length = 0;
    error = ncmpi_inq_dimlen(ncid, dim_ids[d], &length);
    if (error != NC_NOERR) return refused("ncmpi_inq_dimlen", error);
    its->first.elements *= (int64_t)length;
  }
  return SLABMARK_OK;
}

/* A call that is refused for its variable, if not before for the mode. */
static int is_in_define_mode(int ncid) {
  const MPI_Offset first = 0;
  signed char value = 0;
  return ncmpi_get_var1_schar(ncid, NC_GLOBAL, &first, &value) == NC_EINDEFINE;
}

static int inquire_header(int ncid, header* all, int* unlimited) {
  int dims = 0, attributes = 0;
  MPI_Offset record_bytes = 0, records = 0;
  if (is_in_define_mode(ncid)) {
    return slabmark_fail(SLABMARK_EFORMAT,
                         "Nobody knows where variables of a file in define mode lie; call "
                         "ncmpi_enddef before.");
  }
  int error = ncmpi_inq(ncid, &dims, &all->count, &attributes, unlimited);
  if (error == NC_NOERR) error = ncmpi_inq_format(ncid, &all->format);
  if (error == NC_NOERR) error = ncmpi_inq_recsize(ncid, &record_bytes);
  if (error == NC_NOERR && *unlimited >= 0) error = ncmpi_inq_dimlen(ncid, *unlimited, &records);
  if (error != NC_NOERR) return refused("ncmpi_inq", error);
  all->record_bytes = (int64_t)record_bytes;
  all->records = (int64_t)records;
  if (all->format == NC_FORMAT_CLASSIC || all->format == NC_FORMAT_CDF2 ||
      all->format == NC_FORMAT_CDF5) {
    return SLABMARK_OK;
  }
  return slabmark_fail(
      SLABMARK_EFORMAT,
      "Only the classic formats of netCDF, CDF-1, 2 and 5, are written by a plan.");
}

/* Asks PnetCDF for all. */
static int inquire(int ncid, context* its) {
  int unlimited = -1;
  int code = inquire_header(ncid, &its->header, &unlimited);
  if (code != SLABMARK_OK) return code;
  its->variables = calloc((size_t)its->header.count + 1, sizeof *its->variables);
  if (!its->variables) return slabmark_fail(SLABMARK_ENOMEM, "Memory is exhausted.");
  for (int v = 0; code == SLABMARK_OK && v < its->header.count; ++v) {
    code = inquire_variable(ncid, v, unlimited, &its->variables[v]);
  }
  its->records = its->header.records;
  return code;
}

static int inq_varid(void* given, const char* name, int* number) {
  const context* const its = given;
  if (its->ncid >= 0 && ncmpi_inq_varid(its->ncid, name, number) == NC_NOERR) return SLABMARK_OK;
  for (int v = 0; its->variables && v < its->header.count; ++v) {
    if (strcmp(its->variables[v].name, name) != 0) continue;
    *number = v;
    return SLABMARK_OK;
  }
  return slabmark_fail(SLABMARK_EVARIABLE, "The file has no variable '%s'.", name);
}

/* In a file that the program has open, its variables may have moved, and records, or variables,
 * come since. */
static int inq_array(void* given, int number, int64_t frame, int writing, slabmark_array* array) {
  context* const its = given;
  if (its->ncid < 0) {
    if (number < 0 || number >= its->header.count) {
      return slabmark_fail(SLABMARK_EVARIABLE, "The file has no variable %d.", number);
    }
    *array = its->variables[number].first;
  } else {
    int unlimited = -1;
    variable found;
    int code = inquire_header(its->ncid, &its->header, &unlimited);
    if (code == SLABMARK_OK) code = inquire_variable(its->ncid, number, unlimited, &found);
    if (code != SLABMARK_OK) return code;
    its->records = its->header.records;
    *array = found.first;
  }
  if (!array->has_records) return SLABMARK_OK;
  if (!writing && frame >= its->records) {
    return slabmark_fail(SLABMARK_EFRAME, "The file has %lld records, so none of number %lld.",
                         (long long)its->records, (long long)frame);
  }
  array->offset += frame * its->header.record_bytes;
  return SLABMARK_OK;
}

static int64_t inq_records(void* given) {
  const context* const its = given;
  int unlimited = -1;
  MPI_Offset records = 0;
  if (its->ncid < 0) return its->records;
  if (ncmpi_inq_unlimdim(its->ncid, &unlimited) == NC_NOERR && unlimited >= 0) {
    ncmpi_inq_dimlen(its->ncid, unlimited, &records);
  }
  return (int64_t)records;
}

static MPI_Datatype type_in_memory(nc_type type) {
  switch (type) {
    case NC_BYTE:
      return MPI_SIGNED_CHAR;
    case NC_CHAR:
      return MPI_CHAR;
    case NC_UBYTE:
      return MPI_UNSIGNED_CHAR;
    case NC_SHORT:
      return MPI_SHORT;
    case NC_USHORT:
      return MPI_UNSIGNED_SHORT;
    case NC_INT:
      return MPI_INT;
    case NC_UINT:
      return MPI_UNSIGNED;
    case NC_INT64:
      return MPI_LONG_LONG_INT;
    case NC_UINT64:
      return MPI_UNSIGNED_LONG_LONG;
    case NC_FLOAT:
      return MPI_FLOAT;
    default:
      return MPI_DOUBLE;
  }
}

/* PnetCDF enters the number of records into the header, and into all that it knows, when one is
 * written. One element does: one that the plan writes too, so that nobody's is changed, and it is
 * all the same which of the two comes first. All ranks put it, for PnetCDF 1.15.0 does not count
 * records with ranks that put nothing. */
static int grow(void* given, int64_t records, int number, int rank,
                const slabmark_element* element) {
  context* const its = given;
  if (its->ncid < 0) {
    if (records > its->records) its->records = records;
    return SLABMARK_OK;
  }
  struct {
    int64_t index;
    unsigned char value[8];
  } told = {0};
  int dims = 0, bytes = 0, dim_ids[most_dims];
  MPI_Offset start[most_dims] = {0}, count[most_dims] = {0};
  nc_type type = NC_NAT;
  int error = ncmpi_inq_vartype(its->ncid, number, &type);
  if (error == NC_NOERR) error = ncmpi_inq_varndims(its->ncid, number, &dims);
  if (error == NC_NOERR) error = ncmpi_inq_vardimid(its->ncid, number, dim_ids);
  MPI_Type_size(type_in_memory(type), &bytes);
  if (element) {
    told.index = element->index;
    memcpy(told.value, element->value, (size_t)bytes);
  }
  MPI_Bcast(&told, (int)sizeof told, MPI_BYTE, rank, its->comm);
  for (int d = dims - 1; error == NC_NOERR && d > 0; --d) {
    MPI_Offset length = 1;
    error = ncmpi_inq_dimlen(its->ncid, dim_ids[d], &length);
    start[d] = (MPI_Offset)told.index % length;
    told.index /= (int64_t)length;
  }
  for (int d = 0; error == NC_NOERR && d < dims; ++d) count[d] = 1;
  start[0] = (MPI_Offset)records - 1;
  const int put =
      ncmpi_put_vara_all(its->ncid, number, start, count, told.value, 1, type_in_memory(type));
  if (error == NC_NOERR) error = put;
  return error == NC_NOERR ? SLABMARK_OK : refused("ncmpi_put_vara_all", error);
}

/* Of a file that no rank has open: after the four bytes of its kind the header has the number of
 * records, big-endian, in 4 bytes, or in 8 in CDF-5. */
static int enter_records(context* its, int64_t records, int durable) {
  const int bytes = its->header.format == NC_FORMAT_CDF5 ? 8 : 4;
  unsigned char number[8];
  MPI_File file = MPI_FILE_NULL;
  MPI_Status status;
  int written = 0;
  for (int b = 0; b < bytes; ++b) {
    number[b] = (unsigned char)((uint64_t)records >> (8 * (bytes - 1 - b)));
  }
  int error = MPI_File_open(MPI_COMM_SELF, its->path, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (error == MPI_SUCCESS) {
    error = MPI_File_write_at(file, 4, number, bytes, MPI_BYTE, &status);
    if (error == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &written);
    if (error == MPI_SUCCESS && durable) error = MPI_File_sync(file);
    const int closed = MPI_File_close(&file);
    if (error == MPI_SUCCESS) error = closed;
  }
  if (error != MPI_SUCCESS || written != bytes) {
    return slabmark_fail(SLABMARK_EIO, "The number of records could not be written to '%s'.",
                         its->path);
  }
  its->header.records = records;
  return SLABMARK_OK;
}

static int sync_file(void* given, int64_t records, int durable) {
  context* const its = given;
  int rank = 0;
  MPI_Comm_rank(its->comm, &rank);
  if (its->ncid >= 0 || rank != 0 || records <= its->header.records) return SLABMARK_OK;
  return enter_records(its, records, durable);
}

static int close_file(void* given) {
  context* const its = given;
  if (!its) return SLABMARK_OK;
  free(its->variables);
  free(its->path);
  free(its);
  return SLABMARK_OK;
}

static slabmark_format format_of(const context* its) {
  const unsigned short one = 1;
  slabmark_format format;
  memset(&format, 0, sizeof format);
  format.swaps_bytes = *(const unsigned char*)&one == 1;
  /* Variables begin at multiples of 4, but records of a single variable stand close together; where
   * PnetCDF has the file open, that one may come yet. */
  const int may_come = its->ncid >= 0 && its->header.record_bytes == 0;
  format.padding = its->header.record_bytes % 4 == 0 && !may_come ? 3 : 0;
  /* What the program writes through PnetCDF is not seen here. */
  format.fresh_from = its->ncid >= 0 ? INT64_MAX : -1;
  format.is_shared = its->ncid >= 0;
  format.inq_varid = inq_varid;
  format.inq_array = inq_array;
  format.inq_records = inq_records;
  format.grow = grow;
  format.sync = sync_file;
  format.close = close_file;
  return format;
}

static context* new_context(int system, const char* path) {
  context* const its = calloc(1, sizeof *its);
  if (!its) return NULL;
  its->ncid = -1;
  slabmark_inq_comm(system, &its->comm);
  its->path = malloc(strlen(path) + 1);
  if (its->path) strcpy(its->path, path);
  if (its->path) return its;
  free(its);
  return NULL;
}

/* Rank 0 tells the others what it knows. */
static int share(int system, context* its) {
  int rank = 0, code = SLABMARK_OK;
  MPI_Comm_rank(its->comm, &rank);
  MPI_Bcast(&its->header, (int)sizeof its->header, MPI_BYTE, 0, its->comm);
  if (rank != 0) {
    its->records = its->header.records;
    its->variables = calloc((size_t)its->header.count + 1, sizeof *its->variables);
    if (!its->variables) code = slabmark_fail(SLABMARK_ENOMEM, "Memory is exhausted.");
  }
  code = slabmark_agree(system, code);
  if (code != SLABMARK_OK) return code;
  /* Many a variable has a long header, and MPI counts in int. */
  for (int v = 0; v < its->header.count; v += 1024) {
    const int some = its->header.count - v < 1024 ? its->header.count - v : 1024;
    MPI_Bcast(its->variables + v, (int)((size_t)some * sizeof *its->variables), MPI_BYTE, 0,
              its->comm);
  }
  return SLABMARK_OK;
}

static int refuse_mode(void) {
  return slabmark_fail(
      SLABMARK_EARGUMENT,
      "A file of PnetCDF is made by PnetCDF, and opened here with SLABMARK_READ or "
      "SLABMARK_WRITE.");
}

/* The number of records is entered when the program may have gone elsewhere. A path that stands for
 * itself no more, but for a prefix of MPI-IO's, stays. */
static void make_absolute(context* its) {
  char* const there = realpath(its->path, NULL);
  if (!there) return;
  free(its->path);
  its->path = there;
}

/* The file that a rank has defined becomes one to open. */
static int end_definition(int ncid, const char* path) {
  struct stat named, its;
  int length = 0;
  int error = ncmpi_inq_path(ncid, &length, NULL);
  if (error != NC_NOERR) {
    return slabmark_fail(SLABMARK_EHANDLE, "PnetCDF knows no open file %d: %s.", ncid,
                         ncmpi_strerror(error));
  }
  char* const own = calloc((size_t)length + 1, 1);
  if (!own) return slabmark_fail(SLABMARK_ENOMEM, "Memory is exhausted.");
  ncmpi_inq_path(ncid, NULL, own);
  const int differs = stat(own, &its) == 0 && stat(path, &named) == 0 &&
                      (its.st_dev != named.st_dev || its.st_ino != named.st_ino);
  const int code = !differs
                       ? SLABMARK_OK
                       : slabmark_fail(SLABMARK_EARGUMENT,
                                       "PnetCDF's file %d is '%s', and not '%s'.", ncid, own, path);
  free(own);
  if (code != SLABMARK_OK) return code;
  error = ncmpi_enddef(ncid);
  return error == NC_NOERR || error == NC_ENOTINDEFINE ? SLABMARK_OK
                                                       : refused("ncmpi_enddef", error);
}

/* Rank 0 asks PnetCDF, by `ncid` if it `takes` a file that it has open, and tells the others. */
static int open_through_root(int system, const char* path, int takes, int ncid, int mode,
                             MPI_Info info, int* file) {
  MPI_Comm comm = MPI_COMM_NULL;
  int code = slabmark_inq_comm(system, &comm);
  if (code != SLABMARK_OK) return code;
  context* const its = path ? new_context(system, path) : NULL;
  if (!path) code = slabmark_fail(SLABMARK_EARGUMENT, "The path is a null pointer.");
  if (path && !its) code = slabmark_fail(SLABMARK_ENOMEM, "Memory is exhausted.");
  if (code == SLABMARK_OK && mode != SLABMARK_READ && mode != SLABMARK_WRITE) {
    code = refuse_mode();
  }
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (code == SLABMARK_OK && rank == 0) {
    int error = NC_NOERR;
    if (takes) {
      code = end_definition(ncid, path);
    } else {
      error = ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, info, &ncid);
    }
    if (error != NC_NOERR) {
      code =
          slabmark_fail(SLABMARK_EIO, "PnetCDF cannot open '%s': %s.", path, ncmpi_strerror(error));
    } else if (code == SLABMARK_OK) {
      code = inquire(ncid, its);
      error = ncmpi_close(ncid);
      if (code == SLABMARK_OK && error != NC_NOERR) code = refused("ncmpi_close", error);
    }
    make_absolute(its);
  }
  code = slabmark_agree(system, code);
  if (code == SLABMARK_OK) code = share(system, its);
  if (code != SLABMARK_OK) {
    close_file(its);
    return code;
  }
  const slabmark_format format = format_of(its);
  return slabmark_open_format(system, path, mode, info, &format, its, file);
}

int slabmark_open_pnetcdf(int system, const char* path, int mode, MPI_Info info, int* file) {
  return open_through_root(system, path, 0, -1, mode, info, file);
}

int slabmark_take_pnetcdf(int system, const char* path, int ncid, MPI_Info info, int* file) {
  return open_through_root(system, path, 1, ncid, SLABMARK_WRITE, info, file);
}

int slabmark_adopt_pnetcdf(int system, int ncid, int mode, MPI_Info info, int* file) {
  MPI_Comm comm = MPI_COMM_NULL;
  char* path = NULL;
  context* its = NULL;
  int length = 0, code = slabmark_inq_comm(system, &comm);
  if (code != SLABMARK_OK) return code;
  const int error = ncmpi_inq_path(ncid, &length, NULL);
  if (error != NC_NOERR) {
    code = slabmark_fail(SLABMARK_EHANDLE, "PnetCDF knows no open file %d: %s.", ncid,
                         ncmpi_strerror(error));
  } else if (mode != SLABMARK_READ && mode != SLABMARK_WRITE) {
    code = refuse_mode();
  } else if (!(path = calloc((size_t)length + 1, 1)) ||
             ncmpi_inq_path(ncid, NULL, path) != NC_NOERR || !(its = new_context(system, path))) {
    code = slabmark_fail(SLABMARK_ENOMEM, "Memory is exhausted.");
  } else {
    int unlimited = -1;
    its->ncid = ncid;
    code = inquire_header(ncid, &its->header, &unlimited);
  }
  code = slabmark_agree(system, code);
  if (code == SLABMARK_OK) code = slabmark_check_adopted(system, path);
  if (code == SLABMARK_OK) {
    const slabmark_format format = format_of(its);
    code = slabmark_open_format(system, path, mode, info, &format, its, file);
  } else {
    close_file(its);
  }
  free(path);
  return code;
}

/* For the Fortran module. */
int slabmark_fortran_open_pnetcdf(int system, const char* path, int mode, MPI_Fint info, int* file);
int slabmark_fortran_open_pnetcdf(int system, const char* path, int mode, MPI_Fint info,
                                  int* file) {
  return slabmark_open_pnetcdf(system, path, mode, MPI_Info_f2c(info), file);
}

int slabmark_fortran_take_pnetcdf(int system, const char* path, int ncid, MPI_Fint info, int* file);
int slabmark_fortran_take_pnetcdf(int system, const char* path, int ncid, MPI_Fint info,
                                  int* file) {
  return slabmark_take_pnetcdf(system, path, ncid, MPI_Info_f2c(info), file);
}

int slabmark_fortran_adopt_pnetcdf(int system, int ncid, int mode, MPI_Fint info, int* file);
int slabmark_fortran_adopt_pnetcdf(int system, int ncid, int mode, MPI_Fint info, int* file) {
  return slabmark_adopt_pnetcdf(system, ncid, mode, MPI_Info_f2c(info), file);
}
