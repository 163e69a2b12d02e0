#include "accel/hdf5_connector/journal/journal.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "accel/hdf5_connector/journal/format.hpp"
#include "core/base/error.hpp"

namespace slabmark::slablog {

namespace {

constexpr std::uint64_t most_bytes = 4 << 20;  // of a record, which passes through memory

std::map<std::string, std::weak_ptr<Journal>>& journals() {
  static auto& all = *new std::map<std::string, std::weak_ptr<Journal>>;  // as HDF5 ends late
  return all;
}

std::uint64_t random_number() {
  std::random_device random;
  return std::uniform_int_distribution<std::uint64_t>(1)(random);
}

/// Once per process: a program may write many files on one file system.
void warn_of_missing_locks(const std::string& path) {
  static bool warned = false;
  if (std::exchange(warned, true)) return;
  fmt::print(stderr,
             "slablog: warning: '{}' lies on a file system without locks, where two writers of one "
             "log cannot be told apart; let one program at a time write it.\n",
             path);
}

template <class Struct>
const std::byte* bytes_of(const Struct& value) {
  return reinterpret_cast<const std::byte*>(&value);
}

}  // namespace

std::shared_ptr<Journal> Journal::of(const std::string& path, int rank) {
  std::erase_if(journals(), [](const auto& entry) { return entry.second.expired(); });
  auto& known = journals()[journal_path(path)];
  if (auto journal = known.lock()) return journal;
  auto made = std::make_shared<Journal>(path, rank);
  known = made;
  return made;
}

bool Journal::is_kept_here(const std::string& path) {
  const auto found = journals().find(journal_path(path));
  const auto journal = found == journals().end() ? nullptr : found->second.lock();
  return journal && journal->journal_.is_open();
}

void Journal::start(std::uint64_t mark) {
  mark_ = mark;
  if (journal_.is_open()) return;
  const auto name = journal_path(path_);
  for (;;) {
    auto journal = posix::File::open_to_append(name);
    const auto lock = journal.try_lock(false);
    if (lock == posix::File::Lock::held_by_another) {
      throw IoError(fmt::format(
          "'{}' is being written by another process; wait until that has closed it.", path_));
    }
    if (lock == posix::File::Lock::unsupported) warn_of_missing_locks(path_);
    if (!journal.is_at_its_name()) continue;  // a writer has just ended, and removed it
    journal.resize(0);
    file_ = posix::File::open(path_, posix::File::Access::write);
    journal_ = std::move(journal);
    return;
  }
}

// The rest of an epoch is for roll_back().
Journal::~Journal() {
  if (rank_ != 0 || !journal_.is_open() || committed_ > 0) return;
  try {
    finish();
  } catch (const std::exception&) {
    // It stays, empty, and the next writer takes it.
  }
}

// The file tells which journal is its own. It has to be told before there is one: a journal that it
// does not know is taken for that of another file.
void Journal::commit(std::uint64_t end) {
  empty();
  follow(random_number(), end);
  file_.write_at(mark_, bytes_of(epoch_), sizeof epoch_);
  JournalHeader header{.epoch = epoch_, .mark = mark_, .end = end};
  header.checksum = header.right_checksum();
  journal_.append(bytes_of(header), sizeof header);
}

void Journal::empty() {
  check();
  if (committed_ > 0) journal_.resize(0);
}

void Journal::finish() {
  empty();
  follow(0, 0);
  posix::unlink(journal_.path());
  journal_.close();
}

void Journal::follow(std::uint64_t epoch, std::uint64_t end) {
  epoch_ = epoch;
  committed_ = end;
  records_ = 0;
  saved_.clear();
}

void Journal::protect(std::uint64_t offset, std::uint64_t bytes) {
  const auto end = std::min(offset + bytes, committed_);
  auto next = saved_.upper_bound(offset);
  if (next != saved_.begin()) --next;
  while (offset < end) {
    while (next != saved_.end() && next->second <= offset) ++next;
    if (next != saved_.end() && next->first <= offset) {
      offset = next->second;
      continue;
    }
    const auto gap_end =
        std::min({end, offset + most_bytes, next == saved_.end() ? end : next->first});
    save(offset, gap_end);
    saved_[offset] = gap_end;
    offset = gap_end;
  }
}

bool Journal::try_protect(std::uint64_t offset, std::uint64_t bytes) {
  if (offset >= committed_) return true;
  if (!failure_.empty()) return false;
  try {
    protect(offset, bytes);
    return true;
  } catch (const std::exception& error) {
    failure_ = error.what();
    return false;
  }
}

void Journal::set_deferred_error(const std::string& failure) {
  if (failure_.empty()) failure_ = failure;
}

void Journal::check() const {
  if (!failure_.empty()) throw IoError(failure_);
}

void Journal::save(std::uint64_t begin, std::uint64_t end) {
  if (!journal_.is_open()) {
    journal_ = posix::File::open_to_append(journal_path(path_));
    file_ = posix::File::open(path_, posix::File::Access::read);
  }
  JournalRecord record{.offset = begin, .bytes = end - begin, .rank = rank_, .number = records_};
  std::vector<std::byte> text(sizeof record + record.bytes);
  auto* content = text.data() + sizeof record;
  file_.read_at(begin, content, record.bytes);
  record.checksum = record.right_checksum(epoch_, {content, record.bytes});
  std::memcpy(text.data(), &record, sizeof record);
  journal_.append(text.data(), text.size());
  ++records_;
}

}  // namespace slabmark::slablog
