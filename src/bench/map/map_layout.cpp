#include "bench/map/map_layout.hpp"

#include <utility>

#include <fmt/format.h>

#include "bench/map/map_input.hpp"

namespace slabmark {

std::unique_ptr<MapFile> open_map_layout(std::unique_ptr<MapInput> input) {
  if (input->has_dimension("num_decomp")) return open_many_map(std::move(input));
  if (input->has_dimension("num_procs") && input->has_variable("nreqs")) {
    return open_single_map(std::move(input));
  }
  if (input->has_dimension("map_element") && input->has_variable("maplen")) {
    return open_parallel_io_map(std::move(input));
  }
  if (input->has_dimension("comm_sz") && input->has_variable("gmap")) {
    return open_scorpio_map(std::move(input));
  }
  if (input->has_dimension("num_procs") && input->has_variable("D1.nreqs")) {
    input->fail(
        "it is in the layout of October 2018, which leaves open which of its two lengths is that "
        "of a row. Make it again from the .dat files with dat2nc");
  }
  if (input->has_dimension("array_size")) {
    input->fail(
        "it is in the layout of November 2018 with one variable per rank, which is not read; make "
        "it "
        "again from the .dat files with dat2nc");
  }
  input->fail(fmt::format(
      "it has none of the dimensions by which decompositions are told: num_decomp of files of many "
      "maps, num_procs of files of one map, map_element of ParallelIO, comm_sz of SCORPIO{}",
      input->format() == "NetCDF" ? "" : "; nor is it a pattern file"));
}

}  // namespace slabmark
