#include "collective/context.hpp"

#include <gtest/gtest.h>

#include "collective/context_pool.hpp"

namespace slabmark::collective {
namespace {

TEST(CollectiveContext, MakesMemoryAnewForOtherSettingsAlone) {
  Context context(MPI_COMM_WORLD);
  RearrangerSettings settings;
  settings.aggregators = 1;
  EXPECT_TRUE(context.prepare(settings));
  EXPECT_EQ(context.is_aggregator(), context.comm().is_root());
  EXPECT_FALSE(context.prepare(settings));
  settings.aggregators = 2;
  EXPECT_FALSE(context.is_prepared(settings));
  EXPECT_TRUE(context.prepare(settings));
}

// A launcher may put neighbors in rank on different nodes.
TEST(CollectiveContext, KnowsAggregatorsInAnyOrder) {
  Context context(MPI_COMM_WORLD);
  const int last = context.comm().size() - 1;
  RearrangerSettings settings;
  settings.dedicated = {last};
  if (last > 0) settings.dedicated.push_back(0);
  if (last > 1) settings.dedicated.push_back(1);
  ASSERT_TRUE(context.prepare(settings));
  const int rank = context.comm().rank();
  EXPECT_EQ(context.is_aggregator(), rank == last || rank < 2);
}

TEST(CollectiveContext, ThePoolHasOneForAllCommunicatorsOfTheSameRanks) {
  ContextPool<Context> pool;
  const Comm other(MPI_COMM_WORLD);
  const auto one = pool.common(MPI_COMM_WORLD);
  EXPECT_EQ(pool.common(other.get()), one);
  EXPECT_NE(pool.common(MPI_COMM_SELF) == one, other.size() > 1);
  EXPECT_TRUE(pool.may_keep(*one));
}

TEST(CollectiveContext, OneThatIsNotKeptGoesWithItsLastFile) {
  ContextPool<Context> pool;
  auto first = pool.common(MPI_COMM_WORLD);
  auto second = pool.common(MPI_COMM_WORLD);
  const std::weak_ptr<Context> watched = first;
  pool.leave(std::move(first));
  EXPECT_FALSE(watched.expired());
  pool.leave(std::move(second));
  EXPECT_TRUE(watched.expired());
  auto kept = pool.common(MPI_COMM_WORLD);
  pool.keep(*kept, true);
  const Context* const known = kept.get();
  pool.leave(std::move(kept));
  EXPECT_EQ(pool.common(MPI_COMM_WORLD).get(), known);
}

TEST(CollectiveContext, FilesThatSeveralThreadsMayUseGetOneThatNobodyElseUses) {
  int threads = MPI_THREAD_SINGLE;
  MPI_Query_thread(&threads);
  ContextPool<Context> pool;
  auto first = pool.of(MPI_COMM_WORLD);
  const Context* const known = first.get();
  EXPECT_EQ(pool.of(MPI_COMM_WORLD) == first, threads != MPI_THREAD_MULTIPLE);
  first.reset();
  EXPECT_EQ(pool.of(MPI_COMM_WORLD).get(), known) << "nobody uses it now";
}

}  // namespace
}  // namespace slabmark::collective
