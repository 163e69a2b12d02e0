#include "logvol/encoded_mappings.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace slabmark::logvol {

namespace {

constexpr std::uint32_t hyperslabs = 2;  // HDF5's number for this kind of selection
constexpr std::uint64_t most_in_32_bits = std::numeric_limits<std::uint32_t>::max();

void put(std::byte*& to, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i, value >>= 8) *to++ = static_cast<std::byte>(value);
}

void put(Encoded& bytes, std::uint64_t value, std::size_t width) {
  const auto at = bytes.size();
  bytes.resize(at + width);
  auto* to = bytes.data() + at;
  put(to, value, width);
}

void put_text(Encoded& bytes, std::string_view text) {
  const auto at = bytes.size();
  bytes.resize(at + text.size() + 1);  // with a zero behind it
  std::memcpy(bytes.data() + at, text.data(), text.size());
}

struct Lookup3 {
  std::uint32_t a, b, c;

  void mix() {
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }

  void finish() {
    c ^= b, c -= std::rotl(b, 14);
    a ^= c, a -= std::rotl(c, 11);
    b ^= a, b -= std::rotl(a, 25);
    c ^= b, c -= std::rotl(b, 16);
    a ^= c, a -= std::rotl(c, 4);
    b ^= a, b -= std::rotl(a, 14);
    c ^= b, c -= std::rotl(b, 24);
  }

  void add(const std::byte* twelve) {
    const auto word = [&](std::size_t at) {
      return std::to_integer<std::uint32_t>(twelve[at]) |
             std::to_integer<std::uint32_t>(twelve[at + 1]) << 8 |
             std::to_integer<std::uint32_t>(twelve[at + 2]) << 16 |
             std::to_integer<std::uint32_t>(twelve[at + 3]) << 24;
    };
    a += word(0);
    b += word(4);
    c += word(8);
  }
};

}  // namespace

std::uint32_t metadata_checksum(std::span<const std::byte> bytes) {
  const auto seed = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size());
  Lookup3 state{seed, seed, seed};
  if (bytes.empty()) return state.c;
  for (; bytes.size() > 12; bytes = bytes.subspan(12)) {
    state.add(bytes.data());
    state.mix();
  }
  std::byte rest[12] = {};
  std::copy(bytes.begin(), bytes.end(), rest);
  state.add(rest);
  state.finish();
  return state.c;
}

Encoded encoded_union(const Extent& extent, std::span<const std::uint64_t> corners) {
  const auto boxes = corners.size() / (2 * extent.size());
  const bool wide = std::any_of(extent.begin(), extent.end(),
                                [](auto length) { return length - 1 > most_in_32_bits; });
  const std::size_t width = wide ? 8 : 4;
  Encoded bytes;
  bytes.reserve(24 + width * (1 + corners.size()));
  put(bytes, hyperslabs, 4);
  put(bytes, wide ? 3 : 1, 4);
  if (wide) {
    put(bytes, 0, 1);  // irregular
    put(bytes, width, 1);
  } else {
    put(bytes, 0, 4);
    put(bytes, 8 + width * corners.size(), 4);  // bytes that follow
  }
  put(bytes, extent.size(), 4);
  put(bytes, boxes, width);
  const auto at = bytes.size();
  bytes.resize(at + width * corners.size());
  auto* to = bytes.data() + at;
  for (const auto corner : corners) put(to, corner, width);
  return bytes;
}

Encoded encoded_regular(const Hyperslab& slab) {
  Encoded bytes;
  put(bytes, hyperslabs, 4);
  put(bytes, 2, 4);
  put(bytes, 1, 1);                              // regular
  put(bytes, 4 + 4 * 8 * slab.start.size(), 4);  // bytes that follow
  put(bytes, slab.start.size(), 4);
  for (std::size_t d = 0; d < slab.start.size(); ++d) {
    for (const auto number : {slab.start[d], slab.stride[d], slab.count[d], slab.block[d]}) {
      put(bytes, number, 8);
    }
  }
  return bytes;
}

EncodedMappings::EncodedMappings(std::size_t length_bytes)
    : length_bytes_(length_bytes), block_(1 + length_bytes) {}

void EncodedMappings::add(std::string_view source, const Encoded& from, const Encoded& to) {
  put_text(block_, ".");
  put_text(block_, source);
  block_.insert(block_.end(), from.begin(), from.end());
  block_.insert(block_.end(), to.begin(), to.end());
  ++count_;
}

Encoded EncodedMappings::finish() && {
  auto* to = block_.data() + 1;  // after the version, which is 0
  put(to, count_, length_bytes_);
  put(block_, metadata_checksum(block_), 4);
  return std::move(block_);
}

}  // namespace slabmark::logvol
