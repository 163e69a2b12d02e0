#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/measure/record.hpp"
#include "bench/method/method.hpp"

namespace slabmark::e3sm_io {

/// "vard" for pnetcdf-vard, as the original calls them; else the method's name.
std::string short_name(const MethodInfo& method);

/// The data that the report needs beside the record.
struct ReportInput {
  const MethodInfo& method;
  const CellRecord& record;
  std::uint64_t max_requests;  ///< coalesced requests of one variable on the busiest rank
  bool quiet;
};

/// The original's block of lines for one method, see docs/reference/e3sm_io.md. Times are those of
/// the slowest rank, medians where several trials were measured.
std::string format_block(const ReportInput& input);

/// The lines about the decomposition that stand before the blocks.
std::string format_setup(const std::map<std::string, double>& setup, const std::string& mpi_io);

}  // namespace slabmark::e3sm_io
