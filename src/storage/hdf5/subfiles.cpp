#include "storage/hdf5/subfiles.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <system_error>

#include <fmt/format.h>
#include <hdf5.h>
#include <mpi.h>

#include "core/base/error.hpp"
#include "core/base/path.hpp"

namespace slabmark::hdf5 {

namespace fs = std::filesystem;

namespace {

std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

/// The driver's description of the subfiles, from which its tool h5fuse takes their names.
void rename_description(const std::string& from, const std::string& to, const std::string& stub,
                        const std::string& new_stub) {
  std::ifstream in(from);
  std::ofstream out(to);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("hdf5_file=") && line.ends_with("/" + stub)) {
      line.replace(line.size() - stub.size(), stub.size(), new_stub);
    } else if (line.starts_with(stub + ".subfile_")) {
      line.replace(0, stub.size(), new_stub);
    }
    out << line << '\n';
  }
  out.close();
  if (in.bad() || !out) {
    throw IoError(fmt::format("'{}' could not be written anew as '{}'.", from, to));
  }
  fs::remove(from);
}

}  // namespace

std::vector<std::string> subfiles_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  const std::string name = fmt::format("{}.subfile_{}", name_of(path), status.st_ino);
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_of(path), error)) {
    const std::string other = entry.path().filename().string();
    // The number of the stub must end where the name goes on: 12 is not 123.
    if (!other.starts_with(name)) continue;
    const char next = other.size() > name.size() ? other[name.size()] : '\0';
    if (next == '_' || next == '.') found.push_back(entry.path().string());
  }
  return found;
}

std::uint64_t largest_subfile(std::uint64_t bytes, std::uint64_t subfiles) {
#ifdef H5_HAVE_SUBFILING_VFD
  constexpr std::uint64_t stripe = H5FD_SUBFILING_DEFAULT_STRIPE_SIZE;
  const std::uint64_t row = stripe * std::max<std::uint64_t>(subfiles, 1);
  return bytes / row * stripe + std::min(bytes % row, stripe);
#else
  static_cast<void>(subfiles);
  return bytes;
#endif
}

std::string no_subfiling_cause() {
#if !defined(H5_HAVE_SUBFILING_VFD)
  return "this HDF5 was built without its subfiling driver";
#elif defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
  // 4.0.2: PMPI_Waitall of the rank spins with the lock that the driver's thread wants for
  // PMPI_Iprobe, and what it waits for is that thread's answer. 5.0.2 is well.
  return "with MPI_THREAD_MULTIPLE of MPICH 4.0, a rank that waits keeps the driver's thread out";
#else
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE
             ? ""
             : "HDF5's subfiling driver needs an MPI that gives MPI_THREAD_MULTIPLE";
#endif
}

void rename_with_subfiles(const std::string& from, const std::string& to) {
  const std::vector<std::string> replaced = subfiles_of(to);
  const std::string stub = name_of(from);
  try {
    for (const std::string& subfile : subfiles_of(from)) {
      const std::string end = name_of(subfile).substr(stub.size());
      if (end.ends_with(".config")) {
        rename_description(subfile, to + end, stub, name_of(to));
      } else {
        fs::rename(subfile, to + end);
      }
    }
    fs::rename(from, to);  // last, so that the name never stands for half of the file
    for (const std::string& subfile : replaced) fs::remove(subfile);
  } catch (const fs::filesystem_error& error) {
    throw IoError(
        fmt::format("'{}' cannot be renamed to '{}': {}.", from, to, error.code().message()));
  }
}

}  // namespace slabmark::hdf5
