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
