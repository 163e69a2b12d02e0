#include "pattern/content.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pattern/piece.hpp"

namespace slabmark {
namespace {

constexpr std::uint64_t golden_gamma = 0x9E3779B97F4A7C15;

/// The finaliser of splitmix64.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// Start of the sequence of hashes of one dataset at one time.
std::uint64_t key_of(std::size_t dataset, std::uint64_t time) {
  return mix(mix((dataset + 1) * golden_gamma) + (time + 1) * golden_gamma);
}

/// The leading bits of a hash, as many as T holds exactly.
template <class T>
T cut(std::uint64_t hash);
template <>
std::int32_t cut(std::uint64_t hash) {
  return static_cast<std::int32_t>(hash >> 32);
}
template <>
std::int64_t cut(std::uint64_t hash) {
  return static_cast<std::int64_t>(hash);
}
template <>
float cut(std::uint64_t hash) {
  return static_cast<float>(hash >> 40);
}
template <>
double cut(std::uint64_t hash) {
  return static_cast<double>(hash >> 11);
}

/// Hash of an element, or of a group of elements.
constexpr std::uint64_t hash_of(std::uint64_t key, std::uint64_t index) {
  return mix(key + index * golden_gamma);
}

template <class T>
void fill(std::uint64_t key, Run run, std::byte* out) {
  for (std::uint64_t i = 0; i < run.length; ++i) {
    const T value = cut<T>(hash_of(key, run.offset + i));
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

/// Bytes share a hash by eight: the contiguous bound moves nothing but bytes, gigabytes of them.
template <>
void fill<std::uint8_t>(std::uint64_t key, Run run, std::byte* out) {
  for (std::uint64_t element = run.offset; element < run.end();) {
    const std::uint64_t hash = hash_of(key, element / 8);
    const std::uint64_t skipped = element % 8;
    const std::uint64_t count = std::min(8 - skipped, run.end() - element);
    std::memcpy(out, reinterpret_cast<const std::byte*>(&hash) + skipped, count);
    out += count;
    element += count;
  }
}

/// Calls `work` with a value of the C++ type that `type` stands for.
template <class Work>
auto with_type(ElementType type, const Work& work) {
  switch (type) {
    case ElementType::uint8:
      return work(std::uint8_t{});
    case ElementType::int32:
      return work(std::int32_t{});
    case ElementType::int64:
      return work(std::int64_t{});
    case ElementType::float32:
      return work(float{});
    case ElementType::float64:
      break;
  }
  return work(double{});
}

/// Text of the element at `in`. Whole numbers are printed as such: all expected values are.
template <class T>
std::string text_of(const std::byte* in) {
  T value;
  std::memcpy(&value, in, sizeof(T));
  return fmt::format("{}", value);
}

/// Compares bit for bit, a block at a time since almost all blocks are right.
template <class T>
std::optional<Mismatch> check(std::uint64_t key, Run run, const std::byte* in) {
  constexpr std::uint64_t block = 512;
  std::byte expected[block * sizeof(T)];
  Mismatch mismatch;
  for (std::uint64_t done = 0; done < run.length; done += block) {
    const Run part{run.offset + done, std::min(block, run.length - done)};
    const std::byte* found = in + done * sizeof(T);
    fill<T>(key, part, expected);
    if (std::memcmp(found, expected, part.length * sizeof(T)) == 0) continue;
    for (std::uint64_t i = 0; i < part.length; ++i) {
      const std::uint64_t at = i * sizeof(T);
      if (std::memcmp(found + at, expected + at, sizeof(T)) == 0 || mismatch.count++ > 0) continue;
      mismatch.element = part.offset + i;
      mismatch.expected = text_of<T>(expected + at);
      mismatch.found = text_of<T>(found + at);
    }
  }
  if (mismatch.count == 0) return std::nullopt;
  return mismatch;
}

/// "(3, 14)": the indices of a row-major element.
std::string indices_of(std::uint64_t element, const Extent& extent) {
  Extent indices(extent.size());
  for (std::size_t d = extent.size(); d-- > 0;) {
    indices[d] = element % extent[d];
    element /= extent[d];
  }
  return fmt::format("({})", fmt::join(indices, ", "));
}

}  // namespace

void fill_run(ElementType type, std::size_t dataset, std::uint64_t time, Run run, std::byte* out) {
  with_type(type, [&]<class T>(T) { fill<T>(key_of(dataset, time), run, out); });
}

std::optional<Mismatch> check_run(ElementType type, std::size_t dataset, std::uint64_t time,
                                  Run run, const std::byte* in) {
  auto mismatch =
      with_type(type, [&]<class T>(T) { return check<T>(key_of(dataset, time), run, in); });
  if (mismatch) {
    mismatch->dataset = dataset;
    mismatch->time = time;
  }
  return mismatch;
}

void fill_buffer(const Pattern& pattern, const Transfer& transfer, std::byte* buffer) {
  const Dataset& dataset = pattern.datasets[transfer.dataset];
  const std::size_t size = size_of(dataset.type);
  if (transfer.buffer) {
    std::memset(buffer, std::to_integer<int>(gap_byte), buffer_bytes(transfer, dataset));
  }
  for_each_piece(transfer, [&](const Piece& piece) {
    fill_run(dataset.type, transfer.dataset, transfer.time, {piece.file, piece.length},
             buffer + piece.buffer * size);
  });
}

std::optional<Mismatch> check_buffer(const Pattern& pattern, const Transfer& transfer,
                                     const std::byte* buffer) {
  const Dataset& dataset = pattern.datasets[transfer.dataset];
  const std::size_t size = size_of(dataset.type);
  std::optional<Mismatch> first;
  for_each_piece(transfer, [&](const Piece& piece) {
    const auto found = check_run(dataset.type, transfer.dataset, transfer.time,
                                 {piece.file, piece.length}, buffer + piece.buffer * size);
    if (!found) return;
    if (first) {
      first->count += found->count;
    } else {
      first = found;
    }
  });
  return first;
}

std::string describe(const Mismatch& mismatch, const Pattern& pattern) {
  const Dataset& dataset = pattern.datasets[mismatch.dataset];
  const std::string where = dataset.has_time ? fmt::format(" of record {}", mismatch.time) : "";
  const std::string rest =
      mismatch.count == 1 ? "it is the only wrong element"
                          : fmt::format("it is the first of {} wrong elements", mismatch.count);
  return fmt::format("Dataset \"{}\" holds {} instead of {} at element {}{}; {}.", dataset.name,
                     mismatch.found, mismatch.expected,
                     indices_of(mismatch.element, dataset.extent()), where, rest);
}

}  // namespace slabmark
