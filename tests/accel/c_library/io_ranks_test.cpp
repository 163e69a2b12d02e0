// Ranks for I/O alone, as a program in C sees them.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "accel/c_library/api/rearrange.h"
#include "accel/c_library/api/rearrange_format.h"
#include "core/parallel/comm.hpp"
#include "file_size_limit.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

using testing::Each;
using testing::HasSubstr;

struct Case {
  bool half;  ///< of all ranks do I/O; else one
  const char* in_flight;
  int node_ranks;  ///< so many share memory, and others send messages through small windows; 0: all
};

/// Values that are there only a while after somebody looks at them.
class LateMemory {
 public:
  explicit LateMemory(const std::vector<double>& values) {
    const std::size_t used = values.size() * sizeof(double);
    bytes_ = (used + page - 1) / page * page;
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(memory_, values.data(), used);
    mprotect(memory_, bytes_, PROT_NONE);
    struct sigaction comes {};
    comes.sa_handler = [](int) {
      usleep(100'000);
      mprotect(memory_, bytes_, PROT_READ);
    };
    sigaction(SIGSEGV, &comes, &before_);
  }
  ~LateMemory() {
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(memory_, bytes_);
  }
  LateMemory(const LateMemory&) = delete;
  LateMemory& operator=(const LateMemory&) = delete;

  const double* data() const { return static_cast<const double*>(memory_); }

 private:
  static constexpr std::size_t page = 4096;
  static inline void* memory_;  // one at a time, for the handler
  static inline std::size_t bytes_;
  struct sigaction before_;
};

class RearrangeIoRanks : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::int64_t elements = 1000, bytes = 8 * elements;

  void SetUp() override {
    if (comm.size() == 1) GTEST_SKIP() << "one rank cannot be for I/O alone";
  }

  /// Runs `program` on all ranks but the I/O ranks, in a system of theirs with the options of the
  /// case.
  void with_io_ranks(const std::function<void()>& program) {
    const int count = GetParam().half ? comm.size() / 2 : 1;
    MPI_Comm of_program = MPI_COMM_NULL;
    EXPECT_EQ(slabmark_init_io(MPI_COMM_WORLD, count, &of_program, &system), SLABMARK_OK);
    const bool serves = of_program == MPI_COMM_NULL;
    EXPECT_EQ(system == 0, serves);
    if (!serves) {
      MPI_Comm_rank(of_program, &rank);
      MPI_Comm_size(of_program, &size);
      for (std::int64_t e = rank; e < elements; e += size) cards.push_back(e);
      set("in_flight", GetParam().in_flight);
      if (GetParam().node_ranks > 0) {
        set("node_ranks", std::to_string(GetParam().node_ranks).c_str());
        set("window", "4K");
      }
      program();
      EXPECT_EQ(slabmark_finalize(system), SLABMARK_OK);
      MPI_Comm_free(&of_program);
    }
    EXPECT_EQ(comm.sum(serves ? 1u : 0u), static_cast<unsigned>(count));
  }

  bool is_on_one_node() const {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    return comm.min(static_cast<std::uint64_t>(Comm::taking_over(node)->size())) ==
           static_cast<std::uint64_t>(comm.size());
  }

  void signal_io_ranks(const std::vector<std::uint64_t>& pids, int signal) {
    const int count = GetParam().half ? comm.size() / 2 : 1;
    for (int i = 0; i < count; ++i) {  // each the last of an equal share
      const int its = comm.size() - 1 - i * comm.size() / count;
      kill(static_cast<pid_t>(pids[static_cast<std::size_t>(its)]), signal);
    }
  }

  void set(const char* option, const char* value) {
    EXPECT_EQ(slabmark_set_option(system, option, value), SLABMARK_OK) << slabmark_message();
  }

  int decomposition(const std::vector<std::int64_t>& offsets) {
    int decomp = 0;
    EXPECT_EQ(slabmark_init_decomp(system, SLABMARK_FLOAT64, 1, &elements, count(offsets),
                                   offsets.data(), &decomp),
              SLABMARK_OK);
    return decomp;
  }

  template <class Value>
  static std::int64_t count(const std::vector<Value>& values) {
    return static_cast<std::int64_t>(values.size());
  }

  int open(const std::string& name, int mode = SLABMARK_CREATE) {
    int file = 0;
    EXPECT_EQ(slabmark_open_raw(system, scratch.file(name).c_str(), mode, MPI_INFO_NULL, &file),
              SLABMARK_OK)
        << slabmark_message();
    return file;
  }

  /// A variable of doubles behind `offset` bytes, whose records follow each other.
  int define(int file, std::int64_t offset = 0) {
    int variable = -1;
    EXPECT_EQ(slabmark_def_raw(file, SLABMARK_FLOAT64, elements, offset, bytes, &variable),
              SLABMARK_OK);
    return variable;
  }

  static std::vector<double> values(const std::vector<std::int64_t>& offsets, double first) {
    std::vector<double> all;
    for (const std::int64_t offset : offsets) all.push_back(first + static_cast<double>(offset));
    return all;
  }

  /// A record of the variable 0, handed over from memory that is written over at once.
  int write_record(int file, int decomp, std::int64_t record, double first) {
    auto data = values(cards, first);
    EXPECT_EQ(slabmark_set_frame(file, 0, record), SLABMARK_OK);
    EXPECT_EQ(slabmark_iput_darray(file, 0, decomp, count(data), data.data(), nullptr),
              SLABMARK_OK);
    const int code = slabmark_flush(file);
    data.assign(data.size(), -1);
    return code;
  }

  std::uint64_t size_of(const std::string& name) {
    return std::filesystem::file_size(scratch.file(name));
  }

  std::vector<double> contents(const std::string& name) {
    std::ifstream file(scratch.file(name), std::ios::binary);
    std::vector<double> all(size_of(name) / sizeof(double));
    file.read(reinterpret_cast<char*>(all.data()),
              static_cast<std::streamsize>(all.size() * sizeof(double)));
    return all;
  }

  void expect_counted(const std::vector<double>& all, std::size_t begin, double first) {
    ASSERT_GE(all.size(), begin + elements);
    for (std::size_t e = 0; e < elements; ++e) {
      ASSERT_EQ(all[begin + e], first + static_cast<double>(e)) << e;
    }
  }

  Comm comm{MPI_COMM_WORLD};
  Scratch scratch{comm};
  int system = 0;
  int rank = -1, size = 0;          ///< of the program
  std::vector<std::int64_t> cards;  ///< every size-th element of the array
};

TEST_P(RearrangeIoRanks, MoveFilesOfSeveralVariablesAndRecordsBothWays) {
  with_io_ranks([&] {
    const int decomp = decomposition(cards);
    std::vector<std::int64_t> low;
    for (const std::int64_t e : cards) {
      if (e < 600) low.push_back(e);
    }
    const int lower = decomposition(low);
    constexpr std::size_t records = 8;
    const int files[] = {open("a"), open("b")};
    for (const int file : files) {
      define(file);
      define(file, records * bytes);
    }
    for (std::size_t record = 0; record < records; ++record) {
      for (const int f : {0, 1}) {
        EXPECT_EQ(write_record(files[f], decomp, static_cast<std::int64_t>(record),
                               1000.0 * static_cast<double>(record) + f),
                  SLABMARK_OK)
            << slabmark_message();
      }
    }
    const auto some = values(low, 7);
    const double fill = 1e36;
    EXPECT_EQ(slabmark_write_darray(files[0], 1, lower, count(some), some.data(), &fill),
              SLABMARK_OK);
    std::vector<double> buffer(cards.size());
    EXPECT_EQ(slabmark_set_frame(files[1], 0, 7), SLABMARK_OK);
    EXPECT_EQ(slabmark_read_darray(files[1], 0, decomp, count(buffer), buffer.data()), SLABMARK_OK);
    EXPECT_EQ(buffer, values(cards, 7001));
    EXPECT_EQ(slabmark_sync(files[0]), SLABMARK_OK) << slabmark_message();
    auto all = contents("a");
    ASSERT_EQ(all.size(), (records + 1) * elements);
    for (std::size_t record = 0; record < records; ++record) {
      expect_counted(all, record * elements, 1000.0 * static_cast<double>(record));
    }
    EXPECT_EQ(all[records * elements + 599], 606);
    EXPECT_THAT(std::vector(all.end() - 400, all.end()), Each(fill));
    for (const int file : files) EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
    all = contents("b");
    for (std::size_t record = 0; record < records; ++record) {
      expect_counted(all, record * elements, 1000.0 * static_cast<double>(record) + 1);
    }
  });
}

TEST_P(RearrangeIoRanks, WriteWithoutFurtherCallsAndNoMoreThanMayBeInFlightIsUnwritten) {
  with_io_ranks([&] {
    const int decomp = decomposition(cards);
    const int file = open("a");
    define(file);
    const auto in_flight = static_cast<std::int64_t>(std::stoi(GetParam().in_flight));
    for (std::int64_t record = 0; record < 10; ++record) {
      EXPECT_EQ(write_record(file, decomp, record, 1000.0 * static_cast<double>(record)),
                SLABMARK_OK);
      const std::int64_t written = record + 1 - in_flight;
      if (written > 0)
        expect_counted(contents("a"), (written - 1) * elements, 1000.0 * (written - 1));
    }
    // Nobody calls the library, or MPI.
    while (size_of("a") < 10u * bytes) std::this_thread::yield();
    EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
    expect_counted(contents("a"), 9 * elements, 9000);
  });
}

// Of more than four flushes there are no copies.
TEST_P(RearrangeIoRanks, MayStandStillForAsManyFlushesAsMayBeInFlight) {
  const std::int64_t in_flight = std::min(std::stoi(GetParam().in_flight), 4);
  if (GetParam().node_ranks > 0 || in_flight == 0 || !is_on_one_node()) {
    GTEST_SKIP() << "the others wait for them at once, and signals do not reach other nodes";
  }
  const auto pids = comm.gather(static_cast<std::uint64_t>(getpid()));
  with_io_ranks([&] {
    set("window", "1K");  // the data are not in what goes to the file next, either
    const int decomp = decomposition(cards);
    const int file = open("a");
    define(file);
    EXPECT_EQ(write_record(file, decomp, 0, 0), SLABMARK_OK);
    EXPECT_EQ(slabmark_sync(file), SLABMARK_OK);
    if (rank == 0) signal_io_ranks(pids, SIGSTOP);
    for (std::int64_t record = 1; record <= in_flight; ++record) {
      EXPECT_EQ(write_record(file, decomp, record, 1000), SLABMARK_OK);
    }
    EXPECT_EQ(size_of("a"), static_cast<std::uint64_t>(bytes)) << "nobody could write";
    std::atomic<bool> returned = false;
    std::thread waker([&] {
      const auto start = std::chrono::steady_clock::now();
      while (!returned &&
             std::chrono::steady_clock::now() - start < std::chrono::milliseconds(200)) {
        std::this_thread::yield();
      }
      if (rank == 0) signal_io_ranks(pids, SIGCONT);
    });
    EXPECT_EQ(write_record(file, decomp, in_flight + 1, 1000), SLABMARK_OK);
    const std::uint64_t written = size_of("a");
    returned = true;
    waker.join();
    EXPECT_GE(written, 2u * bytes) << "one more than may be in flight";
    EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
    expect_counted(contents("a"), static_cast<std::size_t>((in_flight + 1) * elements), 1000);
  });
}

TEST_P(RearrangeIoRanks, WriteWhatRanksHaveThatAreLateToCopyIt) {
  with_io_ranks([&] {
    const int decomp = decomposition(cards);
    const int file = open("a");
    define(file);
    EXPECT_EQ(write_record(file, decomp, 0, 0), SLABMARK_OK);
    const auto data = values(cards, 1000);
    const LateMemory late(data);
    EXPECT_EQ(slabmark_set_frame(file, 0, 1), SLABMARK_OK);
    EXPECT_EQ(slabmark_iput_darray(file, 0, decomp, count(data),
                                   rank == size - 1 ? late.data() : data.data(), nullptr),
              SLABMARK_OK);
    EXPECT_EQ(slabmark_flush(file), SLABMARK_OK) << slabmark_message();
    EXPECT_EQ(slabmark_close(file), SLABMARK_OK) << slabmark_message();
    expect_counted(contents("a"), elements, 1000);
  });
}

TEST_P(RearrangeIoRanks, TakeFarMoreAtATimeThanBefore) {
  with_io_ranks([&] {
    const int small = decomposition(cards);
    const int file = open("a");
    define(file);
    EXPECT_EQ(write_record(file, small, 0, 0), SLABMARK_OK);
    const std::int64_t many = GetParam().node_ranks > 0 ? 1 << 12 : 1 << 19;
    const std::int64_t first = 0, own = rank == size - 1 ? many : 0;  // behind one I/O rank
    constexpr std::int64_t records = 7;  // more than all memory for flushes of one
    int decomp = 0, variable = -1;
    EXPECT_EQ(slabmark_init_decomp_runs(system, SLABMARK_FLOAT64, 1, &many, own > 0, &first, &own,
                                        &decomp),
              SLABMARK_OK);
    EXPECT_EQ(slabmark_def_raw(file, SLABMARK_FLOAT64, many, bytes, 8 * many, &variable),
              SLABMARK_OK);
    for (std::int64_t record = 0; record < records; ++record) {
      std::vector<double> data(static_cast<std::size_t>(own), static_cast<double>(record));
      EXPECT_EQ(slabmark_set_frame(file, variable, record), SLABMARK_OK);
      EXPECT_EQ(slabmark_write_darray(file, variable, decomp, own, data.data(), nullptr),
                SLABMARK_OK);
      EXPECT_EQ(record == 0 ? slabmark_flush(file) : SLABMARK_OK, SLABMARK_OK);
    }
    EXPECT_EQ(slabmark_close(file), SLABMARK_OK) << slabmark_message();
    const auto all = contents("a");
    ASSERT_EQ(all.size(), static_cast<std::size_t>(elements + records * many));
    for (std::int64_t e = 0; e < records * many; ++e) {
      ASSERT_EQ(all[static_cast<std::size_t>(elements + e)], static_cast<double>(e / many)) << e;
    }
  });
}

TEST_P(RearrangeIoRanks, KeepApartWhatIsPutToTwoFilesInTurnAndLeaveOutWhatIsRefused) {
  with_io_ranks([&] {
    const int files[] = {open("a"), open("b")};
    constexpr std::int64_t records = 6;
    for (const int file : files) {
      for (int v = 0; v < 3; ++v) define(file, v * records * bytes);
    }
    const int decomp = decomposition(cards);
    const auto put = [&](int file, int variable, std::int64_t record, double first) {
      // One of a decomposition of its own, which goes while it is pending.
      const int its = variable == 1 ? decomposition(cards) : decomp;
      auto data = values(cards, first);
      EXPECT_EQ(slabmark_set_frame(file, variable, record), SLABMARK_OK);
      EXPECT_EQ(slabmark_write_darray(file, variable, its, count(data), data.data(), nullptr),
                SLABMARK_OK)
          << slabmark_message();
      if (its != decomp) {
        EXPECT_EQ(slabmark_free_decomp(its), SLABMARK_OK);
      }
      data.assign(data.size(), -1);
    };
    const auto first_of = [](int f, int variable, std::int64_t record) {
      return 1e6 * f + 1e5 * variable + 1e4 * static_cast<double>(record);
    };
    for (std::int64_t record = 0; record < records; ++record) {
      if (record == 2) {
        put(files[0], 0, record, -7);
        const double none = 0;
        const int code = rank == 0
                             ? slabmark_write_darray(files[0], 1, decomp, 1 << 20, &none, nullptr)
                             : slabmark_write_darray(files[0], 1, decomp, count(cards),
                                                     values(cards, -7).data(), nullptr);
        EXPECT_EQ(code, rank == 0 ? SLABMARK_ELENGTH : SLABMARK_OK);
        put(files[1], 2, record, -7);
        EXPECT_EQ(slabmark_flush(files[0]), SLABMARK_ELENGTH);
        // The later one stays, also in the next flush of another file.
        put(files[1], 2, record, -8);
      }
      const int variables = record < 3 ? 2 : 3;  // more at a time
      for (int v = 0; v < variables; ++v) {
        for (const int f : {0, 1}) put(files[f], v, record, first_of(f, v, record));
      }
      for (const int f : {1, 0}) EXPECT_EQ(slabmark_flush(files[f]), SLABMARK_OK);
    }
    for (const int file : files) EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
    for (const int f : {0, 1}) {
      const auto all = contents(f == 0 ? "a" : "b");
      ASSERT_EQ(all.size(), 3u * records * elements);
      for (int v = 0; v < 3; ++v) {
        for (std::int64_t record = v < 2 ? 0 : 3; record < records; ++record) {
          expect_counted(all, static_cast<std::size_t>((v * records + record) * elements),
                         first_of(f, v, record));
        }
      }
      const auto unput = static_cast<std::size_t>((2 * records + 2) * elements);
      EXPECT_EQ(all[unput + 5], f == 0 ? 0 : -3);
    }
  });
}

TEST_P(RearrangeIoRanks, WriteTheLaterOfTwoCallsForOneArrayAndNoneWhereOneRanksIsRefused) {
  with_io_ranks([&] {
    const int file = open("a"), decomp = decomposition(cards);
    define(file);
    for (int flush = 0; flush < 6; ++flush) {
      const bool refuses = flush == 3;
      for (int call = 0; call < 3; ++call) {
        auto data = values(cards, 1000.0 * flush + 100 * call);
        const bool refused = refuses && call == 0 && rank == size - 1;
        EXPECT_EQ(slabmark_set_frame(file, 0, flush), SLABMARK_OK);
        EXPECT_EQ(slabmark_write_darray(file, 0, decomp, count(data) - (refused ? 1 : 0),
                                        data.data(), nullptr),
                  refused ? SLABMARK_ELENGTH : SLABMARK_OK);
        data.assign(data.size(), -1);
      }
      EXPECT_EQ(slabmark_flush(file), refuses ? SLABMARK_ELENGTH : SLABMARK_OK)
          << slabmark_message();
    }
    EXPECT_EQ(slabmark_close(file), SLABMARK_OK) << slabmark_message();
    const auto all = contents("a");
    for (std::size_t flush = 0; flush < 6; ++flush) {
      if (flush == 3) continue;
      expect_counted(all, flush * elements, 1000.0 * static_cast<double>(flush) + 200);
    }
    EXPECT_EQ(all[3 * elements + 5], 0);
  });
}

TEST_P(RearrangeIoRanks, FillWhatNobodyHasWhileTheProgramGoesOn) {
  with_io_ranks([&] {
    std::vector<std::int64_t> low;
    for (const std::int64_t e : cards) {
      if (e < 600) low.push_back(e);
    }
    const int decomp = decomposition(low), none = decomposition({});
    const int file = open("a");
    define(file);
    const double fill = 1e36;
    for (std::int64_t record = 0; record < 4; ++record) {
      const auto data = values(low, 10 * static_cast<double>(record));
      EXPECT_EQ(slabmark_set_frame(file, 0, record), SLABMARK_OK);
      EXPECT_EQ(record == 2
                    ? slabmark_iput_darray(file, 0, none, 0, nullptr, &fill)
                    : slabmark_iput_darray(file, 0, decomp, count(data), data.data(), &fill),
                SLABMARK_OK)
          << slabmark_message();
      EXPECT_EQ(slabmark_flush(file), SLABMARK_OK) << slabmark_message();
    }
    EXPECT_EQ(slabmark_close(file), SLABMARK_OK) << slabmark_message();
    const auto all = contents("a");
    ASSERT_EQ(all.size(), 4u * elements);
    for (std::size_t e = 0; e < all.size(); ++e) {
      const std::size_t record = e / elements, in_record = e % elements;
      const bool put = record != 2 && in_record < 600;
      ASSERT_EQ(all[e], put ? static_cast<double>(10 * record + in_record) : fill) << e;
    }
  });
}

TEST_P(RearrangeIoRanks, GoOnWhereThereIsNotEnoughMemoryForCopies) {
  for (const bool bounded : {false, true}) {
    const std::string name = bounded ? "bounded" : "limited";
    const FileSizeLimit limit(bounded ? RLIM_INFINITY
                                      : std::uint64_t{1} << 16);  // also of /dev/shm
    cards.clear();
    with_io_ranks([&] {
      if (bounded) set("held", "20K");
      const int decomp = decomposition(cards);
      const int file = open(name);
      constexpr std::int64_t variables = 4, records = 2;
      for (int v = 0; v < variables; ++v) define(file, v * records * bytes);
      for (std::int64_t record = 0; record < records; ++record) {
        for (int v = 0; v < variables; ++v) {
          auto data = values(cards, 1e5 * v + 1e4 * static_cast<double>(record));
          EXPECT_EQ(slabmark_set_frame(file, v, record), SLABMARK_OK);
          EXPECT_EQ(slabmark_write_darray(file, v, decomp, count(data), data.data(), nullptr),
                    SLABMARK_OK);
          data.assign(data.size(), -1);
        }
        EXPECT_EQ(slabmark_flush(file), SLABMARK_OK) << slabmark_message();
      }
      EXPECT_EQ(slabmark_close(file), SLABMARK_OK) << slabmark_message();
      const auto all = contents(name);
      for (std::int64_t i = 0; i < variables * records; ++i) {
        expect_counted(
            all, static_cast<std::size_t>(i * elements),
            1e5 * static_cast<double>(i / records) + 1e4 * static_cast<double>(i % records));
      }
    });
  }
}

TEST_P(RearrangeIoRanks, TellOfWhatFailsOnAllRanksAtTheLatestWhenTheFileIsClosedAndGoOn) {
  const FileSizeLimit limit(std::uint64_t{1} << 30);
  with_io_ranks([&] {
    const int decomp = decomposition(cards);
    const int file = open("a"), other = open("b");
    define(file);
    define(other);
    EXPECT_EQ(write_record(file, decomp, 0, 3), SLABMARK_OK);
    constexpr std::int64_t beyond = 1 << 20;
    int flushed = SLABMARK_OK;
    for (int turn = 0; turn < 4; ++turn) flushed = write_record(file, decomp, beyond, 0);
    const int closed = slabmark_close(file);
    const bool waits = std::string(GetParam().in_flight) == "0";
    EXPECT_EQ(waits ? flushed : closed, SLABMARK_EIO);
    EXPECT_EQ(waits ? closed : SLABMARK_OK, SLABMARK_OK);
    EXPECT_THAT(slabmark_message(), HasSubstr(scratch.file("a")));
    expect_counted(contents("a"), 0, 3);
    EXPECT_EQ(write_record(other, decomp, 0, 5), SLABMARK_OK);
    EXPECT_EQ(slabmark_close(other), SLABMARK_OK);
    expect_counted(contents("b"), 0, 5);
    int missing = 0;
    EXPECT_EQ(slabmark_open_raw(system, scratch.file("missing/file").c_str(), SLABMARK_WRITE,
                                MPI_INFO_NULL, &missing),
              SLABMARK_EIO);
  });
}

TEST_P(RearrangeIoRanks, TellOfWhatFailsOnOneOfThemByTheSameCallOnAllRanks) {
  const int count = GetParam().half ? comm.size() / 2 : 1;
  const int allowed = std::stoi(GetParam().in_flight);
  int files = 0;
  for (const int its : {0, count - 1}) {
    const bool is_victim = comm.rank() == comm.size() - 1 - its * comm.size() / count;
    const FileSizeLimit limit(is_victim ? std::uint64_t{1} << 30 : RLIM_INFINITY);
    cards.clear();
    with_io_ranks([&] {
      const int decomp = decomposition(cards);
      const int file = open(fmt::format("a{}", files++));
      define(file);
      constexpr int last = 9;
      std::vector<int> codes;
      for (int turn = 0; turn < last; ++turn) {
        codes.push_back(write_record(file, decomp, turn == 0 ? 1 << 20 : turn, turn));
      }
      codes.push_back(slabmark_close(file));
      // Some of them write to the end of the array where there are more than it has pages.
      const bool fails = codes.front() != SLABMARK_OK || codes.back() != SLABMARK_OK;
      EXPECT_TRUE(fails || count > 2);
      const auto first = std::ranges::find(codes, SLABMARK_EIO) - codes.begin();
      EXPECT_TRUE(first <= allowed || !fails) << first;
      for (int turn = 0; turn <= last; ++turn) {
        const bool expected = fails && (allowed == 0 ? turn == 0 : turn >= first);
        EXPECT_EQ(codes[static_cast<std::size_t>(turn)], expected ? SLABMARK_EIO : SLABMARK_OK);
      }
      MPI_Comm ranks = MPI_COMM_NULL;
      EXPECT_EQ(slabmark_inq_comm(system, &ranks), SLABMARK_OK);
      const auto calls = Comm(ranks).gather(static_cast<std::uint64_t>(first));
      EXPECT_THAT(calls, Each(static_cast<std::uint64_t>(first)));
    });
  }
}

TEST_P(RearrangeIoRanks, TellOfAFileThatCannotBeMadeWhileAnotherIsWritten) {
  with_io_ranks([&] {
    const int decomp = decomposition(cards), file = open("a");
    define(file);
    const char* const names[] = {"missing/file", "", "a", "a/b"};
    for (int turn = 0; turn < 4; ++turn) {
      EXPECT_EQ(write_record(file, decomp, turn, turn), SLABMARK_OK);
      const auto path = scratch.file(names[turn]);
      int missing = 0;
      EXPECT_EQ(slabmark_open_raw(system, path.c_str(), SLABMARK_CREATE, MPI_INFO_NULL, &missing),
                SLABMARK_EIO)
          << path;
      EXPECT_THAT(slabmark_message(), HasSubstr(path));
    }
    EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
    const auto all = contents("a");
    for (std::size_t turn = 0; turn < 4; ++turn) {
      expect_counted(all, turn * elements, static_cast<double>(turn));
    }
  });
}

TEST_P(RearrangeIoRanks, WriteNothingMoreThatIsUnderWayToAFileThatFails) {
  if (GetParam().node_ranks > 0 || std::stoi(GetParam().in_flight) < 2 || !is_on_one_node()) {
    GTEST_SKIP() << "the program knows of it, or waits for them at once";
  }
  const FileSizeLimit limit(std::uint64_t{1} << 30);
  const auto pids = comm.gather(static_cast<std::uint64_t>(getpid()));
  with_io_ranks([&] {
    const int decomp = decomposition(cards);
    const int file = open("a");
    define(file);
    EXPECT_EQ(write_record(file, decomp, 0, 3), SLABMARK_OK);
    EXPECT_EQ(slabmark_sync(file), SLABMARK_OK);
    if (rank == 0) signal_io_ranks(pids, SIGSTOP);
    constexpr std::int64_t beyond = 1 << 20;
    for (const std::int64_t record : {beyond, std::int64_t{1}}) {
      EXPECT_EQ(write_record(file, decomp, record, 4), SLABMARK_OK);
    }
    if (rank == 0) signal_io_ranks(pids, SIGCONT);
    EXPECT_EQ(slabmark_close(file), SLABMARK_EIO);
    EXPECT_EQ(size_of("a"), static_cast<std::uint64_t>(bytes));
  });
}

TEST_P(RearrangeIoRanks, RefuseWhatTwoRanksWriteAndNothingIsPendingThen) {
  with_io_ranks([&] {
    std::vector<std::int64_t> all(elements);
    for (std::int64_t e = 0; e < elements; ++e) all[static_cast<std::size_t>(e)] = e;
    const int same = decomposition(all), decomp = decomposition(cards);
    const auto buffer = values(all, 3);
    const int file = open("a");
    define(file);
    EXPECT_EQ(slabmark_write_darray(file, 0, same, count(buffer), buffer.data(), nullptr),
              SLABMARK_OK);
    EXPECT_EQ(slabmark_flush(file), size == 1 ? SLABMARK_OK : SLABMARK_EOVERLAP);
    if (size > 1) {
      EXPECT_THAT(slabmark_message(), HasSubstr("Element 0 of 'variable 0'"));
    }
    EXPECT_EQ(write_record(file, decomp, 1, 4), SLABMARK_OK);
    EXPECT_EQ(slabmark_close(file), SLABMARK_OK) << slabmark_message();
    expect_counted(contents("a"), elements, 4);
  });
}

INSTANTIATE_TEST_SUITE_P(All, RearrangeIoRanks,
                         testing::Values(Case{false, "0", 0}, Case{true, "0", 1},
                                         Case{true, "2", 0}, Case{false, "6", 0},
                                         Case{false, "1", 1}, Case{true, "1", 1},
                                         Case{true, "1", 2}),
                         [](const auto& one) {
                           return std::string(one.param.half ? "Half" : "One") + "InFlight" +
                                  one.param.in_flight +
                                  (one.param.node_ranks == 0
                                       ? std::string()
                                       : fmt::format("NodesOf{}", one.param.node_ranks));
                         });

TEST(RearrangeIoRanksCount, ThatLeavesNobodyToTheProgramIsACodeOnAllRanks) {
  int system = 7, size = 0;
  MPI_Comm program = MPI_COMM_SELF;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const int count : {-1, size, size + 1}) {
    EXPECT_EQ(slabmark_init_io(MPI_COMM_WORLD, count, &program, &system), SLABMARK_EARGUMENT);
    EXPECT_THAT(slabmark_message(), HasSubstr("leave at least one to the program"));
  }
  EXPECT_EQ(program, MPI_COMM_NULL);
  EXPECT_EQ(system, 0);
}

}  // namespace
}  // namespace slabmark
