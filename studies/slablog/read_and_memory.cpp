// read_and_memory FOLDER HYPERSLABS TRIALS
//
// Each rank writes as many hyperslabs of 1 to 4 int32, dealt to the ranks in turn, into a log and
// into a file of HDF5's own. Prints how much memory the connector took for that, and how long
// reading the whole takes when each rank reads an equal contiguous part: each step, and open to
// close; and what a rank reads and holds for that of the log: with the marks of its index, and
// after they were deleted, so that it reads all of the index.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "accel/hdf5_connector/api/slablog.h"
#include "bench/measure/memory.hpp"
#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"
#include "storage/hdf5/handle.hpp"

namespace {

using slabmark::Comm;
using slabmark::hdf5::Handle;
using slabmark::hdf5::own;

const std::string here = "the bench";

struct Hyperslabs {
  Hyperslabs(const Comm& comm, std::uint64_t per_rank) {
    std::mt19937_64 random(1);
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    for (std::uint64_t i = 0; i < per_rank * ranks; ++i) {
      const hsize_t length = 1 + random() % 4;
      if (i % ranks == static_cast<std::uint64_t>(comm.rank())) {
        offsets.push_back(total);
        lengths.push_back(length);
        mine += length;
      }
      total += length;
    }
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      starts.push_back(&offsets[i]);
      counts.push_back(&lengths[i]);
    }
    data.assign(mine, comm.rank());
  }

  hsize_t total = 0;
  hsize_t mine = 0;
  std::vector<hsize_t> offsets, lengths;
  std::vector<hsize_t*> starts, counts;
  std::vector<int> data;
};

Handle access(const Comm& comm, const char* options) {
  auto list = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", here);
  H5Pset_fapl_mpio(list.get(), comm.get(), MPI_INFO_NULL);
  if (options != nullptr)
    slabmark::hdf5::check(slablog_set(list.get(), options), "slablog_set", here);
  return list;
}

void write(const Comm& comm, const std::string& path, Hyperslabs& what, const char* options,
           bool report_memory) {
  const auto list = access(comm, options);
  const auto file = own(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), H5Fclose,
                        "H5Fcreate", path);
  const auto space =
      own(H5Screate_simple(1, &what.total, nullptr), H5Sclose, "H5Screate_simple", path);
  const auto dataset = own(H5Dcreate2(file.get(), "d", H5T_NATIVE_INT, space.get(), H5P_DEFAULT,
                                      H5P_DEFAULT, H5P_DEFAULT),
                           H5Dclose, "H5Dcreate2", path);
  slabmark::reset_high_water();
  const auto before = slabmark::resident_bytes().value_or(0);
  slabmark::hdf5::check(
      H5Dwrite_n(dataset.get(), H5T_NATIVE_INT, static_cast<int>(what.starts.size()),
                 what.starts.data(), what.counts.data(), H5P_DEFAULT, what.data.data()),
      "H5Dwrite_n", path);
  slabmark::hdf5::check(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "H5Fflush", path);
  if (!report_memory) return;
  const auto grown = comm.max(slabmark::high_water_bytes().value_or(0) - before);
  const auto bytes = 4 * comm.max(static_cast<std::uint64_t>(what.mine));
  const auto allowed = 2 * bytes + 64 * what.starts.size();
  if (!comm.is_root()) return;
  fmt::print(
      "memory of a rank for {} bytes in {} hyperslabs, until flushed: {} bytes, {:.2f} of "
      "twice the data and 64 bytes a hyperslab\n",
      bytes, what.starts.size(), grown, static_cast<double>(grown) / static_cast<double>(allowed));
}

/// Bytes that this process has asked of files (and pipes and sockets) so far.
std::uint64_t bytes_read() {
  std::ifstream text("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  text >> name >> value;
  return name == "rchar:" ? value : 0;
}

/// What a rank has read, and most memory that it had, since this was made.
struct Cost {
  Cost() : read(bytes_read()) {
    slabmark::reset_high_water();
    memory = slabmark::resident_bytes().value_or(0);
  }
  void print(const Comm& comm, const char* when) const {
    const auto most_read = comm.max(bytes_read() - read);
    const auto most_memory = comm.max(slabmark::high_water_bytes().value_or(0) - memory);
    if (comm.is_root()) fmt::print("  {:32}{:12}{:12}\n", when, most_read, most_memory);
  }

  std::uint64_t read;
  std::uint64_t memory = 0;
};

void report_reading(const Comm& comm, const std::string& path, const Hyperslabs& what) {
  const auto part = slabmark::equal_range(what.total, static_cast<std::uint64_t>(comm.rank()),
                                          static_cast<std::uint64_t>(comm.size()));
  hsize_t offset = part.offset;
  hsize_t length = part.length;
  hsize_t* start = &offset;
  hsize_t* count = &length;
  std::vector<int> values(length, 1);
  const auto list = access(comm, "view=none");
  const auto file =
      own(H5Fopen(path.c_str(), H5F_ACC_RDONLY, list.get()), H5Fclose, "H5Fopen", path);
  const Cost cost;
  const auto dataset = own(H5Dopen2(file.get(), "d", H5P_DEFAULT), H5Dclose, "H5Dopen2", path);
  cost.print(comm, "H5Dopen2");
  slabmark::hdf5::check(
      H5Dread_n(dataset.get(), H5T_NATIVE_INT, 1, &start, &count, H5P_DEFAULT, values.data()),
      "H5Dread_n", path);
  cost.print(comm, "and the first read");
}

void compare_index(const Comm& comm, const std::string& path, const Hyperslabs& what) {
  if (comm.is_root()) {
    fmt::print("of a rank that reads its part ({} bytes): bytes read, memory\n",
               4 * what.total / static_cast<std::uint64_t>(comm.size()));
    fmt::print("with marks\n");
  }
  report_reading(comm, path, what);
  if (comm.is_root()) {
    const auto file =
        own(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "H5Fopen", path);
    slabmark::hdf5::check(H5Ldelete(file.get(), "/_slablog/marks0", H5P_DEFAULT), "H5Ldelete",
                          path);
    fmt::print("without\n");
  }
  comm.barrier();
  report_reading(comm, path, what);
}

/// Median, least and greatest.
std::string spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return fmt::format("{:8.2f} [{:.2f}, {:.2f}]", values[values.size() / 2], values.front(),
                     values.back());
}

/// Seconds of the slowest rank from the start to the end of each step.
struct Steps {
  static constexpr std::array<const char*, 5> names = {"open the file", "open the dataset", "read",
                                                       "close", "in all"};
  std::array<double, 5> seconds{};
};

Steps read_part(const Comm& comm, const std::string& path, const char* options) {
  comm.barrier();
  Steps steps;
  const auto start = MPI_Wtime();
  auto before = start;
  const auto step = [&](std::size_t which) {
    steps.seconds[which] = MPI_Wtime() - before;
    before += steps.seconds[which];
  };
  {
    const auto list = access(comm, options);
    auto file = own(H5Fopen(path.c_str(), H5F_ACC_RDONLY, list.get()), H5Fclose, "H5Fopen", path);
    step(0);
    const auto dataset = own(H5Dopen2(file.get(), "d", H5P_DEFAULT), H5Dclose, "H5Dopen2", path);
    const auto space = own(H5Dget_space(dataset.get()), H5Sclose, "H5Dget_space", path);
    step(1);
    const auto part = slabmark::equal_range(
        static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space.get())),
        static_cast<std::uint64_t>(comm.rank()), static_cast<std::uint64_t>(comm.size()));
    const hsize_t offset = part.offset;
    const hsize_t length = part.length;
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &offset, nullptr, &length, nullptr);
    const auto line =
        own(H5Screate_simple(1, &length, nullptr), H5Sclose, "H5Screate_simple", path);
    const auto transfer = own(H5Pcreate(H5P_DATASET_XFER), H5Pclose, "H5Pcreate", path);
    H5Pset_dxpl_mpio(transfer.get(), H5FD_MPIO_COLLECTIVE);
    std::vector<int> values(length);
    slabmark::hdf5::check(H5Dread(dataset.get(), H5T_NATIVE_INT, line.get(), space.get(),
                                  transfer.get(), values.data()),
                          "H5Dread", path);
    step(2);
  }
  step(3);
  steps.seconds[4] = MPI_Wtime() - start;
  for (auto& seconds : steps.seconds) seconds = comm.max(seconds);
  return steps;
}

void compare_reading(const Comm& comm, const std::string& native, const std::string& log,
                     int trials) {
  std::vector<Steps> trials_of[2];
  for (int i = 0; i <= trials; ++i) {
    const auto of_native = read_part(comm, native, nullptr);
    const auto of_log = read_part(comm, log, "");
    if (i == 0) continue;  // warm-up
    trials_of[0].push_back(of_native);
    trials_of[1].push_back(of_log);
  }
  if (!comm.is_root()) return;
  fmt::print("contiguous parallel read of the whole, milliseconds of native and of the log\n");
  for (std::size_t step = 0; step < Steps::names.size(); ++step) {
    std::vector<double> sorted[2];
    std::vector<double> ratios;
    for (int i = 0; i < trials; ++i) {
      for (int which = 0; which < 2; ++which) {
        sorted[which].push_back(1e3 * trials_of[which][i].seconds[step]);
      }
      ratios.push_back(sorted[1].back() / sorted[0].back());
    }
    fmt::print("  {:18}{} {}, ratio {}\n", Steps::names[step], spread(sorted[0]), spread(sorted[1]),
               spread(ratios));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) return 2;
  H5PLprepend(SLABLOG_PLUGINS);
  try {
    const Comm comm(MPI_COMM_WORLD);
    const std::string folder = argv[1];
    Hyperslabs what(comm, std::strtoull(argv[2], nullptr, 10));
    const auto log = folder + "/log.h5";
    const auto native = folder + "/native.h5";
    write(comm, log, what, "view=none", true);
    compare_index(comm, log, what);
    write(comm, log, what, "", false);
    write(comm, native, what, nullptr, false);
    compare_reading(comm, native, log, std::atoi(argv[3]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "read_and_memory: error: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return MPI_Finalize();
}
