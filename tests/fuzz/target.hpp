#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <typeinfo>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {

/// A reader of files that others hand us.
struct FuzzTarget {
  std::vector<std::string> seeds;                     ///< sound files
  std::function<void(const std::string& path)> read;  ///< all of a file; may throw an Error
};

/// Damages files as disks, editors and attackers do. The same seed gives the same damage.
class Damage {
 public:
  explicit Damage(std::uint64_t seed) : random_(seed) {}

  std::string to(std::string bytes, const std::vector<std::string>& others) {
    for (std::uint64_t i = 0, many = 1 + below(3); i < many; ++i) once(bytes, others);
    return bytes;
  }

 private:
  std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : random_() % end; }

  void once(std::string& bytes, const std::vector<std::string>& others) {
    const std::uint64_t at = below(bytes.size());
    switch (below(7)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        return;
      case 1:
        return put_number(bytes, at);
      case 2:
        bytes.resize(at);
        return;
      case 3:
        bytes.erase(at, 1 + below(64));
        return;
      case 4:
        bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(64)));
        return;
      case 5:
        bytes.insert(at, std::to_string(number()));
        return;
      default:
        const std::string& other = others[below(others.size())];
        bytes = bytes.substr(0, at) + other.substr(below(other.size()));
    }
  }

  /// Numbers at which readers go wrong.
  std::uint64_t number() {
    constexpr std::array<std::uint64_t, 5> offsets = {0, 1, 2, ~std::uint64_t{0},
                                                      ~std::uint64_t{1}};
    return (std::uint64_t{1} << below(64)) * below(2) + offsets[below(offsets.size())];
  }

  // Mostly where a field may begin, in either byte order.
  void put_number(std::string& bytes, std::uint64_t at) {
    const std::uint64_t width = below(2) == 0 ? 4 : 8;
    if (below(4) > 0) at -= at % 4;
    if (at + width > bytes.size()) return;
    const std::uint64_t value = number();
    const bool swapped = below(2) == 0;
    for (std::uint64_t i = 0; i < width; ++i) {
      bytes[at + (swapped ? width - 1 - i : i)] = static_cast<char>(value >> (8 * i));
    }
  }

  std::mt19937_64 random_;
};

/// Writes `bytes` to `path` and reads them. Anything but an Error is the reader's fault.
inline void read_bytes(const FuzzTarget& target, const std::string& path,
                       const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  try {
    target.read(path);
  } catch (const Error&) {
  }
}

/// Reads `files` damaged copies of the seeds, and expects a file or a sentence of each.
inline void expect_sound_reader(const FuzzTarget& target, const std::string& path,
                                std::uint64_t seed, int files) {
  for (const std::string& sound : target.seeds) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << sound;
    ASSERT_NO_THROW(target.read(path));  // or nothing behind its header is tried
  }
  Damage damage(seed);
  for (int i = 0; i < files; ++i) {
    const auto& sound = target.seeds[static_cast<std::size_t>(i) % target.seeds.size()];
    const std::string bytes = damage.to(sound, target.seeds);
    try {
      read_bytes(target, path, bytes);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "file " << i << " of seed " << seed << ": " << typeid(error).name() << ": "
                    << error.what();
      return;
    }
  }
}

}  // namespace slabmark
