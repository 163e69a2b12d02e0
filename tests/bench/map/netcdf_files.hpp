#pragma once

#if SLABMARK_WITH_PNETCDF

#include <string>
#include <vector>

#include "bench/map/map_files.hpp"
#include "storage/pnetcdf/file.hpp"

namespace slabmark {

/// Makes the file by the calling process alone, with whatever faults the map has.
inline void make_many_map(const std::string& path, const HandMadeMap& map, int mode = NC_CLOBBER,
                          nc_type type = NC_INT) {
  pnetcdf::File file = pnetcdf::File::create(MPI_COMM_SELF, path, mode);
  file.def_dim("num_decomp", 1);
  const int ranks = file.def_dim("decomp_nprocs", map.nreqs.size());
  const int total = file.def_dim("D1.total_nreqs", map.offsets.size());
  const int nreqs = file.def_var("D1.nreqs", type, std::vector{ranks});
  const int fills = map.fill_starts ? file.def_var("D1.fill_starts", type, std::vector{ranks}) : -1;
  const int offsets = file.def_var("D1.offsets", type, std::vector{total});
  const int lengths = file.def_var("D1.lengths", type, std::vector{total});
  file.put_att(NC_GLOBAL, "D1.ndims", type,
               std::vector<long long>{static_cast<long long>(map.dims.size())});
  file.put_att(NC_GLOBAL, "D1.dims", type, map.dims);
  file.enddef();
  const auto put = [&](int variable, const std::vector<long long>& values) {
    const MPI_Offset start = 0;
    const auto count = static_cast<MPI_Offset>(values.size());
    file.put_vara_all(variable, &start, &count, values.data(), count, MPI_LONG_LONG_INT);
  };
  put(nreqs, map.nreqs);
  if (map.fill_starts) put(fills, *map.fill_starts);
  put(offsets, map.offsets);
  put(lengths, map.lengths);
  file.close();
}

}  // namespace slabmark

#endif
