#include "capture/read/merge.hpp"

#include <gmock/gmock.h>

#include "capture/read/recorded.hpp"
#include "capture/read/spool_reader.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Merge : public testing::Test {
 protected:
  /// A rank of a program that runs to its end.
  void run_rank(int rank, int ranks, const std::string& more = "") {
    SpoolingProcess process(pattern);
    process.set_rank(rank, ranks, more);
    record_steps(process.recording, ranks, 3);
    process.finish();
  }
  MergeResult merge(MergeRequest more = {}) {
    more.spool = pattern + capture::spool_folder_ending;
    more.output = pattern;
    std::filesystem::remove(pattern);
    return merge_spool(more);
  }
  std::vector<std::string> states() const {
    const PatternFile file(pattern);
    std::vector<std::string> all;
    for (const auto& rank : file.header()["ranks"]) all.push_back(rank["state"]);
    return all;
  }
  std::uint64_t events_of(std::uint64_t rank) const {
    const PatternFile file(pattern);
    RankReader reader(file, rank);
    std::uint64_t count = 0;
    for (CapturedEvent event; reader.next(event);) ++count;
    return count;
  }
  std::string spool_file() const {
    for (const auto& entry :
         std::filesystem::directory_iterator(pattern + capture::spool_folder_ending)) {
      if (entry.path().extension() == capture::spool_file_ending) return entry.path();
    }
    return "";
  }

  const Scratch scratch;
  const std::string pattern = scratch.file("run.pattern");
};

TEST_F(Merge, RanksThatRecordedTheSameShareFilesAndDefinitions) {
  run_rank(1, 2);
  run_rank(0, 2);
  const MergeResult result = merge();
  EXPECT_EQ(result.ranks, 2);
  EXPECT_THAT(result.notes, IsEmpty());
  EXPECT_THAT(states(), ElementsAre("finished", "finished"));
  const PatternFile file(pattern);
  EXPECT_EQ(file.files().size(), 1);
  EXPECT_EQ(file.definitions().size(), 4);
  EXPECT_EQ(file.origin(), "captured");
  EXPECT_EQ(events_of(0), 5);
  EXPECT_EQ(events_of(1), 5);
}

TEST_F(Merge, RanksThatAreMissingAreNamed) {
  run_rank(0, 3);
  run_rank(2, 3);
  EXPECT_THAT(refusal([&] { merge(); }),
              testing::AllOf(HasSubstr("1 of 3 ranks left nothing in"), HasSubstr(": 1; put"),
                             HasSubstr("--allow-missing")));
  EXPECT_FALSE(std::filesystem::exists(pattern));
  EXPECT_THAT(merge({.allow_missing = true}).notes,
              ElementsAre("Ranks that left nothing are taken to have done nothing: 1."));
  EXPECT_THAT(states(), ElementsAre("finished", "missing", "finished"));
  EXPECT_EQ(events_of(1), 0);
}

TEST_F(Merge, TwoProcessesThatAreOneRankAreRefused) {
  run_rank(0, 2);
  run_rank(0, 2);
  EXPECT_THAT(refusal([&] { merge(); }),
              HasSubstr("The spool is of more than one run: rank 0 of 2"));
}

TEST_F(Merge, OfSeveralLaunchesOneIsAskedFor) {
  run_rank(0, 1, R"(,"launch":"first","started":1,"program":"a")");
  run_rank(0, 2, R"(,"launch":"second","started":2,"program":"b")");
  run_rank(1, 2, R"(,"launch":"second","started":3,"program":"b")");
  const std::string all = "The spool is of 2 runs: 1 is 'a' on 1 rank, 2 is 'b' on 2 ranks";
  EXPECT_EQ(refusal([&] { merge(); }),
            all + "; say which by 'slabmark capture --merge SPOOL --run NUMBER'.");
  EXPECT_EQ(refusal([&] { merge({.run = 3}); }), all + "; there is no run 3.");
  EXPECT_EQ(merge({.run = 2}).notes.front(), all + ".");
  EXPECT_THAT(states(), ElementsAre("finished", "finished"));
}

TEST_F(Merge, AProcessThatWasKilledHasTheBlockThatItWasIn) {
  SpoolingProcess process(pattern);
  process.set_rank(0, 1);
  record_steps(process.recording, 1, 2);
  capture::Bytes pending;
  process.recording.events.put_pending(pending, process.recording.times);
  process.write();
  process.spool().add(capture::Stream::pending, pending);
  process.spool().write();
  EXPECT_THAT(merge().notes, ElementsAre(HasSubstr("until the program ended early, on rank 0")));
  EXPECT_THAT(states(), ElementsAre("ended early"));
  EXPECT_EQ(events_of(0), 4);  // one of them in the pending block
}

TEST_F(Merge, ADamagedFrameEndsItsProcessAndNoOther) {
  run_rank(0, 2);
  const std::size_t behind_first = bytes_of(spool_file()).size();
  run_rank(1, 2);
  const std::string whole = bytes_of(spool_file());
  for (const std::size_t at : {behind_first - 1, behind_first / 2, std::size_t{20}}) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    write_bytes(spool_file(), damaged);
    const SpoolReader spool(pattern + capture::spool_folder_ending);
    EXPECT_EQ(spool.damaged(), 1);
    if (at + 1 < behind_first) continue;  // nothing says who the first process is
    EXPECT_THAT(merge().notes, testing::Contains(HasSubstr("left out at 1 place of the spool")));
    EXPECT_THAT(states(), ElementsAre("ended early", "finished"));
  }
}

TEST_F(Merge, WhatIsCutOffIsLeftOut) {
  run_rank(0, 1);
  const std::string whole = bytes_of(spool_file());
  for (std::size_t length = 0; length < whole.size(); length += 61) {
    write_bytes(spool_file(), whole.substr(0, length));
    const std::string sentence = refusal([&] { merge(); });
    if (sentence.empty()) {
      EXPECT_THAT(states(), ElementsAre("ended early"));
    } else {
      EXPECT_THAT(sentence, testing::AnyOf(HasSubstr("nothing in it is whole"),
                                           HasSubstr("Nothing was recorded")));
    }
  }
}

TEST_F(Merge, CallsOfChildrenAreCounted) {
  SpoolingProcess process(pattern);
  process.set_rank(0, 1);
  record_steps(process.recording, 1, 1);
  std::atomic<std::uint64_t>* const calls = process.spool().calls_of_children();
  ASSERT_NE(calls, nullptr);
  *calls += 5;
  process.finish();
  EXPECT_THAT(merge().notes, ElementsAre(HasSubstr("calls of the child of a fork")));
  const PatternFile file(pattern);
  RankReader reader(file, 0);
  for (CapturedEvent event; reader.next(event);) {
  }
  EXPECT_EQ(reader.events.uncaptured().begin()->second, 5);
}

TEST_F(Merge, NamesAreTakenOut) {
  run_rank(0, 1, R"(,"host":"secret-host","program":"secret")");
  merge({.anonymous = true});
  const std::string text = PatternFile(pattern).header().dump();
  for (const char* const name : {"secret", "out.nc", "\"u\""}) {
    EXPECT_THAT(text, testing::Not(HasSubstr(name)));
  }
}

TEST_F(Merge, WhatSharedFilesWereRenamedToIsAnotherFile) {
  for (const int rank : {0, 1}) {
    SpoolingProcess process(pattern);
    process.set_rank(rank, 2);
    record_steps(process.recording, 2, 1);
    // Rank 1 alone knows that it gave the first file another name.
    process.recording.definitions.open_file(
        R"({"kind":"file","level":"pnetcdf","path":"out.nc","ranks":2)" +
        std::string(rank == 1 ? R"(,"renamed":1})" : "}"));
    process.finish();
  }
  merge();
  const PatternFile file(pattern);
  for (const std::uint64_t rank : {0, 1}) {
    RankReader reader(file, rank);
    EXPECT_EQ(reader.file(0)["path"], "out.nc");
    EXPECT_EQ(reader.file(1)["path"], "out.nc (2)");
  }
}

TEST_F(Merge, AProgramThatCalledNothingIsRefused) {
  SpoolingProcess process(pattern);
  process.set_rank(0, 1);
  process.finish();
  EXPECT_EQ(refusal([&] { merge(); }),
            "Nothing was recorded: the program called no library that is captured.");
  EXPECT_EQ(refusal([&] { merge({.status = 3}); }),
            "Nothing was recorded: the program ended with status 3 before its first call.");
}

}  // namespace
}  // namespace slabmark
