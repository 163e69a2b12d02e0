#include "bench/harness/page_cache.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace slabmark {

namespace {

// Share of a file's pages that mincore() finds in memory above which the file counts as cached.
constexpr double tolerated_share = 0.01;

bool pages_are_gone(int file, std::size_t bytes) {
  void* mapping = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (mapping == MAP_FAILED) return false;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((bytes + page - 1) / page);
  const bool asked = mincore(mapping, bytes, resident.data()) == 0;
  munmap(mapping, bytes);
  const auto in_memory = std::count_if(resident.begin(), resident.end(),
                                       [](unsigned char flags) { return flags & 1; });
  return asked &&
         static_cast<double>(in_memory) <= tolerated_share * static_cast<double>(resident.size());
}

bool drop_here(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY);
  if (file < 0) return false;
  struct stat status {};
  bool gone = fstat(file, &status) == 0;
  if (gone && S_ISREG(status.st_mode) && status.st_size > 0) {
    fdatasync(file);  // dirty pages are not dropped
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    gone = pages_are_gone(file, static_cast<std::size_t>(status.st_size));
  }
  close(file);
  return gone;
}

}  // namespace

bool drop_cached_pages(const Comm& comm, const std::string& path) {
  const bool stayed = !drop_here(path);
  return !comm.any(stayed);
}

}  // namespace slabmark
