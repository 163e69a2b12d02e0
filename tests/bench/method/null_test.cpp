#include <gtest/gtest.h>

#include "bench/measure/clock.hpp"
#include "bench/method/pass.hpp"
#include "bench/method/registry.hpp"

namespace slabmark {
namespace {

Pattern empty_pattern() {
  Pattern pattern;
  pattern.name = "nothing";
  pattern.transfers = [](std::uint64_t) { return std::vector<Transfer>{}; };
  return pattern;
}

TEST(Null, ARankThatFailsInAnyPhaseMakesAllRanksFailAndNoneHang) {
  const Comm comm(MPI_COMM_WORLD);
  const auto last = std::to_string(comm.size() - 1);
  for (const auto* phase : {"create", "define", "prepare", "post", "flush", "sync", "close"}) {
    SCOPED_TRACE(phase);
    const Settings settings{{{"null.fail_phase", phase}, {"null.fail_rank", last}}, {}};
    try {
      write_file(find_method("null"), comm, empty_pattern(), settings, "no file");
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(phase), std::string::npos) << error.what();
      EXPECT_EQ(error.status(), ExitStatus::failed);
    }
  }
}

TEST(Null, OpeningFailsWhenReading) {
  const Comm comm(MPI_COMM_WORLD);
  const Settings settings{{{"null.fail_phase", "open"}}, {}};
  EXPECT_THROW(read_file(find_method("null"), comm, empty_pattern(), settings, "no file"), Error);
}

TEST(Null, APhaseThatDoesNotExistIsRefusedWithThoseThatDo) {
  const Comm comm(MPI_COMM_WORLD);
  const Settings settings{{{"null.fail_phase", "write"}}, {}};
  try {
    write_file(find_method("null"), comm, empty_pattern(), settings, "no file");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("create"), std::string::npos) << error.what();
  }
}

TEST(Null, ASlowRankIsSlowerByItsFactorInTheDelayedPhaseOnly) {
  const Comm comm(MPI_COMM_WORLD);
  const Settings settings{
      {{"null.delay_post", "0.01"}, {"null.slow_rank", "0"}, {"null.slow_factor", "5"}}, {}};
  const auto pattern = empty_pattern();
  PhaseClock clock(comm);
  const auto method = find_method("null").make({comm, pattern, Direction::write, settings, clock});
  clock.time(Phase::create, [&] { method->create("no file"); });
  clock.time(Phase::post, [&] { method->post(0, {}); });
  // A sleep is never shorter than asked for, however loaded the machine is.
  EXPECT_GE(clock.times()[Phase::post], comm.is_root() ? 0.05 : 0.01);
}

}  // namespace
}  // namespace slabmark
