#include "accel/hdf5_connector/log/index_store.hpp"

#include <utility>

#include <fmt/format.h>

#include "accel/hdf5_connector/log/index_reader.hpp"
#include "core/base/error.hpp"
#include "core/base/varint.hpp"

namespace slabmark::slablog {

namespace {

/// As errors name it.
std::string place_of(const posix::File& file, const std::string& name) {
  return fmt::format("{} of '{}'", name, file.path());
}

[[noreturn]] void is_damaged(const std::string& place, const char* why) {
  throw IoError(
      fmt::format("The index {} is damaged: {}; restore the file from a copy.", place, why));
}

IndexContent read_line(posix::File& file, const Line& line, std::optional<std::uint64_t> checksum,
                       std::uint64_t flush, const std::string& place) {
  const auto size = file.size();
  if (line.elements > size || line.address > size - line.elements) {
    is_damaged(place, "it ends beyond the file");
  }
  IndexContent content{std::make_unique_for_overwrite<std::byte[]>(line.elements), {}};
  const std::span<const std::byte> bytes(content.bytes.get(), line.elements);
  file.read_at(line.address, content.bytes.get(), line.elements);
  if (checksum && checksum_of(bytes, flush, 0, place) != *checksum) {
    is_damaged(place, "its checksum is not that of its bytes");
  }
  for_each_entry(bytes, place, [&](const IndexEntry& entry) { content.entries.push_back(entry); });
  return content;
}

}  // namespace

std::vector<std::byte> marks_of(std::span<const std::byte> entries, const std::string& place) {
  std::vector<std::byte> marks;
  for_each_entry(entries, place, [&](const IndexEntry& entry) {
    const auto before = entry.bytes.size() - entry.coded.size();
    std::vector<std::byte> coded;
    if (entry.runs > 0) {
      coded = CodedRuns(entry, 0, 1, place).coded_marks(before);
    } else {
      put_varint(coded, 0);
      put_varint(coded, before);
      put_varint(coded, 0);
    }
    append_entry(marks, entry.dataset, entry.extent, entry.first, 0, coded);
  });
  return marks;
}

IndexContent read_index(posix::File& file, const StoredIndex& index, std::uint64_t flush) {
  return read_line(file, index.line, index.checksum, flush, place_of(file, index_name(flush)));
}

// The runs determine the bytes that they take, so they must fill the index as it lies in the file.
IndexContent IndexStore::read_marks(const StoredIndex& index, std::uint64_t flush) {
  const auto place = place_of(file_, marks_name(flush));
  auto content = read_line(file_, *index.marks, index.marks_checksum, flush, place);
  std::uint64_t at = 0;
  for (auto& entry : content.entries) {
    IndexReader reader(entry.coded, place);
    entry.runs = reader.number();
    const auto before = reader.number();
    const auto bytes = reader.number();
    if (before > index.line.elements - at || bytes > index.line.elements - at - before) {
      reader.broken();
    }
    entry.file = &file_;
    entry.address = index.line.address + at + before;
    at += before + bytes;
  }
  const auto size = file_.size();
  if (at != index.line.elements || at > size || index.line.address > size - at) {
    is_damaged(place, "its marks are not those of the index");
  }
  return content;
}

// Logs of version 1 do not say how many there are.
void IndexStore::load(const Location& location) {
  const auto count = number(location, log_group, "flushes");
  for (std::uint64_t flush = 0; !count || flush < static_cast<std::uint64_t>(*count); ++flush) {
    const auto name = index_name(flush);
    const auto line = find_line(location, name);
    if (!line && !count) return;
    if (!line) has_lost(name);
    std::optional<std::uint64_t> checksum;
    if (const auto stored = number(location, name, "checksum")) {
      checksum = static_cast<std::uint64_t>(*stored);
    }
    indices_.push_back({*line, checksum});
    if (line->elements < most_read_at_once) continue;
    auto& index = indices_.back();
    index.marks = find_line(location, marks_name(flush));
    if (!index.marks) continue;
    const auto stored = number(location, marks_name(flush), "checksum");
    if (!stored) is_damaged(place_of(file_, marks_name(flush)), "it has no checksum");
    index.marks_checksum = static_cast<std::uint64_t>(*stored);
  }
  if (link_exists(location, index_name(flushes()))) {
    throw IoError(fmt::format("'{}' has {}, but its log counts {} flushes; restore it from a copy.",
                              file_.path(), index_name(flushes()), flushes()));
  }
}

void IndexStore::add(const Location& location, const StoredIndex& index) {
  set_number(location, index_name(flushes()), "checksum",
             static_cast<std::int64_t>(index.checksum.value()));
  if (index.marks) {
    set_number(location, marks_name(flushes()), "checksum",
               static_cast<std::int64_t>(index.marks_checksum));
  }
  indices_.push_back(index);
  note_flushes(location);
}

void IndexStore::note_flushes(const Location& location) const {
  set_number(location, log_group, "flushes", static_cast<std::int64_t>(flushes()));
}

std::uint64_t IndexStore::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& index : indices_) bytes += index.line.elements;
  return bytes;
}

std::uint64_t IndexStore::hyperslabs(std::uint64_t dataset) const {
  const auto found = hyperslabs_.find(dataset);
  return found == hyperslabs_.end() ? 0 : found->second;
}

void IndexStore::parse() {
  while (parsed_.size() < indices_.size()) {
    const auto flush = parsed_.size();
    const auto& stored = indices_[flush];
    auto index = stored.marks ? read_marks(stored, flush) : read_index(file_, stored, flush);
    parsed_.push_back(std::move(index.bytes));
    for (auto& entry : index.entries) {
      hyperslabs_[entry.dataset] += entry.runs;
      waiting_[entry.dataset].push_back({flush, std::move(entry)});
    }
  }
}

void IndexStore::check() const {
  for (std::uint64_t flush = 0; flush < flushes(); ++flush) {
    read_index(file_, indices_[flush], flush);
  }
}

void IndexStore::has_lost(const std::string& name) const {
  throw IoError(
      fmt::format("'{}' has lost {} of its log; restore it from a copy.", file_.path(), name));
}

// Of views that were made before these elements could no longer be written without the connector.
void IndexStore::check_holes(const Location& location, std::uint64_t dataset) const {
  const auto name = holes_name(dataset);
  const auto holes = find_line(location, name);
  if (!holes || holes->address == HADDR_UNDEF) return;
  throw IoError(
      fmt::format("'{}' has elements in {} that were written without slablog, and that its log "
                  "does not have; 'h5repack -l CONTI' makes an ordinary file with all elements.",
                  file_.path(), name));
}

void IndexStore::find_segments(const Location& location, LogDataset& dataset) {
  // Here, not at the first read: if metadata is read collectively, no rank may do so alone.
  parse();
  const auto& entries = waiting_[dataset.number()];
  if (!entries.empty()) check_holes(location, dataset.number());
  for (const auto& waiting : entries) {
    const auto source = in_segment + static_cast<std::uint32_t>(waiting.flush);
    if (waiting.entry.runs == 0 || dataset.segments.contains(source)) continue;
    const auto name = segment_name(dataset.number(), waiting.flush);
    const auto segment = find_line(location, name);
    if (!segment) has_lost(name);
    dataset.segments[source] = *segment;
  }
}

void IndexStore::update(LogDataset& dataset) {
  parse();
  const auto found = waiting_.find(dataset.number());
  if (found == waiting_.end()) return;
  for (const auto& waiting : found->second) {
    dataset.load(waiting.entry, waiting.flush, place_of(file_, index_name(waiting.flush)));
  }
  dataset.finish_load();
  waiting_.erase(found);
}

}  // namespace slabmark::slablog
