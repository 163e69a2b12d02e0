#include "capture/read/pattern_file.hpp"

#include <algorithm>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <hdf5.h>

#include "capture/read/recorded.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

using testing::HasSubstr;

/// The bytes that this process has read by system calls, if the kernel counts them.
std::uint64_t bytes_read() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  return counts >> name >> bytes && name == "rchar:" ? bytes : 0;
}

TEST(PatternFile, ReadingAllRanksTakesTheFileOnce) {
  const Scratch scratch;
  const std::string path = scratch.file("a.pattern");
  constexpr std::uint64_t ranks = 400;
  std::mt19937 random(1);
  {
    PatternWriter writer(path);
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      std::vector<std::uint8_t> bytes(200);
      for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
      writer.add_events(bytes);
      writer.add_lists(bytes);
      writer.end_rank({}, {});
    }
    Json text = {{"files", Json::array()}, {"definitions", Json::array()}};
    text["ranks"] = std::vector<Json>(ranks, Json::object());
    writer.finish(text, "captured");
  }
  if (bytes_read() == 0) GTEST_SKIP() << "the kernel does not count what a process reads";
  const auto before = bytes_read();
  const PatternFile file(path);
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(file.read(rank)->events.size(), 200);
  }
  EXPECT_LT(bytes_read() - before, 4 * std::filesystem::file_size(path));
}

// Of many chunks, the last of them in part, which are compressed side by side.
TEST(PatternFile, StreamsOfManyChunksComeBackWhole) {
  const Scratch scratch;
  const std::string path = scratch.file("a.pattern");
  std::mt19937 random(1);
  std::vector<std::uint8_t> events((11u << 20) + 17);
  for (auto& byte : events) byte = static_cast<std::uint8_t>(random() % 5);
  const std::span all(events);
  {
    PatternWriter writer(path);
    for (const std::size_t begin : {std::size_t{0}, std::size_t{1}, std::size_t{9} << 20}) {
      writer.add_events(all.first(begin));
      writer.add_events(all.subspan(begin));
      writer.add_lists(all.first(begin));
      writer.end_rank({}, {});
    }
    Json text = {{"files", Json::array()}, {"definitions", Json::array()}};
    text["ranks"] = std::vector<Json>(3, Json::object());
    writer.finish(text, "captured");
  }
  const PatternFile file(path);
  for (std::uint64_t rank = 0; rank < 3; ++rank) EXPECT_TRUE(file.read(rank)->events == events);
  EXPECT_TRUE(file.read(0)->lists.empty());
  EXPECT_EQ(file.read(2)->lists.size(), std::size_t{9} << 20);
  EXPECT_TRUE(std::ranges::equal(file.read(2)->lists, all.first(std::size_t{9} << 20)));
}

/// The value at a JSON pointer; "-" is a new element.
Json& member(Json& json, const std::string& pointer) {
  if (pointer.empty()) return json;
  const std::size_t end = pointer.find('/', 1);
  const std::string key = pointer.substr(1, end == std::string::npos ? end : end - 1);
  const std::string rest = end == std::string::npos ? "" : pointer.substr(end);
  if (json.is_object()) return member(json[key], rest);
  if (key == "-") json.push_back(nullptr);
  return member(json[key == "-" ? json.size() - 1 : std::stoul(key)], rest);
}

Json sound_header() {
  return Json::parse(R"({"files":[{"level":"pnetcdf","path":"out.nc","ranks":1,"hints":{}}],
    "ranks":[{"state":"finished"}],"definitions":[
    {"kind":"call","name":"ncmpi_create","effect":"create"},
    {"kind":"dataset","name":"u","type":"float64","extent":[0,10],"maximum":[null,10]}]})");
}

class DamagedPatternFile : public testing::Test {
 protected:
  /// How a file with this header is refused.
  std::string refused(const Json& header) {
    std::filesystem::remove(path);
    {
      PatternWriter writer(path);
      writer.end_rank({}, {});
      writer.finish(header, "captured");
    }
    return refused();
  }
  std::string refused() const {
    return refusal([&] { PatternFile file(path); });
  }

  const Scratch scratch;
  const std::string path = scratch.file("a.pattern");
};

TEST_F(DamagedPatternFile, ASoundOneIsRead) { EXPECT_EQ(refused(sound_header()), ""); }

TEST_F(DamagedPatternFile, HeadersWithOtherThingsThanTheFormatHasAreRefused) {
  const auto with = [&](const std::string& place, const Json& value) {
    Json header = sound_header();
    member(header, place) = value;
    return refused(header);
  };
  const auto without = [&](const std::string& place, const char* key) {
    Json header = sound_header();
    member(header, place).erase(key);
    return refused(header);
  };
  const std::string dataset = "/definitions/1", call = "/definitions/0";
  EXPECT_THAT(without(dataset, "extent"), HasSubstr("definition 1 of its header has no 'extent'"));
  EXPECT_THAT(with(dataset + "/extent/1", "3"), HasSubstr("another 'extent'"));
  EXPECT_THAT(with(dataset + "/maximum", Json::array({1})), HasSubstr("another 'maximum'"));
  EXPECT_THAT(without(call, "kind"), HasSubstr("has no 'kind'"));
  EXPECT_THAT(with(call + "/name", 1), HasSubstr("another 'name'"));
  EXPECT_THAT(with("/files/-", 3), HasSubstr("file 1 of its header is no object"));
  EXPECT_THAT(with("/files/0/hints", Json::array({1})), HasSubstr("another 'hints'"));
  EXPECT_THAT(without("", "ranks"), HasSubstr("the whole of its header has no 'ranks'"));
  EXPECT_THAT(with("/ranks", Json::array()), HasSubstr("is of no rank"));
  EXPECT_THAT(with("/ranks/-", Json::object()), HasSubstr("events_begin does not say"));
}

TEST_F(DamagedPatternFile, WhatWasCutIsRefusedWhereverItWas) {
  refused(sound_header());
  const std::string whole = bytes_of(path);
  for (std::size_t length = 0; length < whole.size(); length += 2003) {
    write_bytes(path, whole.substr(0, length));
    EXPECT_THAT(refused(), HasSubstr("is no pattern file, or a damaged or truncated one"));
  }
}

TEST_F(DamagedPatternFile, OtherFilesAreToldFromIt) {
  EXPECT_THAT(refused(), HasSubstr("There is no file '"));
  write_bytes(path, std::string(5000, 'x'));
  EXPECT_THAT(refused(), HasSubstr("is no pattern file"));
  H5Fclose(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  EXPECT_THAT(refused(), HasSubstr("is an HDF5 file, but no pattern file: it has no attribute"));
}

TEST_F(DamagedPatternFile, ANewerVersionIsNamed) {
  refused(sound_header());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t version = H5Aopen(file, "slabmark_pattern", H5P_DEFAULT);
  const std::uint64_t next = 2;
  H5Awrite(version, H5T_NATIVE_UINT64, &next);
  H5Aclose(version);
  H5Fclose(file);
  EXPECT_THAT(refused(), HasSubstr("is a pattern file of version 2, this Slabmark reads up to 1"));
}

TEST_F(DamagedPatternFile, NumbersOfNoDefinitionOrFileAreRefused) {
  refused(sound_header());
  const PatternFile file(path);
  const RankReader reader(file, 0);
  EXPECT_THAT(refusal([&] { reader.definition(0); }), HasSubstr("an event names definition 0"));
  EXPECT_THAT(refusal([&] { reader.file(2); }), HasSubstr("names opening 2 of a file"));
}

}  // namespace
}  // namespace slabmark
