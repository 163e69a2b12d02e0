#pragma once

#include "bench/measure/record.hpp"

namespace slabmark {

inline RankSummary two_ranks(double a, double b) {
  RankSummary summary = summarise_ranks(std::vector{a, b});
  summary.slowest_host = "node1";
  return summary;
}

inline TrialRecord example_trial(double post, bool warm_up) {
  TrialRecord trial;
  trial.open_to_close = post + 0.5;
  trial.phases[Phase::create] = {0.25, two_ranks(0.25, 0.25), 0.375};
  trial.phases[Phase::post] = {post, two_ranks(0.0, post), post + 0.125};
  trial.busy = two_ranks(0.25, 0.25 + post);
  trial.open_to_close_ranks = two_ranks(post + 0.5, post + 0.5);
  trial.transfer_ranks = two_ranks(0.0, post);
  trial.slowest_split = {{Phase::create, 0.25}, {Phase::post, post}};
  trial.spans["create.reopen"] = two_ranks(0.125, 0.0);
  trial.agreements = 0.0625;
  trial.warm_up = warm_up;
  trial.round = warm_up ? 0 : 1;
  trial.position = 2;
  return trial;
}

/// A record in which every member has a value of its own; numbers are sums of powers of two, so
/// that their decimals are exact.
inline CellRecord example_record() {
  CellRecord record;
  record.pattern = {.name = "decomposition",
                    .settings = {{"map", "f_case.nc"}, {"variables", "3"}},
                    .datasets = 3,
                    .rounds = 1,
                    .bytes = 4096,
                    .requests_total = 12,
                    .requests_max = 8,
                    .requests_min = 4,
                    .ranks = 2};
  record.method = "pnetcdf-varn";
  record.method_summary = "a call a variable";
  record.direction = "write";
  record.settings = {{"options", {{"pnetcdf.blocking", "off"}}}};
  record.effective = {{"collective", true}};
  record.differences = {{{"path", "/hints/cb_nodes"}, {"rank", 1}, {"value", "2"}}};
  record.sync = true;
  record.setup = {{"map_read", 0.5}};
  record.memory = {{"peak_resident", two_ranks(1024.0, 3072.0)}};
  record.rule = fixed_trials(1);
  record.stop = StopReason::fixed;
  record.seed = 18446744073709551615ULL;
  record.cells = 4;
  record.trials = {example_trial(4.0, true), example_trial(2.0, false)};
  record.summary = summarise(record.trials, record.pattern.bytes);
  record.verified = {.state = Verified::yes, .elements = 512, .by = "plain reader", .mismatch = ""};
  record.bounds = {{.method = "posix", .bytes = 4096, .seconds = 1.25, .share = 0.5}};
  record.manifest = {{"seed", 7}};
  return record;
}

}  // namespace slabmark
