#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// Sizes of all workloads. Each workload has some of them (Workload::sizes_in_use).
struct WorkloadSizes {
  using Lengths = std::array<std::uint64_t, 3>;

  std::uint64_t steps = 1;
  std::uint64_t variables = 1;
  Lengths grid = {1, 1, 1};  ///< x, y, z, of which x is the fastest
  std::uint64_t blocks = 1;
  Lengths zones = {1, 1, 1};  ///< x, y, z
  std::uint64_t cells = 1;
  std::uint64_t levels = 1;
  std::uint64_t particles = 1;
  std::uint64_t first_particles = 0;  ///< 0: all
  std::uint64_t bytes = 1;
  std::uint64_t buffer = 1;
  std::uint64_t segments = 1;
  double parts = 1.0;
  std::uint64_t part_size = 1;
  std::uint64_t written_by = 0;  ///< 0: twice as many ranks as read
};

/// One of the sizes, as an option.
struct WorkloadSize {
  std::string_view name;  ///< of the option, without dashes
  std::variant<std::uint64_t WorkloadSizes::*, WorkloadSizes::Lengths WorkloadSizes::*,
               double WorkloadSizes::*>
      member;
  const char* help;
  bool is_bytes = false;        ///< a number of bytes, which may be written as 64K
  const char* of_default = "";  ///< what the help calls the default, where 0 stands for it
  std::uint64_t max = 1'000'000'000'000;
};

/// All sizes, in the order of the help.
std::span<const WorkloadSize> workload_sizes();

/// The work of the ranks: the pattern of each.
struct WorkloadParts {
  using Part = std::function<Pattern(std::uint64_t rank)>;

  Part written;
  Part read = nullptr;  ///< of a reader that reads otherwise than was written; null: as written
};

/// A workload that is known by name. Shapes, types, names and order of the arrays are those of its
/// source, and the defaults are small.
struct Workload {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< where its shapes and sizes come from
  WorkloadSizes defaults;
  std::vector<std::string_view> sizes_in_use;
  std::function<WorkloadParts(const WorkloadSizes& sizes, std::uint64_t ranks)> make;
  bool only_reads = false;  ///< what is measured is reading; the file is written before
};

const std::vector<Workload>& workloads();

/// The workload on `ranks` ranks. Names and settings of the patterns are those of the workload and
/// its sizes. Throws InputError where sizes do not fit together, to each other or to the ranks.
WorkloadParts make_workload(const Workload& workload, const WorkloadSizes& sizes,
                            std::uint64_t ranks);

/// The sizes of a workload by name, as texts.
std::map<std::string, std::string> describe_sizes(const Workload& workload,
                                                  const WorkloadSizes& sizes);

/// What all ranks of a workload move in one pass: of its reading, where that is measured.
struct WorkloadVolume {
  std::uint64_t bytes = 0;
  std::uint64_t requests = 0;
};
WorkloadVolume volume_of(const Workload& workload, const WorkloadParts& parts, std::uint64_t ranks);

}  // namespace slabmark
