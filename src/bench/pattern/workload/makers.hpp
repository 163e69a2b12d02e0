#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/pattern/output_table.hpp"
#include "bench/pattern/workload/workload.hpp"

/// The makers of the workloads; no business of anyone else.
namespace slabmark::workload {

WorkloadParts flash(const WorkloadSizes& sizes, std::uint64_t ranks);
WorkloadParts wrf(const WorkloadSizes& sizes, std::uint64_t ranks);
WorkloadParts mpas(const WorkloadSizes& sizes, std::uint64_t ranks);
WorkloadParts vpic(const WorkloadSizes& sizes, std::uint64_t ranks);
WorkloadParts bdcats(const WorkloadSizes& sizes, std::uint64_t ranks);
WorkloadParts ior_easy(const WorkloadSizes& sizes, std::uint64_t ranks);
WorkloadParts ior_hard(const WorkloadSizes& sizes, std::uint64_t ranks);
WorkloadParts macsio(const WorkloadSizes& sizes, std::uint64_t ranks);
WorkloadParts restart(const WorkloadSizes& sizes, std::uint64_t ranks);

using NamedLengths = std::map<std::string, std::uint64_t>;
using NamedRanges = std::map<std::string, Run>;

/// The output file of a table for a rank that has, on each map, the box of these ranges of named
/// dimensions and all of the other dimensions.
Pattern make_boxed_output(const OutputTable& table, const NamedLengths& lengths,
                          const NamedRanges& ranges, std::uint64_t rank, std::uint64_t steps);

/// Two factors of a number, as equal as can be.
struct Factors {
  std::uint64_t smaller = 1;
  std::uint64_t larger = 1;
};
Factors nearest_factors(std::uint64_t product);

}  // namespace slabmark::workload
