#include "collective/file_image.hpp"

#include <algorithm>

#include <mpi.h>

#include "collective/file.hpp"
#include "collective/settings.hpp"
#include "storage/posix/file.hpp"
#include "storage/posix/stored_ranges.hpp"

namespace slabmark::collective {

namespace {

// The bytes read at once that may all be zero.
constexpr std::uint64_t most_at_once = 1 << 20;
// The most that MPI can count.
constexpr std::uint64_t most_in_a_call = 1 << 30;

RunList stored(const std::string& path) {
  RunList runs;
  for (const auto& [begin, end] : posix::stored_ranges(path)) runs.push_back({begin, end - begin});
  return runs;
}

}  // namespace

FileImage::FileImage(const std::string& path) : FileImage(path, stored(path)) {}

FileImage::FileImage(const std::string& path, const RunList& where) {
  File file(MPI_COMM_SELF, path, File::Access::read, {});
  bytes_ = file.size();
  std::vector<std::byte> bytes;
  for (const Run run : where) {
    for_each_part(run, most_at_once, [&](Run part) {
      bytes.resize(part.length);
      file.read(part.offset, bytes.data(), part.length);
      add(part.offset, bytes);
    });
  }
  file.close();
}

// Zeros are what a file has where nothing was written.
void FileImage::add(std::uint64_t offset, const std::vector<std::byte>& bytes) {
  const auto is_zero = [](std::byte one) { return one == std::byte{0}; };
  const auto last = std::find_if_not(bytes.rbegin(), bytes.rend(), is_zero).base();
  const auto first = std::find_if_not(bytes.begin(), last, is_zero);
  if (first == last) return;
  offset += static_cast<std::uint64_t>(first - bytes.begin());
  if (parts_.empty() || parts_.back().offset + parts_.back().bytes.size() != offset) {
    parts_.push_back({offset, {}});
  }
  parts_.back().bytes.insert(parts_.back().bytes.end(), first, last);
}

void FileImage::create(const std::string& path, const mpiio::Hints& user) const {
  auto made = mpiio::File::create(MPI_COMM_SELF, path, with_own_hints(user));
  try {
    made.resize(bytes_);
    for (const Part& part : parts_) {
      for_each_part({0, part.bytes.size()}, most_in_a_call, [&](Run run) {
        auto* const memory = const_cast<std::byte*>(part.bytes.data()) + run.offset;
        const auto bytes = static_cast<int>(run.length);
        made.write_at(part.offset + run.offset, {memory, bytes, MPI_BYTE, run.length});
      });
    }
    made.close();
  } catch (...) {
    posix::unlink(path);
    throw;
  }
}

}  // namespace slabmark::collective
