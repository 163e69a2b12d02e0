#include "collective/settings.hpp"

#include <gtest/gtest.h>

namespace slabmark::collective {
namespace {

const Settings::Hints none;

Settings settings(const Settings::Hints& asked, const Settings::Hints& in_effect = none,
                  const Options& options = {}) {
  return Settings(options, asked, in_effect, "/tmp/no_such_file");
}

TEST(CollectiveSettings, AHintThatIsNoNumberCountsAsNotGiven) {
  const auto made = settings({{"cb_nodes", "many"}, {"striping_unit", "wide"}});
  EXPECT_EQ(made.aggregators().value, 0u);
  EXPECT_EQ(made.aggregators().from, "nodes");
  EXPECT_EQ(made.alignment().value, 4096u);
  EXPECT_EQ(made.alignment().from, "page");
}

TEST(CollectiveSettings, OptionsComeBeforeHints) {
  Options options;
  options.prefix = "x.";
  options.aggregators = 3;
  options.align = 100;
  const auto made = settings({{"cb_nodes", "2"}, {"striping_unit", "1M"}}, none, options);
  EXPECT_EQ(made.aggregators().value, 3u);
  EXPECT_EQ(made.aggregators().from, "option x.aggregators");
  EXPECT_EQ(made.alignment().value, 100u);
  EXPECT_EQ(made.alignment().from, "option x.align");
}

TEST(CollectiveSettings, StripesAreThoseInEffectElseThoseAskedFor) {
  const Settings::Hints asked = {{"striping_unit", "1M"}, {"striping_factor", "4"}};
  EXPECT_EQ(settings(asked).alignment().value, std::uint64_t{1} << 20);
  EXPECT_EQ(settings(asked).exchange().stripes, 4u);
  EXPECT_EQ(settings(asked).aggregators().from, "nodes and hint striping_factor");
  const auto other = settings(asked, {{"striping_unit", "65536"}, {"striping_factor", "1"}});
  EXPECT_EQ(other.alignment().value, 65536u);
  EXPECT_EQ(other.exchange().stripes, 1u);
}

TEST(CollectiveSettings, RanksAgreeOnTheLeastOfThoseThatHaveAnOpinion) {
  const Comm comm(MPI_COMM_WORLD);
  const bool is_last = comm.rank() == comm.size() - 1;
  auto made = settings({{"cb_nodes", std::to_string(7 + comm.rank())},
                        {"striping_unit", is_last ? "8192" : "65536"}});
  made.agree(comm);
  EXPECT_EQ(made.aggregators().value, 7u);
  EXPECT_EQ(made.alignment().value, 8192u);
  auto of_last = settings({{"cb_nodes", std::to_string(1 + comm.rank())}});
  of_last.agree(comm, is_last);
  EXPECT_EQ(of_last.exchange().aggregators, static_cast<std::uint64_t>(comm.size()));
}

TEST(CollectiveSettings, HintsThatMpiIoHadBetterNotSeeAreLeftOut) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "1");
  MPI_Info_set(info, "cb_nodes", "2");
  const auto hints = usable_hints(info);
  MPI_Info_free(&info);
  EXPECT_EQ(hints, (mpiio::Hints{{"cb_nodes", "2"}}));
}

}  // namespace
}  // namespace slabmark::collective
