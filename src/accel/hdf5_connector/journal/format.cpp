#include "accel/hdf5_connector/journal/format.hpp"

#include <filesystem>

#include "accel/hdf5_connector/api/slablog.h"
#include "core/base/checksum.hpp"

namespace slabmark::slablog {

std::uint64_t JournalHeader::right_checksum() const {
  return Checksum().add(magic).add(epoch).add(mark).add(end).value();
}

std::uint64_t JournalRecord::right_checksum(std::uint64_t epoch,
                                            std::span<const std::byte> content) const {
  return Checksum().add(epoch).add(offset).add(bytes).add(rank).add(number).add(content).value();
}

std::string journal_path(const std::string& path) {
  // A path that does not exist yet stays relative otherwise.
  auto whole = std::filesystem::absolute(path);
  // A link may lead to a file that is about to be made.
  constexpr int most_links = 40;  // as Linux
  for (int i = 0; i < most_links && std::filesystem::is_symlink(whole); ++i) {
    whole = whole.parent_path() / std::filesystem::read_symlink(whole);
  }
  return std::filesystem::weakly_canonical(whole).string() + SLABLOG_JOURNAL;
}

}  // namespace slabmark::slablog
