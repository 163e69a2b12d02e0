#include "bench/harness/trial_file.hpp"

#include <filesystem>
#include <unistd.h>

#include "bench/method/as_captured/files.hpp"
#include "core/parallel/agree.hpp"
#include "storage/mpiio/implementation.hpp"

namespace slabmark {

namespace {

void remove_all(const std::vector<std::string>& files) {
  for (const std::string& file : files) unlink(file.c_str());
}

}  // namespace

void require_free_path(const Comm& comm, const std::string& path, const posix::Output& output,
                       const Companions& companions) {
  agreed(comm, [&] {
    if (!comm.is_root()) return;
    mpiio::require_path_for_mpi_io(path);
    // Found by the file, so before it is removed.
    const auto others = companions ? companions(path) : std::vector<std::string>{};
    posix::require_free_path(path, output);
    for (const std::string& other : others) posix::require_free_path(other, output);
  });
}

FormatInfo format_of(const Cell& cell, const Pattern& pattern) {
  FormatInfo format = cell.method->file();
  if (cell.method->kind != MethodKind::as_captured) return format;
  if (captured_files(pattern, cell.path).size() == 1) return format;
  format.companions = [pattern](const std::string& path) {
    std::vector<std::string> files = captured_files(pattern, path);
    files.erase(files.begin());
    return files;
  };
  return format;
}

TrialFile::TrialFile(const Comm& comm, std::string path, const FormatInfo* format)
    : comm_(comm), path_(std::move(path)), guard_(path_) {
  if (format == nullptr) return;
  is_directory_ = format->is_directory;
  if (is_directory_) return;
  companions_ = format->companions;
  guard_companions();
  if (format->journal.empty()) return;
  journal_ = path_ + format->journal;
  journal_guard_.emplace(journal_);
}

void TrialFile::guard_companions() {
  is_made_ = true;
  if (is_directory_) {
    companion_guards_.emplace_back(path_, RemoveOnAbort::Directory::with_contents);
  }
  if (!companions_) return;
  companion_guards_.clear();
  for (const std::string& path : companions_(path_)) companion_guards_.emplace_back(path);
}

TrialFile::~TrialFile() {
  if (keep_ || !comm_.is_root()) return;
  if (is_directory_ && is_made_) {  // what is there without that may be another job's
    std::error_code error;
    std::filesystem::remove_all(path_, error);
    return;
  }
  if (companions_) remove_all(companions_(path_));
  unlink(path_.c_str());
  if (!journal_.empty()) unlink(journal_.c_str());
}

}  // namespace slabmark
