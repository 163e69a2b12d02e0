#include "bench/harness/output_directory.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace fs = std::filesystem;

namespace {

/// The parts of `path` that are not there yet, outermost first.
std::vector<fs::path> missing_parts(const fs::path& path) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path part = path; !part.empty() && !fs::exists(part, error) && !error;
       part = part.parent_path()) {
    if (part.has_filename()) missing.push_back(part);  // "a/b/" is "a/b" and nothing more
    if (part == part.parent_path()) break;
  }
  std::reverse(missing.begin(), missing.end());
  return missing;
}

}  // namespace

OutputDirectory::OutputDirectory(const Comm& comm, const std::string& path,
                                 const std::string& choice) {
  try {
    agreed(comm, [&] {
      if (!comm.is_root()) return;
      std::error_code error;
      for (const fs::path& part : missing_parts(path)) {
        if (fs::create_directory(part, error)) made_.push_back(part);
        if (error) break;
      }
      if (!error && !fs::is_directory(path, error) && !error) {
        error = std::make_error_code(std::errc::not_a_directory);
      }
      if (!error) return;
      throw InputError(
          fmt::format("The output directory '{}' cannot be made or used ({}); choose another with "
                      "{}.",
                      path, error.message(), choice));
    });
    const std::uint64_t parts = comm.broadcast(static_cast<std::uint64_t>(made_.size()));
    for (std::uint64_t i = 0; i < parts; ++i) {
      guards_.emplace_back(comm.broadcast(comm.is_root() ? made_[i].string() : std::string()));
    }
  } catch (...) {
    remove_made();  // no destructor runs for an object that was never complete
    throw;
  }
}

OutputDirectory::~OutputDirectory() { remove_made(); }

void OutputDirectory::keep() {
  made_.clear();
  guards_.clear();
}

void OutputDirectory::remove_made() noexcept {
  std::error_code ignored;  // not empty: then it holds what is not ours to remove
  for (auto part = made_.rbegin(); part != made_.rend(); ++part) fs::remove(*part, ignored);
  made_.clear();
}

}  // namespace slabmark
