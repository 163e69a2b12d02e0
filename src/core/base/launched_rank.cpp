#include "core/base/launched_rank.hpp"

#include <cstdlib>
#include <string_view>

namespace slabmark {

bool is_first_rank_of_launch() {
  // Slurm's is the last one, since mpiexec runs within jobs of Slurm.
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

}  // namespace slabmark
