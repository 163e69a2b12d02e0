#include "accel/hdf5_connector/journal/appends.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "accel/hdf5_connector/journal/format.hpp"
#include "core/base/error.hpp"
#include "storage/posix/file.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark::slablog {

namespace {

constexpr std::array<std::byte, 8> record{};

/// Asked anew from the server, whatever this node keeps.
std::uint64_t size_at_server(const std::string& path) {
  const posix::File opened = posix::File::open(path, posix::File::Access::read);
  struct statx status {};
  if (::statx(AT_FDCWD, path.c_str(), AT_STATX_FORCE_SYNC, STATX_SIZE, &status) != 0) {
    throw IoError(fmt::format("statx failed on '{}': {}.", path, posix::explain(errno)));
  }
  return status.stx_size;
}

/// Waits until it is so, or no longer believed to become so: programs that are a file system (FUSE)
/// keep names and sizes for a second.
template <class Condition>
void settle(const Condition& is_so) {
  constexpr std::chrono::seconds patience{4};
  const auto start = std::chrono::steady_clock::now();
  while (!is_so() && std::chrono::steady_clock::now() - start <= patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

bool is_first_of_node(const Comm& comm) {
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(
      MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &node),
      "MPI_Comm_split_type");
  return Comm::taking_over(node)->is_root();
}

}  // namespace

void require_appends(const Ranks& ranks, const std::string& path) {
  const Comm* const comm = ranks.comm();
  if (comm == nullptr || comm->size() == 1) return;
  const bool first = is_first_of_node(*comm);
  const std::uint64_t nodes = comm->sum(std::uint64_t{first});
  if (nodes == 1) return;
  const auto refuse = [&](const std::string& why) {
    throw IoError(fmt::format(
        "'{}' cannot have a log of ranks on {} nodes: {}, and they append to one journal. Choose a "
        "file system that supports appends from all nodes (Lustre, GPFS), one node, or "
        "layout=canonical.",
        path, nodes, why));
  };
  const std::string folder = std::filesystem::path(path).parent_path().string();
  ranks.agreed([&] {
    if (!ranks.is_root()) return;
    const std::string name = posix::unsafe_append_filesystem(folder.empty() ? "." : folder);
    if (!name.empty()) {
      refuse(fmt::format("{} appends where a node believes the end of a file to be", name));
    }
  });
  const std::uint64_t lost = bytes_lost_in_appends(ranks, journal_path(path) + "-try", first);
  if (lost == 0) return;
  ranks.agreed([&] {
    if (ranks.is_root()) {
      refuse(fmt::format("its file system lost {} bytes of what nodes appended to one file", lost));
    }
  });
}

std::uint64_t bytes_lost_in_appends(const Ranks& ranks, const std::string& path, bool takes_part) {
  posix::File file;
  const auto append = [&] { file.append(record.data(), record.size()); };
  ranks.agreed([&] {
    if (!ranks.is_root()) return;
    file = posix::File::open_to_append(path);
    file.resize(0);
  });
  try {
    // Clients that keep what they know of a file know from here on that it is empty. A node that
    // does not come to see it has another file system under that name.
    ranks.agreed([&] {
      if (!takes_part || ranks.is_root()) return;
      settle([&] { return ::access(path.c_str(), F_OK) == 0; });
      posix::File::open(path, posix::File::Access::write);
      file = posix::File::open_to_append(path);
    });
    ranks.agreed([&] {
      if (ranks.is_root()) append();
    });
    ranks.agreed([&] {
      if (takes_part && !ranks.is_root()) append();
    });
    ranks.agreed([&] {
      if (takes_part) append();
    });
    const auto appends = 2 * ranks.sum({std::uint64_t{takes_part}}).front();
    std::uint64_t lost = 0;
    ranks.agreed([&] {
      if (!ranks.is_root()) return;
      const std::uint64_t expected = appends * record.size();
      std::uint64_t bytes = 0;
      settle([&] { return (bytes = size_at_server(path)) >= expected; });
      lost = expected - std::min(expected, bytes);
      posix::unlink(path);
    });
    return ranks.broadcast(lost);
  } catch (const std::exception&) {
    if (ranks.is_root()) ::unlink(path.c_str());
    throw;
  }
}

}  // namespace slabmark::slablog
