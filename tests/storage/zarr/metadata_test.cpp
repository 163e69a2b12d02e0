#include "storage/zarr/metadata.hpp"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/zarr/store.hpp"

namespace slabmark::zarr {
namespace {

/// As zarr-python 3.1 writes it, of big-endian numbers and with a slash in its keys.
constexpr const char* of_zarr_python = R"({
  "shape": [4, 6], "data_type": "float32",
  "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6]}},
  "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
  "fill_value": "NaN",
  "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 3],
    "codecs": [{"name": "bytes", "configuration": {"endian": "big"}},
               {"name": "gzip", "configuration": {"level": 5}}],
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
    "index_location": "start"}}],
  "attributes": {"units": "K"}, "dimension_names": ["y", null],
  "zarr_format": 3, "node_type": "array", "storage_transformers": []})";

std::string changed(std::string_view from, std::string_view to) {
  std::string text = of_zarr_python;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Metadata, OfAnotherProgramIsRead) {
  if (!codec_unavailable("gzip").empty()) GTEST_SKIP() << codec_unavailable("gzip");
  const ArrayMetadata array = parse_array(of_zarr_python, "a/zarr.json");
  EXPECT_EQ(array.shape, (Extent{4, 6}));
  EXPECT_EQ(array.type, ElementType::float32);
  EXPECT_EQ(array.chunk, (Extent{2, 3}));
  EXPECT_TRUE(array.is_sharded);
  EXPECT_FALSE(array.is_little_endian);
  EXPECT_FALSE(array.index_at_end);
  EXPECT_TRUE(array.index_has_checksum);
  EXPECT_EQ(array.codecs, (std::vector<Codec>{{"gzip", 5}}));
  float fill = 0;
  std::memcpy(&fill, array.fill.data(), sizeof fill);
  EXPECT_TRUE(std::isnan(fill));
  EXPECT_EQ(key_of(array, {0, 1}), "c/0/1");
}

TEST(Metadata, IsReadAsItWasWritten) {
  ArrayMetadata array;
  array.shape = {5, 7};
  array.type = ElementType::int16;
  array.shard = {4, 4};
  array.chunk = {2, 4};
  array.is_sharded = true;
  array.codecs = {{"crc32c", 0}};
  array.fill = {std::byte{1}, std::byte{2}};
  array.dimensions = {"y", "x"};
  const ArrayMetadata found = parse_array(metadata_of(array).dump(), "a/zarr.json");
  EXPECT_EQ(metadata_of(found).dump(), [&] {
    ArrayMetadata same = array;
    same.dimensions.clear();  // readers have no use for them
    return metadata_of(same).dump();
  }());
  EXPECT_EQ(found.fill, array.fill);
}

TEST(Metadata, ThatSlabmarkCannotReadIsRefusedByFileAndReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{", ""},
      {"[]", "no JSON object"},
      {changed("\"zarr_format\": 3", "\"zarr_format\": 2"), "zarr_format"},
      {changed("\"node_type\": \"array\"", "\"node_type\": \"group\""), "node_type"},
      {changed("float32", "complex64"), "data_type is complex64"},
      {changed("\"gzip\"", "\"blosc\""), "codec 'blosc'"},
      {changed("[2, 3]", "[3, 3]"), "no multiple"},
      {changed("[2, 3]", "[0, 3]"), "length 0"},
      {changed("[2, 3]", "[2]"), "other dimensions"},
      {changed("[4, 6], \"data", "[4, -6], \"data"), "no whole number"},
      {changed("\"shape\"", "\"shapes\""), "shape"},
      {changed("\"regular\"", "\"rectilinear\""), "chunk_grid"},
      {changed("\"NaN\"", "\"0x12\""), "fill_value"},
      {changed("\"storage_transformers\": []", "\"storage_transformers\": [1]"), "transformers"},
  };
  for (const auto& [text, reason] : cases) {
    try {
      parse_array(text, "a/zarr.json");
      ADD_FAILURE() << "no error: " << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("'a/zarr.json'"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }
}

TEST(Metadata, NamesThatAStoreCannotHoldAreToldApart) {
  for (const char* name : {"x", "g/x", "a.b", "T at 2 m"}) EXPECT_EQ(unfit_name(name), "") << name;
  for (const char* name : {"", "/x", "x/", "a//b", "..", "g/.", "__x", "g/zarr.json"}) {
    EXPECT_NE(unfit_name(name), "") << name;
  }
}

}  // namespace
}  // namespace slabmark::zarr
