#if SLABMARK_WITH_PNETCDF

#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>

#include "bench/map/map_input.hpp"
#include "core/base/error.hpp"

namespace slabmark {

namespace {

// List tags of the format specification.
constexpr std::uint64_t tag_dimension = 10;
constexpr std::uint64_t tag_variable = 11;
constexpr std::uint64_t tag_attribute = 12;
constexpr std::uint64_t longest_name = 256;

/// Bytes of one value of an nc_type, 0 if there is no such type.
std::uint64_t bytes_of_type(std::uint64_t type) {
  constexpr std::uint64_t bytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  return type < std::size(bytes) ? bytes[type] : 0;
}

class HeaderWalk {
 public:
  explicit HeaderWalk(const std::string& path)
      : path_(path), file_(path, std::ios::binary), file_bytes_(std::filesystem::file_size(path)) {}

  std::uint64_t run() {
    version_ = number(4) & 0xff;
    number(counts());  // records
    for (std::uint64_t left = list(tag_dimension); left > 0; --left) dimension();
    attributes();
    for (std::uint64_t left = list(tag_variable); left > 0; --left) variable();
    return file_bytes_;
  }

 private:
  std::uint64_t counts() const { return version_ == 5 ? 8 : 4; }
  std::uint64_t begins() const { return version_ == 1 ? 4 : 8; }

  [[noreturn]] void fail_malformed(const std::string& what) const {
    throw InputError(fmt::format("\"{}\" is no sound NetCDF file: {} in its header at byte {}.",
                                 path_, what, position_));
  }

  void need(std::uint64_t bytes) const {
    if (bytes <= file_bytes_ - position_) return;
    throw InputError(
        fmt::format("\"{}\" is truncated or damaged: its NetCDF header goes on beyond its {} "
                    "bytes; copy or make "
                    "it again.",
                    path_, file_bytes_));
  }

  std::uint64_t number(std::uint64_t bytes) {
    need(bytes);
    unsigned char raw[8] = {};
    file_.read(reinterpret_cast<char*>(raw), static_cast<std::streamsize>(bytes));
    if (!file_) fail_malformed("reading failed");
    position_ += bytes;
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) value = value << 8 | raw[i];
    return value;
  }

  /// A count, length or file position: the format has them signed and never negative.
  std::uint64_t non_negative(std::uint64_t bytes, const char* what) {
    const std::uint64_t value = number(bytes);
    if (value >> (bytes * 8 - 1) != 0) fail_malformed(fmt::format("there is a negative {}", what));
    return value;
  }

  void skip_padded(std::uint64_t bytes) {
    need(bytes);
    bytes = (bytes + 3) / 4 * 4;
    need(bytes);
    file_.seekg(static_cast<std::streamoff>(bytes), std::ios::cur);
    position_ += bytes;
  }

  /// Number of elements of a list that may be absent.
  std::uint64_t list(std::uint64_t tag) {
    const std::uint64_t found = number(4);
    const std::uint64_t elements = non_negative(counts(), "number of elements");
    if (found != tag && !(found == 0 && elements == 0)) {
      fail_malformed(fmt::format("there is no list of the kind {}", tag));
    }
    need(elements);  // each takes more than a byte, so a made-up number ends here
    return elements;
  }

  void name() {
    const std::uint64_t bytes = non_negative(counts(), "length of a name");
    if (bytes == 0 || bytes > longest_name) {
      fail_malformed(fmt::format("there is a name of {} bytes", bytes));
    }
    skip_padded(bytes);
  }

  void dimension() {
    name();
    non_negative(counts(), "dimension");
    ++dimensions_;
  }

  std::uint64_t type() {
    const std::uint64_t bytes = bytes_of_type(number(4));
    if (bytes == 0) fail_malformed("there is an unknown data type");
    return bytes;
  }

  void attributes() {
    for (std::uint64_t left = list(tag_attribute); left > 0; --left) {
      name();
      const std::uint64_t value_bytes = type();
      const std::uint64_t values = non_negative(counts(), "number of values");
      need(values);
      skip_padded(values * value_bytes);
    }
  }

  void variable() {
    name();
    const std::uint64_t dimensions = non_negative(counts(), "number of dimensions");
    need(dimensions);
    for (std::uint64_t i = 0; i < dimensions; ++i) {
      if (number(counts()) >= dimensions_) fail_malformed("a variable has an unknown dimension");
    }
    attributes();
    type();
    number(counts());  // bytes of the variable: writers may leave nonsense where they do not fit
    non_negative(begins(), "position of a variable");
  }

  const std::string& path_;
  std::ifstream file_;
  std::uint64_t file_bytes_;
  std::uint64_t position_ = 0;
  std::uint64_t version_ = 1;
  std::uint64_t dimensions_ = 0;
};

}  // namespace

std::uint64_t check_classic_header(const std::string& path) { return HeaderWalk(path).run(); }

}  // namespace slabmark

#endif  // SLABMARK_WITH_PNETCDF
