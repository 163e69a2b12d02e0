#include "bench/measure/record_file.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "bench/measure/record_example.hpp"
#include "core/base/error.hpp"
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
  EXPECT_EQ(text, Json(record_of("a")).dump() + '\n' + Json(record_of("b")).dump() + '\n');
}

TEST_F(RecordFiles, TakeBytesThatAreNoUtf8) {
  CellRecord record = example_record();
  record.manifest["environment"] = {{"OMPI_X", "\xff"}};
  append_record(path("r.jsonl"), record);
  EXPECT_NE(text_of(path("r.jsonl")).find("\xEF\xBF\xBD"), std::string::npos);
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
  EXPECT_EQ(text_of(path("old.jsonl")), Json(example_record()).dump() + '\n');
  const auto ask = [this] { check_record_path(path("none/r.jsonl")); };
  const std::string message = message_of<InputError>(ask);
  EXPECT_NE(message.find(path("none/r.jsonl")), std::string::npos) << message;
}

TEST_F(RecordFiles, HoldRecordsAndNothingElse) {
  std::ofstream(path("map.nc"), std::ios::binary) << "CDF\x01" << std::string(40, '\0');
  std::ofstream(path("notes.txt")) << "my thesis\n";
  std::ofstream(path("other.json")) << "{\"a\": 1}\n";
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string name : {"map.nc", "notes.txt", "other.json", "pipe"}) {
    const auto ask = [&] { check_record_path(path(name)); };
    EXPECT_NE(message_of<InputError>(ask).find(name), std::string::npos);
  }
  EXPECT_THROW(check_record_path("/dev/full"), InputError);
  std::ofstream(path("empty.jsonl"));
  append_text(path("torn.jsonl"), "{\"bounds\":[");
  EXPECT_NO_THROW(check_record_path(path("empty.jsonl")));
  EXPECT_NO_THROW(check_record_path(path("torn.jsonl")));
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
