#include "convert/unfinished_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/posix/file.hpp"
#include "storage/posix/unfinished_name.hpp"

namespace slabmark::convert {

namespace {

/// A file, or the directory of a store with its contents.
void remove(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
}

}  // namespace

UnfinishedFile::UnfinishedFile(const Comm& comm, const std::string& path, bool is_resumable,
                               Journal* journal)
    : comm_(comm), final_(path), journal_(journal) {
  if (is_resumable) {
    path_ = resumable_name(path);
    return;
  }
  path_ = comm.broadcast(comm.is_root() ? posix::unfinished_name(path, remove) : std::string());
  guard_.emplace(path_, RemoveOnAbort::Directory::with_contents);
}

UnfinishedFile::~UnfinishedFile() {
  if (!comm_.is_root() || is_kept_) return;
  if (journal_ != nullptr && journal_->batches() > 0) return;
  remove(path_);
}

void UnfinishedFile::keep() {
  if (journal_ != nullptr) {
    journal_->finish();
  } else if (std::rename(path_.c_str(), final_.c_str()) != 0) {
    throw IoError(
        fmt::format("Cannot rename '{}' to '{}': {}.", path_, final_, posix::explain(errno)));
  }
  is_kept_ = true;
}

}  // namespace slabmark::convert
