#include "accel/hdf5_connector/journal/journal.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "accel/hdf5_connector/journal/appends.hpp"
#include "accel/hdf5_connector/journal/format.hpp"
#include "accel/hdf5_connector/journal/rollback.hpp"
#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"
#include "scratch.hpp"

namespace slabmark::slablog {
namespace {

using ::testing::HasSubstr;

/// A file of 100 bytes, whose first eight are the mark.
class Journals : public ::testing::Test {
 protected:
  Journals() { std::ofstream(path_) << before_; }

  static std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Without the mark.
  std::string now() const { return content(path_).substr(8); }
  std::string once() const { return before_.substr(8); }
  std::string journal() const { return content(journal_path(path_)); }

  /// As a rank does it.
  void overwrite(Journal& journal, std::uint64_t offset, const std::string& text) const {
    journal.protect(offset, text.size());
    auto file = posix::File::open(path_, posix::File::Access::write);
    file.write_at(offset, reinterpret_cast<const std::byte*>(text.data()), text.size());
  }

  std::string refusal(Opener opener) const {
    try {
      roll_back(path_, opener);
    } catch (const IoError& error) {
      return error.what();
    }
    return "";
  }

  const Scratch scratch_;
  const std::string path_ = scratch_.file("file");
  std::string before_ = std::string(100, '.').replace(0, 8, 8, 'M');
};

/// One that has committed what is in the file; the file then goes back to that.
std::unique_ptr<Journal> started(const std::string& path) {
  auto journal = std::make_unique<Journal>(path, 0);
  journal->start(0);
  journal->commit(100);
  return journal;
}

TEST_F(Journals, EachByteIsSavedOnceAndOnlyWhereItWasCommitted) {
  const auto kept = started(path_);
  overwrite(*kept, 20, "aaaa");
  EXPECT_EQ(journal().size(), sizeof(JournalHeader) + sizeof(JournalRecord) + 4);
  overwrite(*kept, 18, "bbbbbbbb");  // two bytes before it, and two behind
  EXPECT_EQ(journal().size(), sizeof(JournalHeader) + 3 * sizeof(JournalRecord) + 8);
  overwrite(*kept, 18, "cccccccc");
  overwrite(*kept, 100, "new");
  EXPECT_EQ(journal().size(), sizeof(JournalHeader) + 3 * sizeof(JournalRecord) + 8);
  overwrite(*kept, 98, "dddd");
  EXPECT_EQ(journal().size(), sizeof(JournalHeader) + 4 * sizeof(JournalRecord) + 10);
}

TEST_F(Journals, TheFileGoesBackToTheLastCommit) {
  {
    const auto kept = started(path_);
    overwrite(*kept, 20, "aaaa");
    kept->commit(100);
    overwrite(*kept, 30, "bbbb");
    overwrite(*kept, 96, "cccccccc");
  }
  EXPECT_TRUE(roll_back(path_, Opener::writer));
  auto expected = once();
  expected.replace(12, 4, "aaaa");
  EXPECT_EQ(now(), expected);
  EXPECT_TRUE(journal().empty());
}

TEST_F(Journals, WhereTwoRanksWroteTheFirstOneKnowsWhatWasThere) {
  {
    const auto kept = started(path_);
    Journal second(path_, 1);
    second.follow(kept->epoch(), 100);
    overwrite(second, 50, "bbbb");
    overwrite(*kept, 48, "aaaaaaaa");
    overwrite(second, 54, "cccc");
  }
  roll_back(path_, Opener::writer);
  EXPECT_EQ(now(), once());
}

// The rank that was killed there had not yet overwritten anything.
TEST_F(Journals, ARecordThatIsNotWholeHidesNoneOfAnotherRank) {
  {
    const auto kept = started(path_);
    Journal second(path_, 1);
    second.follow(kept->epoch(), 100);
    overwrite(*kept, 20, "aaaa");
    const auto whole = journal();
    auto file = posix::File::open_to_append(journal_path(path_));
    file.append(reinterpret_cast<const std::byte*>(whole.data()) + sizeof(JournalHeader), 33);
    overwrite(second, 50, "bbbb");
  }
  roll_back(path_, Opener::writer);
  EXPECT_EQ(now(), once());
}

TEST_F(Journals, AGapInARanksRecordsIsDamage) {
  {
    const auto kept = started(path_);
    overwrite(*kept, 20, "aaaa");
    overwrite(*kept, 30, "bbbb");
  }
  auto text = journal();
  text[sizeof(JournalHeader) + sizeof(JournalRecord)] = '?';
  std::ofstream(journal_path(path_)) << text;
  const auto left = now();
  EXPECT_THAT(refusal(Opener::repair), HasSubstr("is damaged"));
  EXPECT_EQ(now(), left);
}

TEST_F(Journals, OneThatWasNotNeededLetsReadersIn) {
  started(path_).reset();
  EXPECT_EQ(journal().size(), sizeof(JournalHeader));
  EXPECT_TRUE(roll_back(path_, Opener::reader));
}

TEST_F(Journals, OneThatIsNeededKeepsReadersOut) {
  overwrite(*started(path_), 20, "aaaa");
  EXPECT_THAT(refusal(Opener::reader), HasSubstr("slabmark log repair"));
  EXPECT_NE(now(), once());
}

TEST_F(Journals, OneWhoseWriterLivesKeepsOthersOut) {
  const auto kept = started(path_);
  EXPECT_TRUE(refusal(Opener::reader).empty());
  EXPECT_THAT(refusal(Opener::writer), HasSubstr("is being written by another process"));
  EXPECT_THAT(refusal(Opener::maker), HasSubstr("is being written by another process"));
  overwrite(*kept, 20, "aaaa");
  EXPECT_THAT(refusal(Opener::reader), HasSubstr("is being written by another process"));
  EXPECT_THROW(started(path_), IoError);
}

TEST_F(Journals, OneOfAFileThatWasReplacedIsRefused) {
  overwrite(*started(path_), 20, "aaaa");
  std::ofstream(path_) << before_;
  EXPECT_THAT(refusal(Opener::writer), HasSubstr("is of another file"));
  EXPECT_EQ(content(path_), before_);
}

TEST_F(Journals, WhatCouldNotBeSavedIsNeverCommitted) {
  const auto kept = started(path_);
  std::filesystem::resize_file(path_, 50);  // so that it cannot be read
  EXPECT_TRUE(kept->try_protect(20, 4));
  EXPECT_FALSE(kept->try_protect(60, 4));
  EXPECT_FALSE(kept->try_protect(30, 4));
  EXPECT_TRUE(kept->try_protect(100, 4));
  EXPECT_THROW(kept->commit(100), IoError);
}

TEST_F(Journals, OneOfAClosedFileGoes) {
  {
    const auto kept = started(path_);
    overwrite(*kept, 20, "aaaa");
    kept->finish();
  }
  EXPECT_FALSE(std::filesystem::exists(journal_path(path_)));
}

TEST(Appends, OfAllRanksAreKeptOnALocalFileSystemAndLeaveNothing) {
  const Comm world(MPI_COMM_WORLD);
  const Scratch scratch(world);
  const Ranks ranks(std::make_unique<Comm>(MPI_COMM_WORLD));
  EXPECT_EQ(bytes_lost_in_appends(ranks, scratch.file("try"), true), 0);
  EXPECT_EQ(bytes_lost_in_appends(ranks, scratch.file("try"), world.is_root()), 0);
  EXPECT_FALSE(std::filesystem::exists(scratch.file("try")));
}

}  // namespace
}  // namespace slabmark::slablog
