#include "bench/measure/record.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "bench/measure/record_example.hpp"

namespace slabmark {
namespace {

TEST(Trials, DeriveTransferAndOverheadFromThePhases) {
  TrialRecord trial;
  trial.open_to_close = 10.0;
  double seconds = 0.125;
  for (const Phase phase : all_phases) {
    trial.phases[phase].seconds = seconds;
    seconds *= 2.0;
  }
  trial.open_to_close = 32.0;
  // create 1/8, open 1/4, define 1/2, prepare 1, post 2, flush 4, sync 8, close 16
  EXPECT_EQ(trial.transfer(), 7.0);
  EXPECT_EQ(trial.overhead(), 0.125);
}

TEST(CellSummaries, LeaveOutTheWarmUp) {
  std::vector<TrialRecord> trials = {example_trial(100.0, true), example_trial(2.0, false),
                                     example_trial(4.0, false)};
  const CellSummary summary = summarise(trials, 8);
  EXPECT_EQ(summary.open_to_close.seconds.trials, 2u);
  EXPECT_EQ(summary.open_to_close.seconds.median, 3.5);
  EXPECT_EQ(summary.transfer.seconds.median, 3.0);
  EXPECT_EQ(summary.phases.at(Phase::post).max, 4.0);
  EXPECT_EQ(summary.overhead.median, 0.25);
  EXPECT_DOUBLE_EQ(summary.open_to_close.rate->median, 8 / 3.5);
  EXPECT_EQ(measured_seconds(trials), (std::vector{2.5, 4.5}));
}

TEST(CellSummaries, CountAPhaseThatATrialLacksAsZero) {
  std::vector<TrialRecord> trials = {example_trial(2.0, false), example_trial(2.0, false)};
  trials[1].phases.erase(Phase::create);
  EXPECT_EQ(summarise(trials, 8).phases.at(Phase::create).min, 0.0);
}

TEST(Differences, AreEntriesThatDifferAreMissingOrAreNew) {
  const Json root = {{"hints", {{"a", 1}, {"b", 2}}}, {"list", {1, 2}}};
  const Json other = {{"hints", {{"a", 1}, {"c", 3}}}, {"list", {1, 5}}};
  const Json expected = {{{"path", "/hints/c"}, {"rank", 4}, {"value", 3}},
                         {{"path", "/list/1"}, {"rank", 4}, {"value", 5}},
                         {{"path", "/hints/b"}, {"rank", 4}, {"value", nullptr}}};
  EXPECT_EQ(differing(root, other, 4), expected);
  EXPECT_EQ(differing(root, root, 4), Json::array());
  EXPECT_EQ(differing(Json::object(), Json::object(), 4), Json::array());
}

TEST(Records, AreWrittenAsDocumented) {
  const Json expected = Json::parse(R"json(
    {
      "bounds": [{"bytes": 4096, "method": "posix", "seconds": 1.25, "share": 0.5}],
      "cache": null, "differences": [{"path": "/hints/cb_nodes", "rank": 1, "value": "2"}],
      "direction": "write", "effective": {"collective": true}, "manifest": {"seed": 7},
      "memory": {
        "peak_resident": {
          "imbalance": 1.5, "max": 3072.0, "mean": 2048.0, "median": 2048.0, "min": 1024.0,
          "ranks": 2, "slowest_host": "node1", "slowest_rank": 1, "variance": 1048576.0
        }
      },
      "method": "pnetcdf-varn", "method_summary": "a call a variable", "once": null, "order": {"cells": 4, "seed": 18446744073709551615},
      "pattern": {
        "bytes": 4096, "datasets": 3, "name": "decomposition", "ranks": 2,
        "requests": {"max": 8, "min": 4, "total": 12}, "rounds": 1,
        "settings": {"map": "f_case.nc", "variables": "3"}
      },
      "settings": {"options": {"pnetcdf.blocking": "off"}}, "setup": {"map_read": 0.5},
      "slabmark_record": 1,
      "stopping": {
        "max_trials": 1, "min_trials": 1, "precision": 0.05, "reason": "fixed",
        "time_budget": null
      },
      "summary": {
        "open_to_close": {
          "bytes_per_second": {"high": 1638.4, "low": 1638.4, "median": 1638.4},
          "seconds": {
            "coverage": 0.0, "half_width": 0.0, "high": 2.5, "is_range": true, "low": 2.5,
            "max": 2.5, "mean": 2.5, "median": 2.5, "min": 2.5, "outliers": [], "trials": 1,
            "variation": 0.0
          }
        },
        "overhead": {
          "coverage": 0.0, "half_width": 0.0, "high": 0.25, "is_range": true, "low": 0.25,
          "max": 0.25, "mean": 0.25, "median": 0.25, "min": 0.25, "outliers": [], "trials": 1,
          "variation": 0.0
        },
        "phases": {
          "create": {
            "coverage": 0.0, "half_width": 0.0, "high": 0.25, "is_range": true, "low": 0.25,
            "max": 0.25, "mean": 0.25, "median": 0.25, "min": 0.25, "outliers": [],
            "trials": 1, "variation": 0.0
          },
          "post": {
            "coverage": 0.0, "half_width": 0.0, "high": 2.0, "is_range": true, "low": 2.0,
            "max": 2.0, "mean": 2.0, "median": 2.0, "min": 2.0, "outliers": [], "trials": 1,
            "variation": 0.0
          }
        },
        "transfer": {
          "bytes_per_second": {"high": 2048.0, "low": 2048.0, "median": 2048.0},
          "seconds": {
            "coverage": 0.0, "half_width": 0.0, "high": 2.0, "is_range": true, "low": 2.0,
            "max": 2.0, "mean": 2.0, "median": 2.0, "min": 2.0, "outliers": [], "trials": 1,
            "variation": 0.0
          }
        }
      },
      "sync": true,
      "trials": [
        {
          "busy": {
            "imbalance": 1.8888888888888888, "max": 4.25, "mean": 2.25, "median": 2.25,
            "min": 0.25, "ranks": 2, "slowest_host": "node1", "slowest_rank": 1,
            "variance": 4.0
          },
          "open_to_close": 4.5,
          "open_to_close_ranks": {
            "imbalance": 1.0, "max": 4.5, "mean": 4.5, "median": 4.5, "min": 4.5,
            "ranks": 2, "slowest_host": "node1", "slowest_rank": 0, "variance": 0.0
          },
          "overhead": 0.25,
          "agreements": 0.0625,
          "phases": {
            "create": {
              "ranks": {
                "imbalance": 1.0, "max": 0.25, "mean": 0.25, "median": 0.25, "min": 0.25,
                "ranks": 2, "slowest_host": "node1", "slowest_rank": 0, "variance": 0.0
              },
              "seconds": 0.25, "until_all": 0.375
            },
            "post": {
              "ranks": {
                "imbalance": 2.0, "max": 4.0, "mean": 2.0, "median": 2.0, "min": 0.0,
                "ranks": 2, "slowest_host": "node1", "slowest_rank": 1, "variance": 4.0
              },
              "seconds": 4.0, "until_all": 4.125
            }
          },
          "position": 2, "round": 0, "slowest_split": {"create": 0.25, "post": 4.0},
          "spans": {
            "create.reopen": {
              "imbalance": 2.0, "max": 0.125, "mean": 0.0625, "median": 0.0625, "min": 0.0,
              "ranks": 2, "slowest_host": "node1", "slowest_rank": 0, "variance": 0.00390625
            }
          },
          "transfer": 4.0,
          "transfer_ranks": {
            "imbalance": 2.0, "max": 4.0, "mean": 2.0, "median": 2.0, "min": 0.0,
            "ranks": 2, "slowest_host": "node1", "slowest_rank": 1, "variance": 4.0
          },
          "warm_up": true
        },
        {
          "busy": {
            "imbalance": 1.8, "max": 2.25, "mean": 1.25, "median": 1.25, "min": 0.25,
            "ranks": 2, "slowest_host": "node1", "slowest_rank": 1, "variance": 1.0
          },
          "open_to_close": 2.5,
          "open_to_close_ranks": {
            "imbalance": 1.0, "max": 2.5, "mean": 2.5, "median": 2.5, "min": 2.5,
            "ranks": 2, "slowest_host": "node1", "slowest_rank": 0, "variance": 0.0
          },
          "overhead": 0.25,
          "agreements": 0.0625,
          "phases": {
            "create": {
              "ranks": {
                "imbalance": 1.0, "max": 0.25, "mean": 0.25, "median": 0.25, "min": 0.25,
                "ranks": 2, "slowest_host": "node1", "slowest_rank": 0, "variance": 0.0
              },
              "seconds": 0.25, "until_all": 0.375
            },
            "post": {
              "ranks": {
                "imbalance": 2.0, "max": 2.0, "mean": 1.0, "median": 1.0, "min": 0.0,
                "ranks": 2, "slowest_host": "node1", "slowest_rank": 1, "variance": 1.0
              },
              "seconds": 2.0, "until_all": 2.125
            }
          },
          "position": 2, "round": 1, "slowest_split": {"create": 0.25, "post": 2.0},
          "spans": {
            "create.reopen": {
              "imbalance": 2.0, "max": 0.125, "mean": 0.0625, "median": 0.0625, "min": 0.0,
              "ranks": 2, "slowest_host": "node1", "slowest_rank": 0, "variance": 0.00390625
            }
          },
          "transfer": 2.0,
          "transfer_ranks": {
            "imbalance": 2.0, "max": 2.0, "mean": 1.0, "median": 1.0, "min": 0.0,
            "ranks": 2, "slowest_host": "node1", "slowest_rank": 1, "variance": 1.0
          },
          "warm_up": false
        }
      ],
      "unsupported": null,
      "verified": {"by": "plain reader", "elements": 512, "mismatch": null, "state": "yes"}
    }
  )json");
  const Json written = Json::parse(Json(example_record()).dump());
  EXPECT_EQ(written, expected);
}

TEST(Records, HaveNullForInfiniteNumbersAndWhatIsAbsent) {
  CellRecord record = example_record();
  record.rule.time_budget = std::numeric_limits<double>::infinity();
  record.summary.overhead.half_width = std::numeric_limits<double>::infinity();
  record.summary.transfer.rate.reset();
  record.stop.reset();
  record.cache = "warm";
  record.unsupported = "no such selection";
  const Json written = Json::parse(Json(record).dump());
  EXPECT_TRUE(written["stopping"]["time_budget"].is_null());
  EXPECT_TRUE(written["summary"]["overhead"]["half_width"].is_null());
  EXPECT_TRUE(written["summary"]["transfer"]["bytes_per_second"].is_null());
  EXPECT_TRUE(written["stopping"]["reason"].is_null());
  EXPECT_EQ(written["cache"], "warm");
  EXPECT_EQ(written["unsupported"], "no such selection");
}

}  // namespace
}  // namespace slabmark
