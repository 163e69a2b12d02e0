#include "bench/method/zarr/options.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

namespace {

/// The kind of value for the lengths of shards.
struct ShardText {
  std::string accepted_values() const {
    return "none, lengths of at least 1 such as 64x866, or a number of elements such as 512K";
  }
  std::string text(const Hdf5Chunks& shards) const { return shards.text(); }
  Hdf5Chunks parse(const std::string& text, const std::string& what) const {
    if (text == "pattern") {
      throw InputError(fmt::format("{} is '{}'; it takes {}.", what, text, accepted_values()));
    }
    return Hdf5Chunks(text, what);
  }
};

/// The kind of value for how chunks are compressed.
struct CompressText {
  std::string accepted_values() const {
    return "none, gzip or zstd, also with a level such as zstd:3";
  }
  std::string text(const zarr::Codec& codec) const {
    return codec.name.empty() ? "none" : fmt::format("{}:{}", codec.name, codec.level);
  }
  zarr::Codec parse(const std::string& text, const std::string& what) const {
    if (text == "none") return {};
    const auto colon = text.find(':');
    const std::string name = text.substr(0, colon);
    if (name != "gzip" && name != "zstd") {
      throw InputError(fmt::format("{} is '{}'; it takes {}.", what, text, accepted_values()));
    }
    const auto [least, most, usual] = zarr::levels_of(name);
    if (colon == std::string::npos) return {name, usual};
    const Size level{static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(most)};
    return {name, static_cast<int>(level.parse(text.substr(colon + 1), what))};
  }
};

}  // namespace

OptionTable<ZarrOptions> zarr_options() {
  using Options = ZarrOptions;
  return OptionTable<Options>()
      .add("zarr.chunk", &Options::chunks,
           "chunks: pattern (as the pattern says), none (a shard is one chunk), lengths of the "
           "fastest dimensions, or a number of elements",
           ChunkText{})
      .add("zarr.shard", &Options::shards,
           "elements of a file: lengths of the fastest dimensions or a number, rounded up to "
           "whole chunks; none: each chunk is a file",
           ShardText{})
      .add("zarr.compress", &Options::codec, "how chunks are compressed", CompressText{});
}

}  // namespace slabmark
