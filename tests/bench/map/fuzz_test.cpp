#include "fuzz/captured.hpp"
#include "fuzz/maps.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

TEST(Maps, OfAnyBytesAreReadOrRefusedInASentence) {
  const Comm world(MPI_COMM_WORLD);
  const Scratch scratch;
  const FuzzTarget target = map_target(scratch.path());
  expect_sound_reader(target, scratch.file("map"), static_cast<std::uint64_t>(world.rank()), 600);
}

TEST(Patterns, OfAnyBytesAreReadOrRefusedInASentence) {
  const Comm world(MPI_COMM_WORLD);
  const Scratch scratch;
  expect_sound_reader(captured_target(), scratch.file("pattern"),
                      static_cast<std::uint64_t>(world.rank()), 250);
}

}  // namespace
}  // namespace slabmark
