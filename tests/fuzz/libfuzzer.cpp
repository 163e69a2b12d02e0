// One program a target: -D FUZZ_MAPS, FUZZ_CAPTURED, FUZZ_PRIVATE_LAYOUT or FUZZ_LOG_INDEX.
// README.md says how to build and run.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include <mpi.h>

#ifdef FUZZ_MAPS
#include "fuzz/maps.hpp"
#elif defined(FUZZ_CAPTURED)
#include "fuzz/captured.hpp"
#elif defined(FUZZ_LOG_INDEX)
#include "fuzz/log_index.hpp"
#else
#include "fuzz/private_layout.hpp"
#endif

namespace {

std::optional<slabmark::FuzzTarget> target;
std::string scratch;

}  // namespace

/// Writes the seeds to the folder that the variable SEEDS names.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  scratch = (std::filesystem::temp_directory_path() / "slabmark-fuzz-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) return 1;
#ifdef FUZZ_MAPS
  target = slabmark::map_target(scratch);
#elif defined(FUZZ_CAPTURED)
  target = slabmark::captured_target();
#elif defined(FUZZ_LOG_INDEX)
  target = slabmark::log_index_target();
#else
  target = slabmark::private_layout_target(slabmark::Comm(MPI_COMM_WORLD), scratch + "/seed");
#endif
  const char* const seeds = std::getenv("SEEDS");
  for (std::size_t i = 0; seeds != nullptr && i < target->seeds.size(); ++i) {
    std::ofstream(std::string(seeds) + "/seed" + std::to_string(i), std::ios::binary)
        << target->seeds[i];
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  slabmark::read_bytes(*target, scratch + "/file", {reinterpret_cast<const char*>(data), size});
  return 0;
}
