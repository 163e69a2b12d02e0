#include "accel/hdf5_connector/journal/rollback.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "accel/hdf5_connector/journal/format.hpp"
#include "accel/hdf5_connector/journal/journal.hpp"
#include "core/base/error.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slablog {

namespace {

/// A journal that was left by its writer.
class LeftJournal {
 public:
  LeftJournal(const std::string& path, posix::File& journal)
      : path_(path), name_(journal.path()), text_(journal.size()) {
    journal.read_at(0, text_.data(), text_.size());
  }

  /// Nothing where the writer ended before the journal was needed.
  std::optional<JournalHeader> header() const {
    JournalHeader header;
    const auto bytes = std::min(text_.size(), sizeof header);
    if (std::memcmp(&header, text_.data(), std::min(bytes, sizeof header.magic)) != 0) {
      refuse("is not a journal of slablog");
    }
    if (bytes < sizeof header) return std::nullopt;
    std::memcpy(&header, text_.data(), sizeof header);
    if (header.checksum != header.right_checksum()) refuse("is damaged");
    return header;
  }

  struct Saved {
    std::uint64_t offset;
    std::span<const std::byte> content;
  };

  /// The saved bytes of the file, in the order in which they were saved. A record that is not whole
  /// is the last one of a rank that was killed; what it was about to overwrite then is still there.
  std::vector<Saved> saved(std::uint64_t epoch) const {
    std::vector<Saved> found;
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (auto at = sizeof(JournalHeader); at + sizeof(JournalRecord) <= text_.size();) {
      const auto saved = whole_record(at, epoch);
      if (!saved) {
        ++at;
        continue;
      }
      if (saved->number != numbers[saved->rank]++) refuse("is damaged");
      found.push_back({saved->offset, content(at, *saved)});
      at += sizeof *saved + saved->bytes;
    }
    return found;
  }

  [[noreturn]] void refuse(const char* why) const {
    throw IoError(fmt::format(
        "'{}' {}, so '{}' cannot be brought back to its last flush. Restore both from a copy, or "
        "move the journal away if you know that the file is whole, and use 'slabmark log repair'.",
        name_, why, path_));
  }

 private:
  std::span<const std::byte> content(std::size_t at, const JournalRecord& saved) const {
    return std::span(text_).subspan(at + sizeof saved, saved.bytes);
  }

  std::optional<JournalRecord> whole_record(std::size_t at, std::uint64_t epoch) const {
    JournalRecord saved;
    std::memcpy(&saved, text_.data() + at, sizeof saved);
    if (saved.bytes > text_.size() - at - sizeof saved) return std::nullopt;
    if (saved.checksum != saved.right_checksum(epoch, content(at, saved))) return std::nullopt;
    return saved;
  }

  const std::string& path_;
  std::string name_;
  std::vector<std::byte> text_;
};

void check_is_of_this_file(const LeftJournal& journal, const JournalHeader& header,
                           posix::File& file) {
  std::uint64_t mark = 0;
  const auto size = file.size();
  if (header.end <= size && header.mark + sizeof mark <= size) {
    file.read_at(header.mark, reinterpret_cast<std::byte*>(&mark), sizeof mark);
  }
  if (mark != header.epoch) {
    journal.refuse("is of another file, or of this one at another time");
  }
}

/// The bytes saved first come last: if two ranks wrote one after the other, the second one saved
/// the bytes of the first.
void put_back(posix::File& file, const std::vector<LeftJournal::Saved>& saved, std::uint64_t end) {
  for (auto one = saved.rbegin(); one != saved.rend(); ++one) {
    file.write_at(one->offset, one->content.data(), one->content.size());
  }
  file.resize(end);
}

void check_lock(posix::File::Lock lock, const std::string& path, Opener opener) {
  if (lock == posix::File::Lock::held_by_another) {
    throw IoError(fmt::format(
        "'{}' is being written by another process; wait until that has closed it.", path));
  }
  if (lock == posix::File::Lock::unsupported && opener != Opener::repair &&
      opener != Opener::maker) {
    throw IoError(
        fmt::format("'{}' was not closed by its writer, or is being written: a file system without "
                    "locks does not tell. If nothing writes it, use 'slabmark log repair' on it.",
                    path));
  }
}

}  // namespace

bool roll_back(const std::string& path, Opener opener) {
  const auto name = journal_path(path);
  if (!std::filesystem::exists(name) || !std::filesystem::exists(path)) return false;
  if (Journal::is_kept_here(path)) return false;
  const bool reads = opener == Opener::reader;
  const auto access = reads ? posix::File::Access::read : posix::File::Access::write;
  auto left = posix::File::open(name, access);
  const auto lock = left.try_lock(reads);
  const bool idle = left.size() <= sizeof(JournalHeader);
  if (idle && (reads || lock != posix::File::Lock::held_by_another)) {
    return lock == posix::File::Lock::taken;
  }
  check_lock(lock, path, opener);
  if (opener == Opener::maker) return true;

  const LeftJournal journal(path, left);
  if (const auto header = journal.header()) {
    auto file = posix::File::open(path, access);
    check_is_of_this_file(journal, *header, file);
    if (reads) {
      throw IoError(
          fmt::format("The writer of '{}' ended in the middle of a flush; 'slabmark log repair' "
                      "brings the file back "
                      "to the flush before.",
                      path));
    }
    put_back(file, journal.saved(header->epoch), header->end);
  }
  left.resize(0);
  return true;
}

}  // namespace slabmark::slablog
