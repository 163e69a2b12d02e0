#include "accel/pnetcdf_dropin/agreement_backoff.hpp"

#include <gtest/gtest.h>

namespace slabmark::dropin {
namespace {

/// Makes `calls` calls that pass through to PnetCDF; returns how many were asked about.
int asked(AgreementBackoff& backoff, int calls, bool is_work = false) {
  int count = 0;
  for (int i = 0; i < calls; ++i) {
    if (backoff.next(is_work)) continue;
    ++count;
    backoff.heard(true, backoff.missed());
  }
  return count;
}

TEST(AgreementBackoff, AsksAboutEveryCallAtFirst) {
  AgreementBackoff backoff;
  EXPECT_EQ(asked(backoff, 16), 16);
  EXPECT_TRUE(backoff.is_next());
}

TEST(AgreementBackoff, AsksLessAndLessButNeverStops) {
  AgreementBackoff backoff;
  asked(backoff, 16);
  EXPECT_EQ(asked(backoff, 16), 1);
  EXPECT_EQ(asked(backoff, 32), 1);
  EXPECT_EQ(asked(backoff, 64 + 128 + 256), 3);
  EXPECT_EQ(asked(backoff, 1024), 4) << "one in 256 at least";
}

TEST(AgreementBackoff, AsksAgainAfterACallByPlan) {
  AgreementBackoff backoff;
  asked(backoff, 16 + 15);
  EXPECT_FALSE(backoff.next(true));
  backoff.heard(false, false);
  EXPECT_EQ(asked(backoff, 15), 15);
}

TEST(AgreementBackoff, EndsForEverOnceWorkWasMissed) {
  AgreementBackoff backoff;
  asked(backoff, 16);
  EXPECT_FALSE(backoff.missed());
  EXPECT_EQ(asked(backoff, 16, true), 1);
  EXPECT_TRUE(backoff.missed());
  EXPECT_EQ(asked(backoff, 100), 100);
}

}  // namespace
}  // namespace slabmark::dropin
