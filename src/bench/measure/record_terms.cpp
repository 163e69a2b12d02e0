#include <functional>

#include "bench/measure/record.hpp"

// The members of a record, one table for each struct. The records, the documentation and the
// explanations in reports are made from them. JSON has no infinite numbers: dump() makes null of
// them.

namespace slabmark {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

namespace {

template <class Struct>
struct Member : Term {
  std::function<Json(const Struct&)> value;
};

template <class Struct>
using Members = std::vector<Member<Struct>>;

template <class Struct>
void write_members(Json& to, const Struct& values) {
  to = Json::object();
  for (const auto& member : members_of(&values))
    to[std::string(member.name)] = member.value(values);
}

}  // namespace

// Not in the unnamed namespace, so that the JSON library finds them by their arguments.

template <class Struct>
  requires requires(const Struct* values) { members_of(values); }
static void to_json(Json& to, const Struct& values) {
  write_members(to, values);
}

template <class Value>
static void to_json(Json& to, const std::map<Phase, Value>& by_phase) {
  to = Json::object();
  for (const auto& [phase, value] : by_phase) to[std::string(name_of(phase))] = value;
}

static const Members<RankSummary>& members_of(const RankSummary*) {
  using Ranks = RankSummary;
  static const Members<Ranks> all = {
      {{"ranks", "", "number of ranks"}, &Ranks::ranks},
      {{"min", "", "least value of a rank"}, &Ranks::min},
      {{"median", "", "middle value"}, &Ranks::median},
      {{"mean", "", "mean value"}, &Ranks::mean},
      {{"max", "", "greatest value of a rank"}, &Ranks::max},
      {{"variance", "", "mean squared distance from the mean, in the square of the unit"},
       &Ranks::variance},
      {{"slowest_rank", "", "the lowest rank that has the maximum"}, &Ranks::slowest},
      {{"slowest_host", "", "its host"},
       [](const Ranks& s) { return text_or_null(s.slowest_host); }},
      {{"imbalance", "", "`max` / `mean`; 1 if all are 0",
        "seconds of the slowest rank / mean over the ranks; 1 is perfect"},
       &Ranks::imbalance}};
  return all;
}

static const Members<TrialSummary>& members_of(const TrialSummary*) {
  using Trials = TrialSummary;
  static const Members<Trials> all = {
      {{"trials", "", "number of trials"}, &Trials::trials},
      {{"min", "s", "least value of a trial"}, &Trials::min},
      {{"median", "s", "middle value, or the mean of the two middle values"}, &Trials::median},
      {{"mean", "s", "mean value"}, &Trials::mean},
      {{"max", "s", "greatest value of a trial"}, &Trials::max},
      {{"low", "s", "low end of the interval of the median"}, &Trials::low},
      {{"high", "s", "high end of the interval",
        "holds the median with 95 % of confidence, whatever the distribution; of fewer than 6 "
        "trials, the range"},
       &Trials::high},
      {{"is_range", "", "fewer than 6 trials: `low` and `high` are `min` and `max`"},
       &Trials::is_range},
      {{"coverage", "", "probability that the interval holds the true median"}, &Trials::coverage},
      {{"half_width", "", "half the length of the interval / `median`"}, &Trials::half_width},
      {{"variation", "", "standard deviation / mean"}, &Trials::variation},
      {{"outliers", "", "places of flagged trials, from 0, the warm-up not counted"},
       &Trials::outliers}};
  return all;
}

static const Members<Rate>& members_of(const Rate*) {
  static const Members<Rate> all = {
      {{"median", "B/s", "bytes / median seconds", "bytes that the ranks move / median seconds"},
       &Rate::median},
      {{"low", "B/s", "bytes / high end of the interval"}, &Rate::low},
      {{"high", "B/s", "bytes / low end of the interval"}, &Rate::high}};
  return all;
}

static const Members<PhaseRecord>& members_of(const PhaseRecord*) {
  static const Members<PhaseRecord> all = {
      {{"seconds", "s", "from the common start to the slowest rank's end, summed over the parts"},
       &PhaseRecord::seconds},
      {{"ranks", "s",
        "summary over ranks of their own sums; its `max` may be below `seconds`, where different "
        "ranks were slow in different parts"},
       &PhaseRecord::ranks},
      {{"until_all", "s",
        "longest time of a rank from its start until it knew that all had ended, summed over the "
        "parts; earlier records lack it"},
       &PhaseRecord::until_all}};
  return all;
}

// transfer and overhead follow from the phases; they are written for readers.
static const Members<TrialRecord>& members_of(const TrialRecord*) {
  using Trial = TrialRecord;
  static const Members<Trial> all = {
      {{"warm_up", "", "whether it is outside the statistics"}, &Trial::warm_up},
      {{"round", "", "round of the interleaving; 0 is the warm-up"}, &Trial::round},
      {{"position", "", "turn of the cell in that round, from 0"}, &Trial::position},
      {{"open_to_close", "s", "from create or open until closed, without the pauses"},
       &Trial::open_to_close},
      {{"transfer", "s", "`prepare` + `post` + `flush`"}, &Trial::transfer},
      {{"overhead", "s", "`open_to_close` minus the sum of the phases",
        "open to close less all phases: ranks that wait for a core, and the agreements between "
        "phases"},
       &Trial::overhead},
      {{"agreements", "s",
        "the part of `overhead` in which no rank was inside a phase; earlier records lack it"},
       &Trial::agreements},
      {{"phases", "s", "by name, only those in which a rank spent time: see below"},
       &Trial::phases},
      {{"busy", "s", "summary over ranks of each rank's own phases together"}, &Trial::busy},
      {{"open_to_close_ranks", "s",
        "summary over ranks of each rank's own time from create to close; earlier records lack it"},
       &Trial::open_to_close_ranks},
      {{"transfer_ranks", "s",
        "summary over ranks of each rank's own `transfer`; its `max` may be below `transfer`, "
        "whose phases may have different slowest ranks; earlier records lack it"},
       &Trial::transfer_ranks},
      {{"slowest_split", "s", "own seconds by phase of the rank that `busy` calls slowest"},
       &Trial::slowest_split},
      {{"spans", "s",
        "summary over ranks for each named part of a phase, such as `create.reopen`; 0 for a rank "
        "without it"},
       &Trial::spans}};
  return all;
}

static const Members<RatedSummary>& members_of(const RatedSummary*) {
  static const Members<RatedSummary> all = {
      {{"seconds", "s", "summary over trials"}, &RatedSummary::seconds},
      {{"bytes_per_second", "B/s",
        "`median`, `low`, `high`; `null` if an end of the interval is 0 s"},
       [](const RatedSummary& s) { return s.rate ? Json(*s.rate) : Json(nullptr); }}};
  return all;
}

static const Members<CellSummary>& members_of(const CellSummary*) {
  using Summary = CellSummary;
  static const Members<Summary> all = {
      {{"phases", "s", "by name: a summary over trials"}, &Summary::phases},
      {{"transfer", "", "`seconds` (a summary over trials) and `bytes_per_second`",
        "prepare, post and flush"},
       &Summary::transfer},
      {{"open_to_close", "", "the same for open to close",
        "median over the trials of the seconds from creation or opening until closed, slowest "
        "rank"},
       &Summary::open_to_close},
      {{"overhead", "s", "a summary over trials"}, &Summary::overhead}};
  return all;
}

static const Members<PatternRecord>& members_of(const PatternRecord*) {
  using Pattern = PatternRecord;
  static const Members<Pattern> all = {
      {{"name", "", "name of the pattern"}, &Pattern::name},
      {{"settings", "",
        "text by name; `files`: how many there are, `appended`, or `one a round`, if it is not one "
        "for all rounds"},
       &Pattern::settings},
      {{"datasets", "", "number of datasets"}, &Pattern::datasets},
      {{"rounds", "", "number of time steps"}, &Pattern::rounds},
      {{"bytes", "B",
        "moved by all ranks in all rounds and files; where each round is a trial: in one"},
       &Pattern::bytes},
      {{"requests", "",
        "hyperslabs in all rounds, or in one likewise: `total`, and those of the ranks with most "
        "(`max`) and fewest (`min`)"},
       [](const Pattern& p) {
         return Json{{"total", p.requests_total}, {"max", p.requests_max}, {"min", p.requests_min}};
       }},
      {{"ranks", "", "number of ranks"}, &Pattern::ranks}};
  return all;
}

static const Members<Verification>& members_of(const Verification*) {
  static const Members<Verification> all = {
      {{"state", "", "`\"yes\"`, `\"no\"` or `\"not asked\"`",
        "whether every element was read back by another rank and compared, outside the times"},
       [](const Verification& v) { return std::string(name_of(v.state)); }},
      {{"elements", "", "number of elements checked, over all ranks"}, &Verification::elements},
      {{"by", "", "how they were read"}, [](const Verification& v) { return text_or_null(v.by); }},
      {{"mismatch", "", "the first wrong element, in words"},
       [](const Verification& v) { return text_or_null(v.mismatch); }}};
  return all;
}

static const Members<Bound>& members_of(const Bound*) {
  static const Members<Bound> all = {
      {{"method", "", "name of the method"}, &Bound::method},
      {{"bytes", "B", "moved by all ranks"}, &Bound::bytes},
      {{"seconds", "s", "median open-to-close"}, &Bound::seconds},
      {{"share", "", "these seconds / the cell's",
        "seconds of the limit / seconds of the cell; the limit moves the same bytes contiguously, "
        "beside the cell; where there are several, the fastest counts"},
       &Bound::share}};
  return all;
}

static const Members<StoppingRule>& members_of(const StoppingRule*) {
  static const Members<StoppingRule> all = {
      {{"min_trials", "", "trials that the rule asks for"}, &StoppingRule::min_trials},
      {{"max_trials", "", "trials at which it ends"}, &StoppingRule::max_trials},
      {{"precision", "", "half-width of the interval that is enough, as a share of the median"},
       &StoppingRule::precision},
      {{"time_budget", "s", "seconds that a cell may take"}, &StoppingRule::time_budget}};
  return all;
}

static const Members<CellRecord>& members_of(const CellRecord*) {
  using Cell = CellRecord;
  static const Members<Cell> all = {
      {{"slabmark_record", "", "version of this layout: 1"},
       [](const Cell&) { return record_version; }},
      {{"pattern", "", "what is moved: see below"}, &Cell::pattern},
      {{"method", "", "name of the method"}, &Cell::method},
      {{"method_summary", "", "what it does, in a line; earlier records lack it"},
       &Cell::method_summary},
      {{"direction", "",
        "`\"write\"` or `\"read\"`; `\"exchange\"` for messages between nodes, which touch no "
        "file"},
       &Cell::direction},
      {{"unsupported", "",
        "why the method cannot move this pattern; there are no trials then. `null`: it was "
        "measured"},
       [](const Cell& c) { return text_or_null(c.unsupported); }},
      {{"settings", "", "options and hints as asked for, defaults filled in"}, &Cell::settings},
      {{"effective", "",
        "what rank 0's library did: hints in effect, collective or not and why not, versions"},
       &Cell::effective},
      {{"differences", "",
        "where other ranks depart from `effective`: `path` (a JSON pointer into it), `rank` (the "
        "lowest that departs), `value` (`null`: it has none)"},
       &Cell::differences},
      {{"sync", "", "whether open-to-close includes making the files durable"}, &Cell::sync},
      {{"cache", "",
        "of a read: `\"cold\"` (pages were dropped first) or `\"warm\"`; `null` for a write"},
       [](const Cell& c) { return text_or_null(c.cache); }},
      {{"setup", "s", "spent once before the trials, by name: `map_read`, `sort`"}, &Cell::setup},
      {{"memory", "B", "by name, each a summary over ranks: `peak_resident` and others"},
       &Cell::memory},
      {{"stopping", "", "the rule, see below, and the `reason` why the cell stopped"},
       [](const Cell& c) {
         Json stopping = c.rule;
         stopping["reason"] = c.stop ? Json(std::string(name_of(*c.stop))) : Json(nullptr);
         return stopping;
       }},
      {{"order", "", "`seed` of the interleaving and the number of `cells` that took turns"},
       [](const Cell& c) {
         return Json{{"seed", c.seed}, {"cells", c.cells}};
       }},
      {{"trials", "", "a list, see below"}, &Cell::trials},
      {{"once", "",
        "if each time step of an open file is a trial: the work before the first and after the "
        "last, as a trial; otherwise `null`"},
       [](const Cell& c) { return c.once ? Json(*c.once) : Json(nullptr); }},
      {{"summary", "", "over the trials that are no warm-up: see below"}, &Cell::summary},
      {{"verified", "", "see below"}, &Cell::verified},
      {{"bounds", "", "the same bytes moved contiguously, a list: see below"}, &Cell::bounds},
      {{"manifest", "", "the conditions of the run: see below"}, &Cell::manifest}};
  return all;
}

void to_json(Json& to, const CellRecord& record) { write_members(to, record); }

static void to_json(Json& to, const Term& term) {
  to = {{"name", term.name},
        {"unit", term.unit},
        {"description", term.description},
        {"hint", term.hint}};
}

template <class Struct>
static std::vector<Term> terms_of() {
  const auto& members = members_of(static_cast<const Struct*>(nullptr));
  return {members.begin(), members.end()};
}

Json describe_terms() {
  return {{"phases", std::vector<Term>(phase_terms.begin(), phase_terms.end())},
          {"record", terms_of<CellRecord>()},
          {"pattern", terms_of<PatternRecord>()},
          {"stopping", terms_of<StoppingRule>()},
          {"trial", terms_of<TrialRecord>()},
          {"phase", terms_of<PhaseRecord>()},
          {"summary", terms_of<CellSummary>()},
          {"rated", terms_of<RatedSummary>()},
          {"rate", terms_of<Rate>()},
          {"over_ranks", terms_of<RankSummary>()},
          {"over_trials", terms_of<TrialSummary>()},
          {"verified", terms_of<Verification>()},
          {"bound", terms_of<Bound>()}};
}

}  // namespace slabmark
