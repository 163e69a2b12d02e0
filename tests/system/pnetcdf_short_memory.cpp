// What the drop-in makes of calls while its last rank has but so many bytes to be had by operator
// new, which PnetCDF and MPI do not use. After each amount all ranks print what these return: a
// post, a wait, a blocking call, a wait of which rank 0 leaves a put to PnetCDF, one that is all
// PnetCDF's since rank 0 has a get that it converts, with what is pending then, and another file;
// and how much of the file is wrong once there is memory again.
//
//     pnetcdf_short_memory <file>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <malloc.h>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include <mpi.h>
#include <pnetcdf.h>

namespace {

constexpr long long no_bound = 1LL << 60;
std::atomic<long long> left = no_bound;

[[gnu::noinline]] void* take(std::size_t bytes) noexcept {
  if (left < static_cast<long long>(bytes)) return nullptr;
  void* const memory = std::malloc(std::max<std::size_t>(bytes, 1));
  if (memory) left -= static_cast<long long>(malloc_usable_size(memory));
  return memory;
}

[[gnu::noinline]] void give_back(void* memory) noexcept {
  if (memory) left += static_cast<long long>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* const memory = take(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }

namespace {

constexpr MPI_Offset mine = 64;  // elements of a rank, each a piece of its own
int rank, ranks, file, number, small;
std::vector<int> values(mine);
MPI_Offset start, stride;

void check(int error) {
  if (error == NC_NOERR) return;
  std::fprintf(stderr, "rank %d: %s\n", rank, ncmpi_strerror(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// What `call` returns with so many bytes on the last rank.
template <class Call>
int with(long long bytes, const Call& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) left = bytes;
  const int code = call();
  left = no_bound;
  return code;
}

int wait(int* ids, int count) { return ncmpi_wait_all(file, count, ids, nullptr); }

int put() { return ncmpi_put_vars_int_all(file, number, &start, &mine, &stride, values.data()); }

int post(int variable, int* id) {
  return ncmpi_iput_vars_int(file, variable, &start, &mine, &stride, values.data(), id);
}

void set(int round) {
  for (MPI_Offset i = 0; i < mine; ++i) values[i] = static_cast<int>(i % 100) + round % 100;
}

int left_pending() {
  int pending = 0;
  check(ncmpi_inq_nreqs(file, &pending));
  return pending;
}

int make(const std::string& path) {
  int other = 0;
  check(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER, MPI_INFO_NULL, &other));
  return ncmpi_close(other);
}

int wrong() {
  std::vector<int> found(mine);
  check(ncmpi_get_vars_int_all(file, number, &start, &mine, &stride, found.data()));
  return static_cast<int>(mine - std::inner_product(found.begin(), found.end(), values.begin(),
                                                    MPI_Offset{0}, std::plus<>(),
                                                    std::equal_to<>()));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  start = rank, stride = ranks;
  int x = 0, round = 0;
  const std::string another = std::string(argv[1]) + ".other";
  const auto name_of = [](int code) { return std::string(ncmpi_strerrno(code)); };
  for (const int kib : {0, 1, 2, 4, 8, 64, 512, 1023, 1040, 1100, 1300, 1600, 2048, 8192}) {
    const long long bytes = kib * 1024LL;
    std::string said = std::to_string(kib) + " KiB:";
    // Of another length each time, so that no plan serves again.
    check(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER, MPI_INFO_NULL, &file));
    check(ncmpi_def_dim(file, "x", ranks * mine + ++round, &x));
    check(ncmpi_def_var(file, "number", NC_INT, 1, &x, &number));
    check(ncmpi_def_var(file, "small", NC_BYTE, 1, &x, &small));
    check(ncmpi_enddef(file));
    set(round);
    int ids[2] = {NC_REQ_NULL, NC_REQ_NULL};
    said += " post " + name_of(with(bytes, [&] { return post(number, ids); }));
    check(wait(ids, 1));
    check(post(number, ids));
    said += " wait " + name_of(with(bytes, [&] { return wait(ids, 1); }));
    said += " put " + name_of(with(bytes, put));
    check(post(number, ids));
    values[0] = 1000;  // in no byte
    if (rank == 0) {
      ncmpi_iput_vars_int(file, small, &start, &mine, &stride, values.data(), &ids[1]);
    }
    said += " range " + name_of(with(bytes, [&] { return wait(ids, 2); }));
    said += " left " + std::to_string(left_pending());
    check(post(number, ids));
    std::vector<short> shorts(mine);
    if (rank == 0) {
      ncmpi_iget_vars_short(file, number, &start, &mine, &stride, shorts.data(), &ids[1]);
    }
    said += " native " + name_of(with(bytes, [&] { return wait(ids, 2); }));
    said += " left " + std::to_string(left_pending());
    said += " another file " + name_of(with(bytes, [&] { return make(another); }));
    set(round + 1);
    check(post(number, ids));
    check(wait(ids, 1));
    said += " wrong " + std::to_string(wrong());
    const int code = ncmpi_close(file);
    std::printf("rank %d: %s close %s\n", rank, said.c_str(), name_of(code).c_str());
    std::fflush(stdout);
  }
  MPI_Finalize();
}
