#pragma once

#include <memory>
#include <string>

#include "bench/map/decomposition.hpp"

namespace slabmark {

class MapInput;

/// Collective. Reads the input as maps, whichever layout it has. Throws an agreed InputError if it
/// has none of those known.
std::unique_ptr<MapFile> open_map_layout(std::unique_ptr<MapInput> input);

/// The layout of June 2018: dimensions num_procs and max_nreqs, variables nreqs(num_procs) and
/// offsets(num_procs, max_nreqs), attributes var_ndims and dim_len_0, dim_len_1, ...
std::unique_ptr<MapFile> open_single_map(std::unique_ptr<MapInput> input);

/// The layout of March 2019 and later: dimensions num_decomp and decomp_nprocs, and for each map
/// D1, D2, ... a dimension D1.total_nreqs, variables D1.nreqs(decomp_nprocs), D1.offsets and
/// D1.lengths (D1.total_nreqs), and attributes D1.ndims and D1.dims. Where there is a
/// D1.fill_starts (decomp_nprocs), requests of a rank from that one on only fill what no rank owns,
/// and are left out.
std::unique_ptr<MapFile> open_many_map(std::unique_ptr<MapInput> input);

/// The output of PIOc_write_nc_decomp() of ParallelIO: dimensions dims, task and map_element,
/// variables global_size(dims), maplen(task) and map(task, map_element), from 0, -1 is a hole.
std::unique_ptr<MapFile> open_parallel_io_map(std::unique_ptr<MapInput> input);

/// The output of SCORPIO's logger of decompositions: dimensions comm_sz and gmaplen, variables
/// counts(comm_sz) and gmap(gmaplen), from 1, 0 is a hole, and the attribute gdimlen. Its
/// gmap_regions hold the same once more.
std::unique_ptr<MapFile> open_scorpio_map(std::unique_ptr<MapInput> input);

}  // namespace slabmark
