#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/geometry/run.hpp"
#include "scratch.hpp"
#include "storage/zarr/array_reader.hpp"
#include "storage/zarr/shard_writer.hpp"

namespace slabmark::zarr {
namespace {

/// An array of 5 x 7 in shards of 4 x 6, each of them four chunks of 2 x 3.
class Shards : public testing::Test {
 protected:
  void SetUp() override {
    array.shape = {5, 7};
    array.type = ElementType::int32;
    array.shard = {4, 6};
    array.chunk = {2, 3};
    array.is_sharded = true;
    const std::int32_t fill = -1;
    array.fill.resize(sizeof fill);
    std::memcpy(array.fill.data(), &fill, sizeof fill);
    std::iota(elements.begin(), elements.end(), 100);
  }

  void write() { write({}); }
  void write(std::span<const slabmark::Run> absent) {
    ShardWriter(scratch.path(), array)
        .write({0, 0}, reinterpret_cast<const std::byte*>(elements.data()), absent);
  }
  std::vector<std::int32_t> read(const Extent& start, const Extent& count) {
    std::vector<std::int32_t> found(element_count(count));
    ArrayReader(scratch.path(), array)
        .read(start, count, reinterpret_cast<std::byte*>(found.data()));
    return found;
  }
  /// Changes a byte of the shard, counted from its end if `place` is negative.
  void flip(std::streamoff place) {
    std::fstream file(shard, std::ios::in | std::ios::out | std::ios::binary);
    const auto whence = place < 0 ? std::ios::end : std::ios::beg;
    file.seekg(place, whence);
    const char byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(place, whence);
    file.put(byte);
  }
  std::string refusal() {
    try {
      read({0, 0}, {4, 6});
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(shard), std::string::npos) << error.what();
      return error.what();
    }
    return "";
  }

  Scratch scratch;
  const std::string shard = scratch.file("c.0.0");
  ArrayMetadata array;
  std::vector<std::int32_t> elements = std::vector<std::int32_t>(24);
};

TEST_F(Shards, EachElementIsWhereItWasPut) {
  write();
  EXPECT_EQ(read({0, 0}, {4, 6}), elements);
  EXPECT_EQ(read({1, 2}, {2, 2}), (std::vector<std::int32_t>{108, 109, 114, 115}));
}

TEST_F(Shards, ThatAreNotThereHaveTheFillValue) {
  write();
  EXPECT_EQ(read({3, 5}, {2, 2}), (std::vector<std::int32_t>{123, -1, -1, -1}));
}

TEST_F(Shards, ChunksOfAbsentElementsAloneAreNotStored) {
  const RunList absent = {{0, 3}, {6, 3}, {10, 1}};  // the first chunk, and an element of the next
  write(absent);
  EXPECT_EQ(std::filesystem::file_size(shard), 3 * 24 + 4 * 16 + 4);
  EXPECT_EQ(read({0, 2}, {2, 3}), (std::vector<std::int32_t>{-1, 103, 104, -1, 109, 110}));
}

TEST_F(Shards, ThatBecomeShorterEndWhereTheyShould) {
  write();
  const RunList absent = {{0, 12}};
  write(absent);
  EXPECT_EQ(read({1, 5}, {2, 1}), (std::vector<std::int32_t>{-1, 117}));
}

TEST_F(Shards, GoThroughSeveralCodecs) {
  array.codecs = {{"crc32c", 0}, {"crc32c", 0}};
  write();
  EXPECT_EQ(read({0, 0}, {4, 6}), elements);
  flip(5);
  EXPECT_NE(refusal().find("checksum"), std::string::npos);
}

TEST_F(Shards, OfTheOtherByteOrderAreTurned) {
  write();
  array.is_little_endian = !array.is_little_endian;
  EXPECT_EQ(read({0, 0}, {1, 1}), (std::vector<std::int32_t>{0x64000000}));
}

TEST_F(Shards, ThatAreDamagedAreRefused) {
  write();
  flip(-6);
  EXPECT_NE(refusal().find("checksum"), std::string::npos);
  std::filesystem::resize_file(shard, 60);
  EXPECT_NE(refusal().find("shorter than its index"), std::string::npos);
  std::ofstream(shard, std::ios::trunc).close();
  EXPECT_NE(refusal().find("shorter than its index"), std::string::npos);
}

TEST_F(Shards, WhoseIndexLeadsBeyondTheirEndAreRefused) {
  array.index_has_checksum = false;
  write();
  flip(-60);  // an offset of the first chunk
  EXPECT_NE(refusal().find("beyond its end"), std::string::npos);
}

TEST_F(Shards, WithAChunkOfAnotherLengthAreRefused) {
  array.index_has_checksum = false;
  write();
  flip(-56);  // the length of the first chunk
  EXPECT_NE(refusal().find("instead of 24"), std::string::npos);
}

TEST_F(Shards, WithoutTheShardingCodecAreOneChunk) {
  array.is_sharded = false;
  array.chunk = array.shard;
  write();
  EXPECT_EQ(std::filesystem::file_size(shard), 24 * 4);
  EXPECT_EQ(read({0, 0}, {4, 6}), elements);
}

TEST_F(Shards, BoxesBeyondTheArrayAreRefused) { EXPECT_THROW(read({0, 0}, {6, 1}), InputError); }

}  // namespace
}  // namespace slabmark::zarr
