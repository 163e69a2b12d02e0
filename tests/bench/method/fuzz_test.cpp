#include "fuzz/private_layout.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

TEST(PrivateLayout, OfAnyBytesIsReadOrRefusedInASentence) {
  const Comm world(MPI_COMM_WORLD);
  const Scratch scratch(world);
  const FuzzTarget target = private_layout_target(world, scratch.file("seed"));
  ASSERT_GT(target.seeds.size(), 5u);
  const auto rank = static_cast<std::uint64_t>(world.rank());
  expect_sound_reader(target, scratch.file("blob" + std::to_string(rank)), rank, 1000);
}

}  // namespace
}  // namespace slabmark
