#include "programs/run_here.hpp"

namespace slabmark {
namespace {

/// h5perf whatever the environment of this test says.
class H5perf : public ProgramTest {
  Variable clean_up_{"HDF5_NOCLEANUP", nullptr}, info_{"HDF5_MPI_INFO", nullptr},
      prefix_{"HDF5_PARAPREFIX", nullptr}, user_{"USER", nullptr}, login_{"LOGIN", nullptr};
};

TEST_F(H5perf, WrongUsageIsOneSentenceBeforeAnyFile) {
  expect_all_refused(
      programs::h5perf(),
      {
          {"buffer and block",
           {"-e", "12", "-B", "4", "-x", "6", "-X", "6"},
           "transfer buffer size 6"},
          {"bytes and buffer", {"-e", "10", "-B", "2", "-x", "4", "-X", "4"}, "multiple"},
          {"a buffer later in the sweep",
           {"-e", "12", "-B", "2", "-x", "4", "-X", "8"},
           "buffer size 8"},
          {"2-D bytes and block",
           {"-g", "-e", "6", "-B", "4", "-x", "4", "-X", "4"},
           "2-D block size 4"},
          {"2-D side and buffer",
           {"-g", "-e", "4", "-B", "2", "-x", "6", "-X", "6"},
           "side of the 2-D dataset"},
          {"2-D too large", {"-g", "-e", "8G"}, "2^63"},
          {"more processes than ranks", {"-P", "99"}, "mpiexec -n 99"},
          {"fewest above the ranks", {"-p", "99"}, "99"},
          {"size abc", {"-e", "abc"}, "abc"},
          {"size 1.5M", {"-e", "1.5M"}, "1.5M"},
          {"size 16KB", {"-e", "16KB"}, "16KB"},
          {"negative size", {"--num-bytes=-5"}, "-5"},
          {"size beyond 64 bits", {"-e", "99999999999G"}, "too large"},
          {"alignment 0", {"-a", "0"}, "-a"},
          {"no datasets", {"-d", "0"}, "-d"},
          {"negative datasets", {"--num-dsets=-1"}, "-1"},
          {"files two", {"-F", "two"}, "two"},
          {"no iterations", {"-i", "0"}, "-i"},
          {"iterations said twice", {"-i", "2", "--trials", "2"}, "--trials"},
          {"smallest above largest", {"-x", "128K", "-X", "64K"}, "swap"},
          {"verified contents of one buffer", {"--one-buffer", "-D", "v"}, "--one-buffer"},
          {"an empty number", {"-p", ""}, "-p"},
          {"unknown API", {"-A", "mpi"}, "mpi"},
          {"unknown flag", {"-D", "5"}, "'5'"},
          {"unknown option", {"--frobnicate"}, "frobnicate"},
          {"part of an option", {"--blo=4"}, "blo"},
          {"an option that is gone", {"-n"}, "-n"},
          {"a missing value", {"--block-size", "-c"}, "--block-size"},
          {"a missing last value", {"-c", "--block-size"}, "--block-size"},
          {"a stray word", {"-A", "posix", "stray", "-e", "4K"}, "stray"},
          {"a stray number after a flag", {"--interleaved", "7"}, "7"},
          {"en-dashes",
           {"\u2013B", "2", "\u2013e", "8"},
           "'\u2013B' begins with a dash that is no hyphen, as documents print it; type '-B'"},
          {"report into nowhere", {"-o", "nowhere/report.txt"}, "nowhere"},
          {"records into nowhere", {"--json", "nowhere/records"}, "nowhere"},
      });
}

TEST_F(H5perf, AWrongEnvironmentIsOneSentence) {
  const auto refuses = [&](const char* variable, const char* value, const std::string& culprit) {
    SCOPED_TRACE(value);
    const Variable set(variable, value);
    EXPECT_EQ(expect_refused(programs::h5perf(), {"-e", "4K"}, culprit), "");
  };
  refuses("HDF5_MPI_INFO", "a=b;  ;c=d", "blank");
  refuses("HDF5_MPI_INFO", "  ", "blank");
  refuses("HDF5_MPI_INFO", "cb_nodes", "cb_nodes");
  refuses("HDF5_PARAPREFIX", "/dev/null/nowhere", "/dev/null/nowhere");
}

}  // namespace
}  // namespace slabmark
