#include "accel/hdf5_connector/log/index.hpp"

#include <algorithm>

#include "accel/hdf5_connector/log/index_reader.hpp"
#include "core/base/checksum.hpp"
#include "core/base/varint.hpp"

namespace slabmark::slablog {

namespace {

/// Row-major position in `to` of the element at `offset` in `from`, or false where it has none.
bool move_offset(std::uint64_t& offset, const Extent& from, const Extent& to) {
  std::uint64_t moved = 0;
  std::uint64_t scale = 1;
  for (auto d = from.size(); d-- > 0;) {
    const auto at = offset % from[d];
    offset /= from[d];
    if (at >= to[d]) return false;
    moved += at * scale;
    scale *= to[d];
  }
  offset = moved;
  return true;
}

}  // namespace

void RunCoder::add(Run run) {
  elements_ += run.length;
  if (count_ > 0 && last_.end() == run.offset) {
    last_.length += run.length;
    return;
  }
  finish();
  last_ = run;
  ++count_;
}

std::span<const std::byte> RunCoder::finish() {
  if (last_.length > 0) {
    put_varint(coded_, last_.offset - end_);
    put_varint(coded_, last_.length);
    end_ = last_.end();
    last_ = {};
  }
  return coded_;
}

void append_entry(std::vector<std::byte>& index, std::uint64_t dataset, const Extent& extent,
                  std::uint64_t first, std::uint64_t count, std::span<const std::byte> coded) {
  put_varint(index, dataset);
  put_varint(index, extent.size());
  for (const auto length : extent) put_varint(index, length);
  put_varint(index, first);
  put_varint(index, count);
  put_varint(index, coded.size());
  index.insert(index.end(), coded.begin(), coded.end());
}

void append_entry(std::vector<std::byte>& index, std::uint64_t dataset, const Extent& extent,
                  std::uint64_t first, std::span<const LogRun> runs) {
  std::vector<std::byte> coded;
  coded.reserve(2 * runs.size());
  std::uint64_t at = 0;
  for (const auto& run : runs) {
    put_varint(coded, run.offset - at);
    put_varint(coded, run.length);
    at = run.end();
  }
  append_entry(index, dataset, extent, first, runs.size(), coded);
}

void for_each_entry(std::span<const std::byte> index, const std::string& place,
                    const std::function<void(const IndexEntry&)>& visit) {
  IndexReader reader(index, place);
  while (!reader.at_end()) {
    IndexEntry entry;
    const auto begin = reader.at();
    entry.dataset = reader.number();
    const auto rank = reader.number();
    if (rank > 32) reader.broken();
    for (std::uint64_t d = 0; d < rank; ++d) entry.extent.push_back(reader.number());
    entry.first = reader.number();
    entry.runs = reader.number();
    entry.coded = reader.take(reader.number());
    if (entry.runs > entry.coded.size()) reader.broken();
    entry.bytes = index.subspan(begin, reader.at() - begin);
    visit(entry);
  }
}

std::uint64_t checksum_of(std::span<const std::byte> entries, std::uint64_t flush,
                          std::uint64_t first, const std::string& place) {
  std::uint64_t sum = 0;
  for_each_entry(entries, place, [&](const IndexEntry& entry) {
    Checksum checksum;
    checksum.add(flush).add(first).add(entry.bytes.size()).add(entry.bytes);
    sum += checksum.value();
    first += entry.bytes.size();
  });
  return sum;
}

bool same_rows(const Extent& a, const Extent& b) {
  return a.size() == b.size() && (a.empty() || std::equal(a.begin() + 1, a.end(), b.begin() + 1));
}

LogRuns reshaped(LogRuns runs, const Extent& from, const Extent& to, std::size_t element_bytes) {
  if (from == to) return runs;
  LogRuns result;
  result.reserve(runs.size());
  if (same_rows(from, to)) {
    const auto total = element_count(to);
    for (const auto& run : runs) {
      if (run.offset >= total) break;
      result.push_back(part_of(run, run.offset, std::min(run.end(), total), element_bytes));
    }
    return result;
  }
  const auto row = from.back();
  for (const auto& run : runs) {
    for (auto at = run.offset; at < run.end();) {
      const auto row_end = at / row * row + row;
      const auto stop = std::min(run.end(), row_end);
      // Elements beyond the new end of the row go; those before it stay together.
      const auto kept = std::min(stop, row_end - row + std::min(row, to.back()));
      auto moved = at;
      if (at < kept && move_offset(moved, from, to)) {
        auto part = part_of(run, at, kept, element_bytes);
        part.offset = moved;
        result.push_back(part);
      }
      at = stop;
    }
  }
  return result;
}

}  // namespace slabmark::slablog
