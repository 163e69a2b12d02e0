#include "fuzz/maps.hpp"

namespace slabmark {
namespace {

TEST(Maps, OfAnyBytesAreReadOrRefusedInASentence) {
  const Comm alone(MPI_COMM_SELF);
  const Comm world(MPI_COMM_WORLD);
  const Scratch scratch(alone);
  const FuzzTarget target = map_target(std::filesystem::path(scratch.file("x")).parent_path());
  expect_sound_reader(target, scratch.file("map"), static_cast<std::uint64_t>(world.rank()), 600);
}

}  // namespace
}  // namespace slabmark
