#include "measure/record_file.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "measure/record_example.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

/// Every rank works in a directory of its own.
class RecordFiles : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.file(name); }

  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  static void append_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::app) << text;
  }

  template <typename Thrown, typename Work>
  static std::string message_of(const Work& work) {
    try {
      work();
    } catch (const Thrown& error) {
      return error.what();
    }
    return "";
  }

 private:
  const Scratch scratch_;
};

CellRecord record_of(const std::string& method) {
  CellRecord record = example_record();
  record.method = method;
  return record;
}

TEST_F(RecordFiles, HoldOneLineARecordInOrder) {
  append_record(path("r.jsonl"), record_of("a"));
  append_record(path("r.jsonl"), record_of("b"));
  const std::string text = text_of(path("r.jsonl"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_TRUE(text.ends_with("}\n"));
  const std::vector<CellRecord> records = read_records(path("r.jsonl"));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_TRUE(records[0] == record_of("a"));
  EXPECT_TRUE(records[1] == record_of("b"));
}

TEST_F(RecordFiles, TakeBytesThatAreNoUtf8) {
  CellRecord record = example_record();
  record.manifest["environment"] = {{"OMPI_X", "\xff"}};
  append_record(path("r.jsonl"), record);
  EXPECT_EQ(read_records(path("r.jsonl")).size(), 1u);
}

TEST_F(RecordFiles, StartANewLineAfterOneThatWasCutShort) {
  append_text(path("r.jsonl"), "{\"slabmark_rec");
  append_record(path("r.jsonl"), record_of("a"));
  const std::string text = text_of(path("r.jsonl"));
  EXPECT_TRUE(text.starts_with("{\"slabmark_rec\n{"));
}

TEST_F(RecordFiles, CannotBeDirectories) {
  const auto append = [this] { append_record(path(""), example_record()); };
  const std::string message = message_of<IoError>(append);
  EXPECT_NE(message.find("it is a directory"), std::string::npos) << message;
  EXPECT_NE(message.find(path("")), std::string::npos) << message;
  EXPECT_THROW(check_record_path(path("")), InputError);
}

TEST_F(RecordFiles, AreCheckedBeforeMeasuringWithoutATrace) {
  EXPECT_NO_THROW(check_record_path(path("new.jsonl")));
  EXPECT_FALSE(std::filesystem::exists(path("new.jsonl")));
  append_record(path("old.jsonl"), example_record());
  EXPECT_NO_THROW(check_record_path(path("old.jsonl")));
  EXPECT_EQ(read_records(path("old.jsonl")).size(), 1u);
  const auto ask = [this] { check_record_path(path("none/r.jsonl")); };
  const std::string message = message_of<InputError>(ask);
  EXPECT_NE(message.find(path("none/r.jsonl")), std::string::npos) << message;
}

TEST_F(RecordFiles, ThatCannotBeOpenedAreNamed) {
  const auto read = [this] { read_records(path("none.jsonl")); };
  EXPECT_NE(message_of<IoError>(read).find(path("none.jsonl")), std::string::npos);
  EXPECT_THROW(read_records(path("")), IoError);
}

TEST_F(RecordFiles, NameTheLineThatCannotBeRead) {
  append_record(path("r.jsonl"), example_record());
  append_text(path("r.jsonl"), "\n{\"slabmark_record\": 9}\n");
  const auto read = [this] { read_records(path("r.jsonl")); };
  const std::string message = message_of<InputError>(read);
  EXPECT_NE(message.find("Line 3 of"), std::string::npos) << message;
  EXPECT_NE(message.find("version 9"), std::string::npos) << message;
  append_text(path("t.jsonl"), "{\"slabmark_rec");
  const auto read_torn = [this] { read_records(path("t.jsonl")); };
  EXPECT_NE(message_of<InputError>(read_torn).find("is not JSON"), std::string::npos);
}

TEST_F(RecordFiles, KeepNoPartOfALineThatFindsNoRoom) {
  append_record(path("r.jsonl"), record_of("a"));
  const auto size = std::filesystem::file_size(path("r.jsonl"));
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{.rlim_cur = size + 10, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto append = [this] { append_record(path("r.jsonl"), record_of("b")); };
  const std::string message = message_of<IoError>(append);
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, previous);
  EXPECT_NE(message.find("only 10 of"), std::string::npos) << message;
  EXPECT_EQ(std::filesystem::file_size(path("r.jsonl")), size);
}

}  // namespace
}  // namespace slabmark
