#include "bench/map/pio_text_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace slabmark {
namespace {

constexpr std::size_t written_at_once = std::size_t{1} << 20;
constexpr std::size_t entry_bytes = 21;  // 20 digits of 2^64 - 1 and a blank

/// `at` has room for entry_bytes. Returns the end of what was written.
char* format_entry(char* at, std::uint64_t entry) {
  at = std::to_chars(at, at + entry_bytes, entry).ptr;
  *at++ = ' ';
  return at;
}

}  // namespace

PioTextWriter::PioTextWriter(const std::string& path, const Extent& dims, std::uint64_t ranks)
    : target_(path, 0),
      file_(posix::File::open(target_.written_as(), posix::File::Access::write)),
      buffer_(std::make_unique<char[]>(written_at_once)) {
  std::string header = fmt::format("version 2001 npes {} ndims {} \n", ranks, dims.size());
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) header += fmt::format("{} ", *dim);
  header += '\n';
  put_text(header);
}

void PioTextWriter::write_out() {
  const std::uint64_t bytes = std::exchange(filled_, 0);
  file_.write_at(bytes_, reinterpret_cast<const std::byte*>(buffer_.get()), bytes);
  bytes_ += bytes;
}

char* PioTextWriter::reserve(std::size_t bytes) {
  if (filled_ + bytes > written_at_once) write_out();
  return buffer_.get() + filled_;
}

void PioTextWriter::put_text(const std::string& text) {
  std::memcpy(reserve(text.size()), text.data(), text.size());
  filled_ += text.size();
}

void PioTextWriter::begin_rank(std::uint64_t rank, std::uint64_t entries) {
  end_rank();
  put_text(fmt::format("{} {}\n", rank, entries));
  missing_ = entries;
  in_rank_ = true;
}

void PioTextWriter::append(std::span<const std::uint64_t> entries) {
  if (entries.size() > missing_) {
    throw std::logic_error("PioTextWriter: a rank has more entries than announced");
  }
  missing_ -= entries.size();
  constexpr std::size_t batch = 64;  // one check for room serves several entries
  while (!entries.empty()) {
    const auto now = entries.first(std::min(batch, entries.size()));
    char* const begin = reserve(batch * entry_bytes);
    char* at = begin;
    for (const std::uint64_t entry : now) at = format_entry(at, entry);
    filled_ += static_cast<std::size_t>(at - begin);
    entries = entries.subspan(now.size());
  }
}

void PioTextWriter::end_rank() {
  if (!in_rank_) return;
  if (missing_ > 0) {
    throw std::logic_error("PioTextWriter: a rank has fewer entries than announced");
  }
  put_text("\n");
  in_rank_ = false;
}

void PioTextWriter::finish() {
  end_rank();
  put_text("\n");
  write_out();
  buffer_.reset();
  file_.close();
}

void write_text(PioTextWriter& writer, const SyntheticMap& map) {
  for (std::uint64_t rank = 0; rank < map.ranks; ++rank) {
    writer.begin_rank(rank, map.entry_count(rank));
    map.visit(rank, [&writer](std::span<const std::uint64_t> entries) { writer.append(entries); });
  }
  writer.finish();
}

}  // namespace slabmark
