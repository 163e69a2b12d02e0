#include "storage/zarr/codec.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark::zarr {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

TEST(Crc32c, IsThatOfRfc3720) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0})), 0x8a9136aau);
}

class EachCodec : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string reason = codec_unavailable(GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  Codec codec{GetParam(), levels_of(GetParam()).usual};
};

TEST_P(EachCodec, GivesBackWhatItWasGivenAndAddsToItsOutput) {
  std::vector<std::byte> data;
  for (std::uint32_t i = 0; i < 5000; ++i) put_little(data, i / 7);
  std::vector<std::byte> encoded = bytes_of("before");
  encode(codec, data, encoded);
  std::vector<std::byte> decoded;
  decode(codec, std::span(encoded).subspan(6), data.size(), "It", decoded);
  EXPECT_EQ(decoded, data);
}

TEST_P(EachCodec, RefusesBytesThatItDidNotMakeOrThatAreCutOff) {
  const std::vector<std::byte> data(100, std::byte{7});
  std::vector<std::byte> encoded, decoded;
  encode(codec, data, encoded);
  for (const std::size_t kept : {std::size_t{3}, encoded.size() - 1}) {
    EXPECT_THROW(decode(codec, std::span(encoded).first(kept), 100, "It", decoded), InputError);
  }
  encoded[encoded.size() / 2] ^= std::byte{0x55};
  EXPECT_THROW(decode(codec, encoded, 100, "It", decoded), InputError);
}

TEST_P(EachCodec, DecodesNoMoreThanItMay) {
  if (codec.name == "crc32c") GTEST_SKIP() << "what it decodes is never longer";
  std::vector<std::byte> encoded, decoded;
  encode(codec, std::vector<std::byte>(1 << 20, std::byte{0}), encoded);
  EXPECT_THROW(decode(codec, encoded, 1000, "It", decoded), InputError);
}

INSTANTIATE_TEST_SUITE_P(Codecs, EachCodec, testing::Values("gzip", "zstd", "crc32c"));

}  // namespace
}  // namespace slabmark::zarr
