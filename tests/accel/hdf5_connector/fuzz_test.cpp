#include "fuzz/log_index.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

TEST(LogIndex, OfAnyBytesIsReadOrRefusedInASentence) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Scratch scratch;
  expect_sound_reader(log_index_target(), scratch.file("index"), static_cast<std::uint64_t>(rank),
                      20'000);
}

}  // namespace
}  // namespace slabmark
