/* Columns of an atmosphere, dealt out to the ranks, written as netCDF by a plan: example.c FILE
 * [IO_RANKS] */
#include <slabmark/rearrange.h>
#include <slabmark/rearrange_pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>
#include <pnetcdf.h>

enum { levels = 5, columns = 96, records = 3 };

static void check(int code, const char* call) {
  if (code == SLABMARK_OK) return;
  fprintf(stderr, "%s: %s (%s)\n", call, slabmark_message(), slabmark_strerror(code));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* PnetCDF makes the header, on one rank: that is faster than on all. */
static int define(const char* path) {
  int ncid, time, lev, ncol, area, t;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nc_var_align_size", "1"); /* variables side by side */
  ncmpi_create(MPI_COMM_SELF, path, NC_CLOBBER | NC_64BIT_DATA, info, &ncid);
  ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time);
  ncmpi_def_dim(ncid, "lev", levels, &lev);
  ncmpi_def_dim(ncid, "ncol", columns, &ncol);
  ncmpi_def_var(ncid, "area", NC_DOUBLE, 1, (int[]){ncol}, &area);
  ncmpi_def_var(ncid, "T", NC_FLOAT, 3, (int[]){time, lev, ncol}, &t);
  ncmpi_put_att_text(ncid, t, "units", 1, "K");
  ncmpi_enddef(ncid);
  MPI_Info_free(&info);
  return ncid;
}

int main(int argc, char** argv) {
  int rank, ranks, system, file, area_decomp, t_decomp, area, t;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  check(slabmark_init_io(MPI_COMM_WORLD, argc > 2 ? atoi(argv[2]) : 0, &comm, &system),
        "slabmark_init_io");
  if (comm == MPI_COMM_NULL) { /* this rank was for I/O alone, and all is done */
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);

  /* This rank has every `ranks`-th column, on all levels. */
  const int own = (columns - rank + ranks - 1) / ranks;
  int64_t* offsets = malloc(sizeof *offsets * (own * levels + 1));
  double* area_data = malloc(sizeof *area_data * (own + 1));
  float* t_data = malloc(sizeof *t_data * (own * levels + 1));
  for (int c = 0; c < own; ++c) area_data[c] = 0.5 * (rank + c * ranks);
  for (int l = 0; l < levels; ++l) {
    for (int c = 0; c < own; ++c) offsets[l * own + c] = l * columns + rank + c * ranks;
  }

  check(slabmark_init_decomp(system, SLABMARK_FLOAT64, 1, (int64_t[]){columns}, own, offsets,
                             &area_decomp),
        "slabmark_init_decomp");
  check(slabmark_init_decomp(system, SLABMARK_FLOAT32, 2, (int64_t[]){levels, columns},
                             own * levels, offsets, &t_decomp),
        "slabmark_init_decomp");

  const int ncid = rank == 0 ? define(argv[1]) : -1;
  check(slabmark_take_pnetcdf(system, argv[1], ncid, MPI_INFO_NULL, &file), argv[1]);
  check(slabmark_inq_varid(file, "area", &area), "area");
  check(slabmark_inq_varid(file, "T", &t), "T");
  check(slabmark_write_darray(file, area, area_decomp, own, area_data, NULL), "area");
  for (int record = 0; record < records; ++record) {
    for (int i = 0; i < own * levels; ++i) t_data[i] = (float)(1000 * record + offsets[i]);
    check(slabmark_set_frame(file, t, record), "T");
    check(slabmark_write_darray(file, t, t_decomp, own * levels, t_data, NULL), "T");
    check(slabmark_flush(file), "slabmark_flush");
  }

  /* And back. */
  int wrong = 0;
  check(slabmark_set_frame(file, t, 1), "T");
  check(slabmark_read_darray(file, t, t_decomp, own * levels, t_data), "T");
  for (int i = 0; i < own * levels; ++i) wrong += t_data[i] != (float)(1000 + offsets[i]);
  printf("rank %d: %d wrong\n", rank, wrong);

  check(slabmark_close(file), "slabmark_close");
  check(slabmark_finalize(system), "slabmark_finalize");
  MPI_Comm_free(&comm);
  free(offsets);
  free(area_data);
  free(t_data);
  MPI_Finalize();
  return wrong != 0;
}
