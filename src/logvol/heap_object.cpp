#include "logvol/heap_object.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <H5VLnative.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::logvol {

namespace {

using hdf5::check;
using hdf5::own;

const std::string a_file = "the file";

// Of the HDF5 file format, version 3.
constexpr std::uint64_t layout_message = 0x08;
constexpr std::uint64_t continuation_message = 0x10;
constexpr std::uint64_t virtual_layout = 3;

struct Part {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// Reads numbers of a file one after another, within a part of it.
class Cursor {
 public:
  Cursor(posix::File& file, const FileFormat& format, Part part)
      : file_(file), format_(format), at_(format.base + part.address), end_(at_ + part.bytes) {}

  std::uint64_t left() const { return end_ - at_; }
  std::uint64_t place() const { return at_; }  ///< in the file
  void skip(std::uint64_t bytes) { at_ += std::min(bytes, left()); }

  std::uint64_t number(std::size_t width) {
    if (width > 8 || width > left()) broken();
    std::byte bytes[8] = {};
    file_.read_at(at_, bytes, width);
    at_ += width;
    std::uint64_t value = 0;
    for (auto i = width; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    return value;
  }
  std::uint64_t address() { return number(format_.address_bytes); }
  std::uint64_t length() { return number(format_.length_bytes); }

  void expect(std::string_view signature) {
    for (const char letter : signature) {
      if (number(1) != static_cast<unsigned char>(letter)) broken();
    }
  }

  [[noreturn]] void broken() const {
    throw IoError(fmt::format(
        "'{}' is not as HDF5 {}.{} writes it near byte {}, so its views cannot be made; "
        "use slablog-repair --materialise.",
        file_.path(), H5_VERS_MAJOR, H5_VERS_MINOR, at_));
  }

 private:
  posix::File& file_;
  const FileFormat& format_;
  std::uint64_t at_;
  std::uint64_t end_;
};

/// Where an object header keeps its messages: the first part, and then those that it points to.
class Messages {
 public:
  Messages(posix::File& file, const FileFormat& format, std::uint64_t header)
      : file_(file), format_(format) {
    Cursor prefix(file, format, {header, file.size() - format.base - header});
    prefix.expect("OHDR");
    if (prefix.number(1) != 2) prefix.broken();
    const auto flags = prefix.number(1);
    has_order_ = (flags & 0x04) != 0;
    if ((flags & 0x20) != 0) prefix.skip(16);  // times
    if ((flags & 0x10) != 0) prefix.skip(4);   // limits of attributes
    const auto bytes = prefix.number(std::size_t{1} << (flags & 0x03));
    parts_.push_back({prefix.place() - format.base, bytes});
  }

  /// Heap collection and number of the object that holds the mappings.
  std::pair<std::uint64_t, std::uint64_t> heap_id() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Cursor part(file_, format_, parts_[i]);
      while (part.left() > 4 + (has_order_ ? 2u : 0u)) {
        const auto type = part.number(1);
        const auto bytes = part.number(2);
        part.skip(has_order_ ? 3 : 1);
        auto message = part;
        part.skip(bytes);
        if (type == layout_message) return heap_id_of(message);
        if (type == continuation_message) follow(message);
      }
    }
    Cursor(file_, format_, parts_[0]).broken();
  }

 private:
  static std::pair<std::uint64_t, std::uint64_t> heap_id_of(Cursor message) {
    if (message.number(1) < 4 || message.number(1) != virtual_layout) message.broken();
    const auto collection = message.address();
    return {collection, message.number(4)};
  }

  void follow(Cursor message) {
    const auto address = message.address();
    const auto bytes = message.length();
    Cursor(file_, format_, {address, bytes}).expect("OCHK");
    parts_.push_back({address + 4, bytes - 8});  // between signature and checksum
  }

  posix::File& file_;
  const FileFormat& format_;
  bool has_order_ = false;
  std::vector<Part> parts_;
};

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

/// The bytes of an object in a collection of the global heap.
Cursor object_of(posix::File& file, const FileFormat& format, std::uint64_t collection,
                 std::uint64_t index) {
  const auto header = aligned(8 + format.length_bytes);
  Cursor prefix(file, format, {collection, header});
  prefix.expect("GCOL");
  prefix.skip(4);
  Cursor objects(file, format, {collection, prefix.length()});
  objects.skip(header);
  while (objects.left() > header) {
    auto object = objects;
    const auto number = object.number(2);
    object.skip(6);
    const auto bytes = object.length();
    const auto begin = objects.place() - format.base + header;
    if (number == index) return {file, format, {begin, bytes}};
    if (number == 0) break;  // the free space is the last
    objects.skip(header + aligned(bytes));
  }
  objects.broken();
}

}  // namespace

FileFormat format_of(hid_t file) {
  const auto list = own(H5Fget_create_plist(file), H5Pclose, "H5Fget_create_plist", a_file);
  FileFormat format;
  hsize_t base = 0;
  check(H5Pget_userblock(list.get(), &base), "H5Pget_userblock", a_file);
  check(H5Pget_sizes(list.get(), &format.address_bytes, &format.length_bytes), "H5Pget_sizes",
        a_file);
  format.base = base;
  return format;
}

std::uint64_t header_address(hid_t object) {
  H5O_info2_t info;
  check(H5Oget_info3(object, &info, H5O_INFO_BASIC), "H5Oget_info3", a_file);
  haddr_t address = HADDR_UNDEF;
  check(H5VLnative_token_to_addr(object, info.token, &address), "H5VLnative_token_to_addr", a_file);
  return address;
}

std::uint64_t place_of_mappings(posix::File& file, const FileFormat& format, std::uint64_t header,
                                std::uint64_t bytes) {
  const auto [collection, index] = Messages(file, format, header).heap_id();
  const auto place = object_of(file, format, collection, index);
  if (place.left() != bytes) place.broken();
  return place.place();
}

}  // namespace slabmark::logvol
