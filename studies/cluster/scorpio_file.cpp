// Writes a file of E3SM through SCORPIO, again and again, and prints seconds from create to close,
// median [least .. most] of the trials, for each rearranger and number of I/O tasks. README.md says
// how to build it; nothing of Slabmark's needs it.
//
//   scorpio_file TEMPLATE.nc OUT.nc TRIALS MAP.dat...
//
// The variables are those of the template that have a map's dimensions; others and attributes are
// left out. Decompositions are made before the first file. Recorded ranks of a map are dealt out to
// the ranks in order.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <pio.h>
#include <string>
#include <vector>

#include <mpi.h>
#include <pnetcdf.h>

struct Map {
  std::vector<int> dims;
  std::vector<PIO_Offset> mine;
};
struct Dim {
  std::string name;
  PIO_Offset length;
};
struct Var {
  std::string name;
  int type;
  std::vector<int> dims;
  int map = -1;
  bool record = false;
};

static void need(int status, const char* what) {
  if (status == 0) return;
  fprintf(stderr, "%s: status %d\n", what, status);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// PIO text: version, npes, ndims; extents; of each rank its number and count, then its elements
// from 1 on.
static Map read_map(const char* path, int rank, int size) {
  std::ifstream in(path);
  std::string word;
  int recorded = 0, ndims = 0, version = 0;
  in >> word >> version >> word >> recorded >> word >> ndims;
  Map map;
  map.dims.resize(ndims);
  for (int& d : map.dims) in >> d;
  std::reverse(map.dims.begin(), map.dims.end());  // the text has the fastest first
  for (int r = 0; r < recorded; ++r) {
    int number;
    long long count;
    in >> number >> count;
    for (long long i = 0; i < count; ++i) {
      long long element;
      in >> element;
      if ((long long)r * size / recorded == rank) map.mine.push_back(element);
    }
  }
  if (!in) need(1, path);
  return map;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int trials = atoi(argv[3]);
  std::vector<Map> maps;
  for (int i = 4; i < argc; ++i) maps.push_back(read_map(argv[i], rank, size));

  int file, ndims, nvars, natts, unlimited;
  need(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, MPI_INFO_NULL, &file), argv[1]);
  need(ncmpi_inq(file, &ndims, &nvars, &natts, &unlimited), "inq");
  std::vector<Dim> dims(ndims);
  for (int d = 0; d < ndims; ++d) {
    char name[NC_MAX_NAME + 1];
    MPI_Offset length;
    ncmpi_inq_dim(file, d, name, &length);
    dims[d] = {name, d == unlimited ? PIO_UNLIMITED : length};
  }
  std::vector<Var> vars;
  double bytes = 0;
  for (int v = 0; v < nvars; ++v) {
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int n, ids[16];
    ncmpi_inq_var(file, v, name, &type, &n, ids, nullptr);
    Var var{name, type, {ids, ids + n}};
    std::vector<int> extents;
    for (int d : var.dims)
      d == unlimited ? void(var.record = true) : extents.push_back((int)dims[d].length);
    // Among maps of one shape the last: that of the output on the physics grid.
    for (size_t m = 0; m < maps.size(); ++m)
      if (maps[m].dims == extents) var.map = (int)m;
    if (var.map < 0) continue;
    vars.push_back(var);
    double elements = 1;
    for (int e : extents) elements *= e;
    bytes += elements * (type == NC_DOUBLE ? 8 : 4);
  }
  ncmpi_close(file);
  if (rank == 0) printf("%zu variables, %.1f MiB, %d ranks\n", vars.size(), bytes / 1048576, size);

  size_t most = 0;
  for (auto& m : maps) most = std::max(most, m.mine.size());
  std::vector<double> data(most, 1.0);
  for (int rearranger : {PIO_REARR_BOX, PIO_REARR_CONTIG, PIO_REARR_SUBSET}) {
    for (int tasks = 1; tasks <= std::min(size, 4); tasks *= 2) {
      int system;
      need(PIOc_Init_Intracomm(MPI_COMM_WORLD, tasks, size / tasks, 0, rearranger, &system),
           "Init_Intracomm");
      std::map<std::pair<int, int>, int> decomposition;
      for (auto& v : vars) {
        int& id = decomposition.try_emplace({v.map, v.type}, -1).first->second;
        const Map& m = maps[v.map];
        if (id < 0)
          need(
              PIOc_InitDecomp(system, v.type, (int)m.dims.size(), m.dims.data(), (int)m.mine.size(),
                              m.mine.data(), &id, &rearranger, nullptr, nullptr),
              "InitDecomp");
      }
      std::vector<double> seconds;
      for (int t = 0; t <= trials; ++t) {
        if (rank == 0) remove(argv[2]);
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        int out, type = PIO_IOTYPE_PNETCDF;
        need(PIOc_createfile(system, &out, &type, argv[2], PIO_64BIT_DATA), "createfile");
        std::vector<int> ids(dims.size()), variable(vars.size());
        for (size_t d = 0; d < dims.size(); ++d)
          need(PIOc_def_dim(out, dims[d].name.c_str(), dims[d].length, &ids[d]), "def_dim");
        for (size_t v = 0; v < vars.size(); ++v) {
          std::vector<int> of;
          for (int d : vars[v].dims) of.push_back(ids[d]);
          need(PIOc_def_var(out, vars[v].name.c_str(), vars[v].type, (int)of.size(), of.data(),
                            &variable[v]),
               "def_var");
        }
        need(PIOc_enddef(out), "enddef");
        for (size_t v = 0; v < vars.size(); ++v) {
          if (vars[v].record) need(PIOc_setframe(out, variable[v], 0), "setframe");
          need(PIOc_write_darray(out, variable[v], decomposition[{vars[v].map, vars[v].type}],
                                 (PIO_Offset)maps[vars[v].map].mine.size(), data.data(), nullptr),
               "write_darray");
        }
        need(PIOc_closefile(out), "closefile");
        MPI_Barrier(MPI_COMM_WORLD);
        if (t > 0) seconds.push_back(MPI_Wtime() - begin);
      }
      std::sort(seconds.begin(), seconds.end());
      const char* name = rearranger == PIO_REARR_BOX      ? "BOX"
                         : rearranger == PIO_REARR_SUBSET ? "SUBSET"
                                                          : "CONTIG";
      if (rank == 0) {
        printf("%s, I/O tasks %d: %.4f [%.4f .. %.4f]\n", name, tasks, seconds[seconds.size() / 2],
               seconds.front(), seconds.back());
        fflush(stdout);
      }
      for (auto& [key, id] : decomposition) PIOc_freedecomp(system, id);
      PIOc_finalize(system);
    }
  }
  MPI_Finalize();
}
