#include "programs/seism-core-slice/output_file.hpp"

#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "core/base/command.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "storage/hdf5/file.hpp"
#include "storage/hdf5/subfiles.hpp"
#include "storage/posix/file_size_limit.hpp"
#include "storage/posix/free_path.hpp"
#include "storage/posix/unfinished_name.hpp"

namespace slabmark::seism_core_slice {

namespace fs = std::filesystem;

namespace {

std::uint64_t bytes_of(const CheckpointGrid& grid) {
  Extent lengths = grid.extent();
  lengths.push_back(grid.steps);
  lengths.push_back(sizeof(float));
  return element_count(lengths);
}

/// An earlier file is replaced if it is a checkpoint or holds nothing; a mistaken name is not.
void require_hdf5(const std::string& path) {
  std::error_code error;
  if (const auto bytes = fs::file_size(path, error); error || bytes == 0) return;
  if (hdf5::is_hdf5(path)) return;
  throw InputError(fmt::format(
      "'{}' exists and is no HDF5 file, so it is not replaced; give another filename.", path));
}

/// With its subfiles.
void remove_left(const std::string& file) {
  std::error_code error;
  for (const std::string& subfile : hdf5::subfiles_of(file)) fs::remove(subfile, error);
  fs::remove(file, error);
}

// Errors found here end a run at once that would fail after long writing. A compressed file
// may be much smaller; but one that meets the limit while all ranks write makes OMPIO (Open MPI
// 4.1.4) hang, so it is not tried.
void require_room(const CheckpointSettings& settings) {
  const bool filtered = settings.deflate > 0 || settings.zfp > 0;
  const std::uint64_t bytes = bytes_of(settings.grid);
  // How large subfiles become their method knows, and looks itself.
  if (settings.subfile == 0) {
    posix::require_file_size_allowed(fmt::format("'{}'", settings.filename), bytes);
  }
  if (!filtered) posix::require_space(settings.filename, bytes);
}

}  // namespace

std::string name_to_write(const Comm& comm, const CheckpointSettings& settings,
                          const std::string& records) {
  std::string name;
  agreed(comm, [&] {
    if (!comm.is_root()) return;
    posix::require_replaceable(settings.filename,
                               {.overwrite = true, .choice = "filename", .records = records});
    require_hdf5(settings.filename);
    require_room(settings);
    name = posix::unfinished_name(settings.filename, remove_left);
  });
  return comm.broadcast(name);
}

bool can_stripe(const CheckpointSettings& settings) {
  if (settings.lfs_stripe_count == 0 && settings.lfs_stripe_size == 0) return false;
  const auto answer = run_command({"lfs", "--version"});
  if (answer && answer->status != 127) return true;
  fmt::print(
      stderr,
      "seism-core-slice: warning: There is no command lfs, so the file gets the stripes that "
      "its directory gives it.\n");
  return false;
}

void make_striped(const CheckpointSettings& settings, const std::string& path) {
  std::vector<std::string> words = {"lfs", "setstripe"};
  const auto add = [&](const char* option, std::uint64_t value) {
    if (value > 0) words.insert(words.end(), {option, fmt::to_string(value)});
  };
  add("-S", settings.lfs_stripe_size);
  add("-c", settings.lfs_stripe_count);
  // Absolute, so that a name that begins with a dash is no option.
  words.push_back(fs::absolute(path).string());
  const auto answer = run_command(words, true);
  if (answer && answer->status == 0) return;
  std::string said = answer ? answer->output : "it could not be started";
  while (said.ends_with('\n')) said.pop_back();
  throw IoError(fmt::format(
      "'{}' failed: {}; leave lfs_stripe_count and lfs_stripe_size out where there is no Lustre.",
      fmt::join(words, " "), said.empty() ? "it does not say why" : said));
}

}  // namespace slabmark::seism_core_slice
