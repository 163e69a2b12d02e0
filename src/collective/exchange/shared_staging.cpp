#include "collective/exchange/shared_staging.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <utility>

namespace slabmark {

namespace {

std::unique_ptr<Comm> node_comm(MPI_Comm comm, std::uint64_t node_ranks) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm shared = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared),
            "MPI_Comm_split_type");
  if (node_ranks == 0) return Comm::taking_over(shared);
  MPI_Comm part = MPI_COMM_NULL;
  const auto color = static_cast<int>(static_cast<std::uint64_t>(rank) / node_ranks);
  const int code = MPI_Comm_split(shared, color, rank, &part);
  MPI_Comm_free(&shared);
  check_mpi(code, "MPI_Comm_split");
  return Comm::taking_over(part);
}

constexpr std::uint64_t page = 4096;

// The counts have a page of their own before the windows, which begin at one. MPI promises no
// alignment, but maps pages, so all ranks round up alike.
std::uint64_t block_of(std::uint64_t bytes) { return 2 * page + bytes; }

// Where MPI keeps shared memory on Linux.
constexpr const char* shared_memory_folder = "/dev/shm";

/// True if so much shared memory can be had here, as far as it can be told: Open MPI 4.1 makes a
/// file of it on one rank of a node, and where that fails the others wait for ever.
bool may_have_shared(std::uint64_t bytes) {
  rlimit of_file{};
  struct statvfs room {};
  if (getrlimit(RLIMIT_FSIZE, &of_file) == 0 && of_file.rlim_cur != RLIM_INFINITY &&
      of_file.rlim_cur < bytes) {
    return false;
  }
  return statvfs(shared_memory_folder, &room) != 0 ||
         std::uint64_t{room.f_bavail} * room.f_frsize >= bytes;
}

/// Has memory that is promised be there. A page that is not to be had when it is touched ends the
/// process by a signal, and what others were promised and have not touched counts as free room. A
/// kernel before 5.14 cannot be asked.
bool is_there(std::byte* memory, std::uint64_t bytes) {
  constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, which older headers do not have
  const std::uint64_t before = reinterpret_cast<std::uintptr_t>(memory) % page;
  return ::madvise(memory - before, before + bytes, populate_write) == 0 || errno == EINVAL;
}

std::byte* first_page(std::byte* base) {
  return base + (page - reinterpret_cast<std::uintptr_t>(base) % page) % page;
}

}  // namespace

SharedStaging::SharedStaging(const Comm& comm, std::uint64_t node_ranks)
    : comm_(comm), node_(node_comm(comm.get(), node_ranks)) {
  find_nodes();
}

void SharedStaging::allocate(std::span<const int> aggregators, std::uint64_t bytes) {
  memory_.assign(aggregators.size(), nullptr);
  counts_.assign(aggregators.size(), nullptr);
  const auto my_entry = std::find(aggregators.begin(), aggregators.end(), comm_.rank());
  const auto me = static_cast<std::size_t>(my_entry - aggregators.begin());
  const bool aggregates = my_entry != aggregators.end();
  // The ranks of one node know whether it worked there; all need to know who reaches whom.
  if (comm_.any(!allocate_shared(aggregates ? block_of(bytes) : 0))) {
    free_window();
    node_ = node_comm(comm_.get(), 1);
    find_nodes();
    if (!aggregates) return;
    own_.reset(new std::byte[bytes]);
    own_counts_ = std::make_unique<WindowCounts>();
    memory_[me] = own_.get();
    counts_[me] = own_counts_.get();
    return;
  }
  for (std::size_t a = 0; a < aggregators.size(); ++a) {
    if (!reaches(aggregators[a])) continue;
    // Ranks of a node keep their order, so the rank there is the number of lower ranks here.
    const auto in_node = static_cast<int>(
        std::count(node_of_rank_.begin(), node_of_rank_.begin() + aggregators[a], my_node_));
    std::byte* const block = first_page(shared_memory_of(in_node));
    counts_[a] = reinterpret_cast<WindowCounts*>(block);
    memory_[a] = block + page;
  }
  if (aggregates) new (counts_[me]) WindowCounts;
  node_->barrier();  // counts stand before anyone looks at them
}

std::byte* SharedStaging::shared_memory_of(int rank_in_node) const {
  MPI_Aint size = 0;
  int unit = 1;
  std::byte* base = nullptr;
  check_mpi(MPI_Win_shared_query(window_, rank_in_node, &size, &unit, &base),
            "MPI_Win_shared_query");
  return base;
}

bool SharedStaging::allocate_shared(std::uint64_t mine) {
  if (node_->any(!may_have_shared(node_->sum(mine)))) return false;
  void* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(mine), 1, MPI_INFO_NULL,
                                           node_->get(), &base, &window);
  if (code != MPI_SUCCESS) return false;
  window_ = window;
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  return mine == 0 || is_there(static_cast<std::byte*>(base), mine);
}

void SharedStaging::find_nodes() {
  my_node_ = static_cast<int>(node_->broadcast(static_cast<std::uint64_t>(comm_.rank())));
  node_of_rank_.resize(static_cast<std::size_t>(comm_.size()));
  check_mpi(MPI_Allgather(&my_node_, 1, MPI_INT, node_of_rank_.data(), 1, MPI_INT, comm_.get()),
            "MPI_Allgather");
  nodes_ = 0;
  for (int rank = 0; rank < comm_.size(); ++rank) nodes_ += node_of_rank_[rank] == rank;
}

std::vector<std::vector<int>> SharedStaging::ranks_by_node() const {
  std::map<int, std::vector<int>> by_lowest;
  for (int rank = 0; rank < comm_.size(); ++rank) by_lowest[node_of_rank_[rank]].push_back(rank);
  std::vector<std::vector<int>> all;
  for (auto& [lowest, ranks] : by_lowest) all.push_back(std::move(ranks));
  return all;
}

void SharedStaging::free_window() {
  if (window_ == MPI_WIN_NULL) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

SharedStaging::~SharedStaging() { free_window(); }

}  // namespace slabmark
