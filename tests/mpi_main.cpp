// The main of every test that runs under mpiexec. Each rank runs all tests; rank 0 reports in full,
// the others only what failed; if a test failed on any rank, every rank exits non-zero.

#include <cstdio>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <mpi.h>

namespace {

class FailuresOfRank : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOfRank(int rank) : rank_(rank) {}

 private:
  // The name is kept from here: gtest holds its lock while it reports a failure, and would hang if
  // asked for the test of the moment then.
  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s: %s:%d: %s\n", rank_, test_.c_str(),
                 result.file_name() ? result.file_name() : "", result.line_number(),
                 result.message());
  }

  int rank_;
  std::string test_;
};

}  // namespace

int main(int argc, char** argv) {
  // HDF5's subfiling driver wants all of it.
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  testing::InitGoogleTest(&argc, argv);

  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(std::make_unique<FailuresOfRank>(rank).release());  // gtest owns it
  }

  const int failed_here = RUN_ALL_TESTS() == 0 ? 0 : 1;
  int failed = 0;
  MPI_Allreduce(&failed_here, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && failed > failed_here) std::fprintf(stderr, "FAILED on another rank than 0\n");
  MPI_Finalize();
  return failed;
}
