#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace slabmark::slablog {

// The journal of a log file, as docs/reference/log-layout.md describes it: a header, then
// records. Numbers are in the byte order of the machine, as it does not outlive a crash there.

struct JournalHeader {
  static constexpr std::uint64_t magic_number = 0x4c4e524a42414c53;  // "SLABJRNL"

  std::uint64_t magic = magic_number;
  std::uint64_t epoch = 0;     ///< a random number, which is also in the file, at `mark`
  std::uint64_t mark = 0;      ///< where in the file
  std::uint64_t end = 0;       ///< of the file to go back to
  std::uint64_t checksum = 0;  ///< of all before

  std::uint64_t right_checksum() const;
};

/// The header before bytes that were in the file before they were overwritten.
struct JournalRecord {
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t bytes = 0;
  std::uint32_t rank = 0;      ///< which appended it
  std::uint32_t number = 0;    ///< of this rank's records in this epoch, from 0
  std::uint64_t checksum = 0;  ///< of the epoch, all before, and the bytes

  std::uint64_t right_checksum(std::uint64_t epoch, std::span<const std::byte> content) const;
};

/// Name of the journal of the file that `path` leads to, through links too.
std::string journal_path(const std::string& path);

}  // namespace slabmark::slablog
