#include "storage/zarr/codec.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/error.hpp"

#if SLABMARK_WITH_ZLIB
#include <zlib.h>
#endif
#if SLABMARK_WITH_ZSTD
#include <zstd.h>
#endif

namespace slabmark::zarr {

namespace {

constexpr std::size_t checksum_bytes = 4;

[[noreturn]] void refuse_encoded(const std::string& what, const std::string& reason) {
  throw InputError(fmt::format("{} is damaged: {}; write the store again.", what, reason));
}

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0x82f63b78u : 0);
    table[i] = rest;
  }
  return table;
}

#if SLABMARK_WITH_ZLIB

constexpr int gzip_window = 15 + 16;  // zlib's largest window, and a gzip header

// One call moves all of it, since zlib counts in 32 bits and a chunk has fewer bytes.
constexpr std::uint64_t most_of_gzip = std::uint64_t{1} << 31;

z_stream stream_of(std::span<const std::byte> in, std::span<std::byte> out) {
  if (std::max(in.size(), out.size()) > most_of_gzip) {
    throw InputError("A chunk of 2 GiB or more cannot be a gzip stream; make chunks smaller.");
  }
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  return stream;
}

void encode_gzip(int level, std::span<const std::byte> bytes, std::vector<std::byte>& out) {
  constexpr int usual_memory = 8;
  const std::size_t before = out.size();
  out.resize(before + compressBound(static_cast<uLong>(bytes.size())) + 64);
  z_stream stream = stream_of(bytes, std::span(out).subspan(before));
  int status =
      deflateInit2(&stream, level, Z_DEFLATED, gzip_window, usual_memory, Z_DEFAULT_STRATEGY);
  if (status == Z_OK) status = deflate(&stream, Z_FINISH);
  out.resize(before + stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw IoError("zlib could not compress a chunk; free some memory.");
}

void decode_gzip(std::span<const std::byte> bytes, const std::string& what,
                 std::vector<std::byte>& out) {
  z_stream stream = stream_of(bytes, out);
  int status = inflateInit2(&stream, gzip_window);
  if (status == Z_OK) status = inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  if (status != Z_STREAM_END) refuse_encoded(what, "a chunk is no gzip stream of its size");
}

#endif

#if SLABMARK_WITH_ZSTD

void encode_zstd(int level, std::span<const std::byte> bytes, std::vector<std::byte>& out) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  if (context == nullptr) throw IoError("zstd could not start to compress; free some memory.");
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  const std::size_t before = out.size();
  out.resize(before + ZSTD_compressBound(bytes.size()));
  const std::size_t made =
      ZSTD_compress2(context, out.data() + before, out.size() - before, bytes.data(), bytes.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(made)) {
    throw IoError(fmt::format("zstd could not compress a chunk ({}); free some memory.",
                              ZSTD_getErrorName(made)));
  }
  out.resize(before + made);
}

void decode_zstd(std::span<const std::byte> bytes, const std::string& what,
                 std::vector<std::byte>& out) {
  const std::size_t made = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(made)) {
    refuse_encoded(what, fmt::format("zstd says '{}' of a chunk", ZSTD_getErrorName(made)));
  }
  out.resize(made);
}

#endif

}  // namespace

Levels levels_of(const std::string& codec) {
  return codec == "zstd" ? Levels{1, 22, 3} : Levels{0, 9, 5};
}

std::string codec_unavailable(const std::string& codec) {
  if (codec == "crc32c") return "";
  if (codec == "gzip") {
    return SLABMARK_WITH_ZLIB ? "" : "zlib was not found when Slabmark was configured";
  }
  if (codec == "zstd") {
    return SLABMARK_WITH_ZSTD ? "" : "zstd was not found when Slabmark was configured";
  }
  return "Slabmark reads the codecs gzip, zstd and crc32c";
}

Json metadata_of(const Codec& codec) {
  Json configuration = Json::object();
  if (codec.name != "crc32c") configuration["level"] = codec.level;
  if (codec.name == "zstd") configuration["checksum"] = true;
  Json metadata = Json::object({{"name", codec.name}});
  if (!configuration.empty()) metadata["configuration"] = configuration;
  return metadata;
}

void encode(const Codec& codec, std::span<const std::byte> bytes, std::vector<std::byte>& out) {
#if SLABMARK_WITH_ZLIB
  if (codec.name == "gzip") return encode_gzip(codec.level, bytes, out);
#endif
#if SLABMARK_WITH_ZSTD
  if (codec.name == "zstd") return encode_zstd(codec.level, bytes, out);
#endif
  if (codec.name != "crc32c") throw InputError(fmt::format("No codec '{}' is there.", codec.name));
  out.insert(out.end(), bytes.begin(), bytes.end());
  put_little(out, crc32c(bytes));
}

void decode(const Codec& codec, std::span<const std::byte> bytes, std::uint64_t most,
            const std::string& what, std::vector<std::byte>& out) {
  if (codec.name == "crc32c") {
    if (bytes.size() < checksum_bytes) refuse_encoded(what, "a chunk is shorter than its checksum");
    const auto data = bytes.first(bytes.size() - checksum_bytes);
    if (crc32c(data) != little_at<std::uint32_t>(data.data() + data.size())) {
      refuse_encoded(what, "a chunk does not match its checksum");
    }
    out.assign(data.begin(), data.end());
    return;
  }
  out.resize(most);
#if SLABMARK_WITH_ZLIB
  if (codec.name == "gzip") return decode_gzip(bytes, what, out);
#endif
#if SLABMARK_WITH_ZSTD
  if (codec.name == "zstd") return decode_zstd(bytes, what, out);
#endif
  throw InputError(
      fmt::format("{} has the codec '{}': {}.", what, codec.name, codec_unavailable(codec.name)));
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static constexpr auto table = crc_table();
  std::uint32_t sum = ~std::uint32_t{0};
  for (const std::byte byte : bytes) {
    sum = sum >> 8 ^ table[(sum ^ static_cast<std::uint32_t>(byte)) & 0xff];
  }
  return ~sum;
}

}  // namespace slabmark::zarr
