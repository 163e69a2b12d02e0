#include "bench/trial_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/path.hpp"
#include "parallel/agree.hpp"

namespace slabmark {

namespace fs = std::filesystem;

namespace {

void remove_companions(const std::string& path, const Companions& companions) {
  if (!companions) return;
  for (const std::string& other : companions(path)) unlink(other.c_str());
}

void require_free_path_here(const std::string& path, bool overwrite, const Companions& companions,
                            const std::string& choice) {
  const fs::path directory = directory_of(path);
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    throw InputError(fmt::format(
        "The output directory '{}' does not exist; create it or choose another with {}.",
        directory.string(), choice));
  }
  if (access(directory.c_str(), W_OK) != 0) {
    throw InputError(
        fmt::format("The output directory '{}' is not writable ({}); choose another with {}.",
                    directory.string(), std::strerror(errno), choice));
  }
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status)) return;
  if (!overwrite) {
    throw InputError(
        fmt::format("The output file '{}' exists already; remove it, choose another with {}, or "
                    "pass --overwrite.",
                    path, choice));
  }
  if (!fs::is_regular_file(status)) {
    throw InputError(fmt::format(
        "'{}' exists and is not a regular file, so it is not overwritten; choose another with {}.",
        path, choice));
  }
  remove_companions(path, companions);
  if (!fs::remove(path, error)) {
    throw IoError(fmt::format("The file '{}' could not be removed: {}.", path, error.message()));
  }
}

}  // namespace

void require_free_path(const Comm& comm, const std::string& path, bool overwrite,
                       const Companions& companions, const std::string& choice) {
  agreed(comm, [&] {
    if (comm.is_root()) require_free_path_here(path, overwrite, companions, choice);
  });
}

TrialFile::TrialFile(const Comm& comm, std::string path, Companions companions)
    : comm_(comm), path_(std::move(path)), companions_(std::move(companions)), guard_(path_) {}

TrialFile::~TrialFile() {
  if (keep_ || !comm_.is_root()) return;
  remove_companions(path_, companions_);
  unlink(path_.c_str());
}

}  // namespace slabmark
