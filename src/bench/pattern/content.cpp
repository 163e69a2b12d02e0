#include "bench/pattern/content.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/pattern/content_hash.hpp"
#include "bench/pattern/transfer_pieces.hpp"

namespace slabmark {
namespace {

/// The leading bits of a hash, as many as T holds exactly.
template <class T>
T cut(std::uint64_t hash) {
  return static_cast<T>(hash >> (64 - 8 * sizeof(T)));
}
template <>
float cut(std::uint64_t hash) {
  return static_cast<float>(hash >> 40);
}
template <>
double cut(std::uint64_t hash) {
  return static_cast<double>(hash >> 11);
}
/// Printable, as texts are: programs that read them may stop at what is not.
template <>
char cut(std::uint64_t hash) {
  return static_cast<char>('0' + (hash >> 58));  // '0' to 'o'
}

template <class T>
void fill(std::uint64_t key, Run run, std::byte* out) {
  for (std::uint64_t i = 0; i < run.length; ++i) {
    const T value = cut<T>(content_hash(key, run.offset + i));
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

/// Bytes share a hash by eight: the contiguous bound moves nothing but bytes, gigabytes of them.
template <>
void fill<std::uint8_t>(std::uint64_t key, Run run, std::byte* out) {
  for (std::uint64_t element = run.offset; element < run.end();) {
    const std::uint64_t hash = content_hash(key, element / 8);
    const std::uint64_t skipped = element % 8;
    const std::uint64_t count = std::min(8 - skipped, run.end() - element);
    std::memcpy(out, reinterpret_cast<const std::byte*>(&hash) + skipped, count);
    out += count;
    element += count;
  }
}

/// Text of the element at `in`. Whole numbers are printed as such: all expected values are.
template <class T>
std::string text_of(const std::byte* in) {
  T value;
  std::memcpy(&value, in, sizeof(T));
  return fmt::format("{}", value);
}

constexpr std::byte outdated_bit{1};

/// Compares the elements `part` bit for bit and notes what is wrong.
template <class T>
void compare(Run part, const std::byte* found, const std::byte* expected, Mismatch& mismatch) {
  if (std::memcmp(found, expected, part.length * sizeof(T)) == 0) return;
  for (std::uint64_t i = 0; i < part.length; ++i) {
    const std::uint64_t at = i * sizeof(T);
    if (std::memcmp(found + at, expected + at, sizeof(T)) == 0 || mismatch.count++ > 0) continue;
    mismatch.element = part.offset + i;
    mismatch.expected = text_of<T>(expected + at);
    mismatch.found = text_of<T>(found + at);
    mismatch.is_outdated =
        std::equal(found + at, found + at + sizeof(T), expected + at,
                   [](std::byte a, std::byte b) { return (a ^ b) == outdated_bit; });
  }
}

// Elements that are compared at once: those of hashes in the processor's cache; those of a
// function, which is called once a box, without being a burden on memory.
constexpr std::uint64_t hashes_at_once = 512;
constexpr std::uint64_t compared_at_once = std::uint64_t{1} << 20;

/// Compares `at_once` elements at a time with what `fill(part, out)` makes of them.
template <class Fill>
std::optional<Mismatch> compared(ElementType type, Run run, const std::byte* in,
                                 std::uint64_t at_once, const Fill& fill) {
  const std::size_t size = size_of(type);
  std::vector<std::byte> expected(std::min(run.length, at_once) * size);
  Mismatch mismatch;
  for (std::uint64_t done = 0; done < run.length; done += at_once) {
    const Run part{run.offset + done, std::min(at_once, run.length - done)};
    fill(part, expected.data());
    with_type(type,
              [&]<class T>(T) { compare<T>(part, in + done * size, expected.data(), mismatch); });
  }
  if (mismatch.count == 0) return std::nullopt;
  return mismatch;
}

std::optional<Mismatch> located(std::optional<Mismatch> mismatch, std::size_t dataset,
                                std::uint64_t time) {
  if (mismatch) {
    mismatch->dataset = dataset;
    mismatch->time = time;
  }
  return mismatch;
}

/// The time whose hashes stand at `time` in the pattern's file: no run has 2^32 times.
std::uint64_t hashed_time(const Pattern& pattern, std::uint64_t time) {
  return time + (pattern.file << 32);
}

void fill_run(const Pattern& pattern, std::size_t dataset, std::uint64_t time, Run run,
              std::byte* out) {
  const ElementType type = pattern.datasets[dataset].type;
  if (!pattern.content) {
    return slabmark::fill_run(type, dataset, hashed_time(pattern, time), run, out);
  }
  const std::size_t size = size_of(type);
  for (const Hyperslab& box : boxes_of_range(run, pattern.datasets[dataset].extent())) {
    pattern.content->fill(dataset, time, box.start, box.block, out);
    out += element_count(box.block) * size;
  }
}

/// True if the selection is boxes whose elements lie in the buffer densely, box after box.
bool is_boxes(const Transfer& transfer) {
  if (transfer.buffer) return false;
  Hyperslab slab;
  for (std::uint64_t i = 0; i < transfer.file->hyperslab_count(); ++i) {
    transfer.file->hyperslab(i, slab);
    for (const std::uint64_t count : slab.count) {
      if (count != 1) return false;
    }
  }
  return true;
}

void fill_boxes(const Content& content, const Transfer& transfer, std::size_t element_bytes,
                std::byte* buffer) {
  Hyperslab slab;
  for (std::uint64_t i = 0; i < transfer.file->hyperslab_count(); ++i) {
    transfer.file->hyperslab(i, slab);
    if (element_count(slab) == 0) continue;
    content.fill(transfer.dataset, transfer.time, slab.start, slab.block, buffer);
    buffer += element_count(slab) * element_bytes;
  }
}

}  // namespace

void fill_run(ElementType type, std::size_t dataset, std::uint64_t time, Run run, std::byte* out) {
  with_type(type, [&]<class T>(T) { fill<T>(content_key(dataset, time), run, out); });
}

std::optional<Mismatch> check_run(ElementType type, std::size_t dataset, std::uint64_t time,
                                  Run run, const std::byte* in) {
  const auto fill = [&](Run part, std::byte* out) { fill_run(type, dataset, time, part, out); };
  return located(compared(type, run, in, hashes_at_once, fill), dataset, time);
}

std::optional<Mismatch> check_run(const Pattern& pattern, std::size_t dataset, std::uint64_t time,
                                  Run run, const std::byte* in) {
  const auto fill = [&](Run part, std::byte* out) { fill_run(pattern, dataset, time, part, out); };
  return located(compared(pattern.datasets[dataset].type, run, in,
                          pattern.content ? compared_at_once : hashes_at_once, fill),
                 dataset, time);
}

void fill_buffer(const Pattern& pattern, const Transfer& transfer, std::byte* buffer) {
  const Dataset& dataset = pattern.datasets[transfer.dataset];
  const std::size_t size = size_of(dataset.type);
  if (transfer.buffer) {
    std::memset(buffer, std::to_integer<int>(gap_byte), buffer_bytes(transfer, dataset));
  }
  if (pattern.content && is_boxes(transfer)) {
    fill_boxes(*pattern.content, transfer, size, buffer);
    return;
  }
  for_each_piece(transfer, [&](const Piece& piece) {
    fill_run(pattern, transfer.dataset, transfer.time, {piece.file, piece.length},
             buffer + piece.buffer * size);
  });
}

void make_outdated(std::span<std::byte> contents) {
  for (std::byte& byte : contents) byte ^= outdated_bit;
}

std::optional<Mismatch> check_buffer(const Pattern& pattern, const Transfer& transfer,
                                     const std::byte* buffer) {
  const Dataset& dataset = pattern.datasets[transfer.dataset];
  const std::size_t size = size_of(dataset.type);
  std::optional<Mismatch> first;
  for_each_piece(transfer, [&](const Piece& piece) {
    const auto found = check_run(pattern, transfer.dataset, transfer.time,
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
  const char* const cause =
      pattern.rewrites && mismatch.is_outdated
          ? " An earlier call wrote what it holds, so the order of calls was lost."
          : "";
  return fmt::format("Dataset \"{}\" holds {} instead of {} at element ({}){}; {}.{}", dataset.name,
                     mismatch.found, mismatch.expected,
                     fmt::join(indices_of(mismatch.element, dataset.extent()), ", "), where, rest,
                     cause);
}

}  // namespace slabmark
