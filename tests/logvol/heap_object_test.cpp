#include "logvol/heap_object.hpp"

#include <filesystem>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace slabmark::logvol {
namespace {

using ::testing::HasSubstr;

std::string number(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

/// What HDF5 may make of a virtual dataset with the mappings "MAPPINGS": an object header with its
/// layout in a second chunk, and a heap collection where they are the second object.
struct SmallFile {
  explicit SmallFile(FileFormat wanted) : format(wanted) {
    const auto address = [&](std::uint64_t value) { return number(value, format.address_bytes); };
    const auto length = [&](std::uint64_t value) { return number(value, format.length_bytes); };
    const auto message = [](int type, const std::string& body) {
      // Creation order is tracked, so each message has its place in it.
      return number(static_cast<std::uint64_t>(type), 1) + number(body.size(), 2) + number(0, 3) +
             body;
    };
    const auto more =
        std::string("OCHK") + message(0x15, "attributes") +
        message(0x08, number(4, 1) + number(3, 1) + address(collection) + number(2, 4)) + "sums";
    const auto first = message(0x01, "dataspace") +
                       message(0x10, address(continuation) + length(more.size())) + "gap";
    const auto header = std::string("OHDR") + number(2, 1) + number(0x04 | 0x10 | 0x20 | 0x01, 1) +
                        std::string(16, 't') + std::string(4, 'l') + number(first.size(), 2) +
                        first + "sums";
    const auto object = [&](int index, const std::string& data) {
      auto text = number(static_cast<std::uint64_t>(index), 2) + number(0, 6) + length(data.size());
      text.resize((text.size() + 7) / 8 * 8);
      text += data;
      text.resize((text.size() + 7) / 8 * 8);
      return text;
    };
    auto heap = std::string("GCOL") + number(1, 4) + length(256);
    heap.resize((heap.size() + 7) / 8 * 8);
    heap += object(1, "of another") + object(2, "MAPPINGS") + object(0, "");
    bytes.resize(format.base + 1024);
    bytes.replace(format.base + start, header.size(), header);
    bytes.replace(format.base + continuation, more.size(), more);
    bytes.replace(format.base + collection, heap.size(), heap);
  }

  /// What is found there, or the refusal.
  std::string mappings(std::uint64_t expected_bytes) const {
    auto name = (std::filesystem::temp_directory_path() / "heap-XXXXXX").string();
    ::close(mkstemp(name.data()));
    auto file = posix::File::open(name, posix::File::Access::write);
    std::filesystem::remove(name);
    file.write_at(0, reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    try {
      return bytes.substr(place_of_mappings(file, format, start, expected_bytes), expected_bytes);
    } catch (const IoError& error) {
      return error.what();
    }
  }

  static constexpr std::uint64_t start = 96;
  static constexpr std::uint64_t continuation = 400;
  static constexpr std::uint64_t collection = 600;
  FileFormat format;
  std::string bytes;
};

TEST(HeapObject, MappingsAreFoundThroughContinuedHeadersAndOtherObjects) {
  for (const FileFormat& format :
       {FileFormat{0, 8, 8}, FileFormat{512, 4, 8}, FileFormat{0, 8, 4}, FileFormat{1024, 4, 4}}) {
    EXPECT_EQ(SmallFile(format).mappings(8), "MAPPINGS");
  }
}

TEST(HeapObject, WhatIsNotAsExpectedIsRefused) {
  const FileFormat format;
  EXPECT_THAT(SmallFile(format).mappings(10), HasSubstr("slablog-repair --materialise"));
  for (const char* signature : {"OHDR", "OCHK", "GCOL"}) {
    SmallFile file(format);
    file.bytes.replace(file.bytes.find(signature), 4, "????");
    EXPECT_THAT(file.mappings(8), HasSubstr("its views cannot be made")) << signature;
  }
}

}  // namespace
}  // namespace slabmark::logvol
