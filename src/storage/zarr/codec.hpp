#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/json/json.hpp"

namespace slabmark::zarr {

/// A codec that turns the bytes of a chunk into others: "gzip", "zstd" or "crc32c".
struct Codec {
  std::string name;
  int level = 0;

  bool operator==(const Codec&) const = default;
};

/// The levels that a codec accepts, and the one it has unless it is told.
struct Levels {
  int least, most, usual;
};
Levels levels_of(const std::string& codec);

/// Why this build cannot use a codec, for the end of a sentence; empty if it can.
std::string codec_unavailable(const std::string& codec);

/// The codec as an element of the list `codecs` of an array's metadata.
Json metadata_of(const Codec& codec);

/// Adds the encoded `bytes` to the end of `out`.
void encode(const Codec& codec, std::span<const std::byte> bytes, std::vector<std::byte>& out);

/// Replaces `out` by the decoded `bytes`, of which there may be at most `most`. Throws InputError
/// for bytes that the codec did not make; `what` names them ("The shard 'a/c.0'").
void decode(const Codec& codec, std::span<const std::byte> bytes, std::uint64_t most,
            const std::string& what, std::vector<std::byte>& out);

/// The checksum CRC-32C (Castagnoli).
std::uint32_t crc32c(std::span<const std::byte> bytes);

// Numbers of a store's index and checksums are little-endian on every machine.
template <class Number>
void put_little(std::vector<std::byte>& out, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    out.push_back(static_cast<std::byte>(number >> (8 * i) & 0xff));
  }
}
template <class Number>
Number little_at(const std::byte* bytes) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) {
    number |= static_cast<Number>(static_cast<Number>(bytes[i]) << (8 * i));
  }
  return number;
}

}  // namespace slabmark::zarr
