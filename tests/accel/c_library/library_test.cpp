// The library as a program in C sees it, with files that have no header.

#include <array>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "accel/c_library/api/rearrange.h"
#include "core/parallel/comm.hpp"
#include "file_size_limit.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;

class RearrangeLibrary : public testing::Test {
 protected:
  static constexpr std::int64_t elements = 1000;

  RearrangeLibrary() {
    EXPECT_EQ(slabmark_init(MPI_COMM_WORLD, &system), SLABMARK_OK);
    for (std::int64_t e = rank; e < elements; e += size) cards.push_back(e);
  }
  ~RearrangeLibrary() override { EXPECT_EQ(slabmark_finalize(system), SLABMARK_OK); }

  int decomposition(const std::vector<std::int64_t>& offsets,
                    slabmark_type type = SLABMARK_FLOAT64) {
    const std::int64_t extents[] = {10, elements / 10};
    int decomp = 0;
    EXPECT_EQ(
        slabmark_init_decomp(system, type, 2, extents, count(offsets), offsets.data(), &decomp),
        SLABMARK_OK)
        << slabmark_message();
    return decomp;
  }

  template <class Value>
  static std::int64_t count(const std::vector<Value>& values) {
    return static_cast<std::int64_t>(values.size());
  }

  int open(const std::string& name, int mode) {
    int file = 0;
    EXPECT_EQ(slabmark_open_raw(system, scratch.file(name).c_str(), mode, MPI_INFO_NULL, &file),
              SLABMARK_OK)
        << slabmark_message();
    return file;
  }

  /// A variable of doubles behind `offset` bytes.
  int define(int file, std::int64_t offset = 0, std::int64_t record_bytes = 0) {
    int variable = -1;
    EXPECT_EQ(slabmark_def_raw(file, SLABMARK_FLOAT64, elements, offset, record_bytes, &variable),
              SLABMARK_OK);
    return variable;
  }

  /// `first`, and one more for each element of the array.
  static std::vector<double> values(const std::vector<std::int64_t>& offsets, double first) {
    std::vector<double> all;
    for (const std::int64_t offset : offsets) {
      all.push_back(offset < 0 ? -1 : first + static_cast<double>(offset));
    }
    return all;
  }

  std::vector<double> contents(const std::string& name) {
    comm.barrier();
    std::ifstream file(scratch.file(name), std::ios::binary);
    std::vector<double> all(std::filesystem::file_size(scratch.file(name)) / sizeof(double));
    file.read(reinterpret_cast<char*>(all.data()),
              static_cast<std::streamsize>(all.size() * sizeof(double)));
    comm.barrier();
    return all;
  }

  void expect_counted(const std::vector<double>& all, std::size_t begin, double first) {
    ASSERT_GE(all.size(), begin + elements);
    for (std::size_t e = 0; e < elements; ++e) {
      ASSERT_EQ(all[begin + e], first + static_cast<double>(e)) << e;
    }
  }

  Comm comm{MPI_COMM_WORLD};
  int rank = comm.rank(), size = comm.size();
  Scratch scratch{comm};
  int system = 0;
  std::vector<std::int64_t> cards;  ///< every size-th element of the array
};

TEST_F(RearrangeLibrary, RunsAreTheSameAsTheirElements) {
  // Two runs of each rank, the later first in memory, with two elements of nobody between.
  const std::int64_t half = elements / 2, share = half / size;
  const std::int64_t starts[] = {half + rank * share, -1, rank * share};
  const std::int64_t lengths[] = {share, 2, share};
  const std::int64_t extent = elements;
  int decomp = 0;
  ASSERT_EQ(
      slabmark_init_decomp_runs(system, SLABMARK_FLOAT64, 1, &extent, 3, starts, lengths, &decomp),
      SLABMARK_OK);
  std::vector<std::int64_t> offsets;
  for (int run = 0; run < 3; ++run) {
    for (std::int64_t i = 0; i < lengths[run]; ++i) {
      offsets.push_back(starts[run] < 0 ? -1 : starts[run] + i);
    }
  }
  const auto buffer = values(offsets, 5);
  const int file = open("a", SLABMARK_CREATE);
  const int variable = define(file);
  EXPECT_EQ(slabmark_iput_darray(file, variable, decomp, count(buffer), buffer.data(), nullptr),
            SLABMARK_OK);
  std::vector<double> back(buffer.size(), -1);
  EXPECT_EQ(slabmark_iget_darray(file, variable, decomposition(offsets), count(back), back.data()),
            SLABMARK_OK);
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK) << slabmark_message();
  EXPECT_EQ(back, buffer);
}

TEST_F(RearrangeLibrary, WhatNoRankHasIsFilledOrStaysAsItIs) {
  std::vector<std::int64_t> some;
  for (std::int64_t e = rank; e < 600; e += size) some.push_back(e);
  const int decomp = decomposition(some);
  const auto buffer = values(some, 0);
  const double fill = 1e36;
  int file = open("a", SLABMARK_CREATE);
  EXPECT_EQ(slabmark_write_darray(file, define(file), decomp, count(buffer), buffer.data(), &fill),
            SLABMARK_OK);
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK) << slabmark_message();
  auto all = contents("a");
  ASSERT_EQ(all.size(), static_cast<std::size_t>(elements));
  EXPECT_EQ(all[599], 599);
  EXPECT_THAT(std::vector(all.begin() + 600, all.end()), Each(fill));

  // Without: also in a file that is opened again, where a hole may hold something.
  file = open("a", SLABMARK_WRITE);
  std::vector<std::int64_t> even;
  for (const std::int64_t e : cards) {
    if (e % 2 == 0) even.push_back(e);
  }
  const auto twice = values(even, 5000);
  EXPECT_EQ(slabmark_write_darray(file, define(file), decomposition(even), count(twice),
                                  twice.data(), nullptr),
            SLABMARK_OK);
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
  all = contents("a");
  EXPECT_EQ(all[598], 5598);
  EXPECT_EQ(all[599], 599);
  EXPECT_EQ(all[601], fill);
}

TEST_F(RearrangeLibrary, AFileThatIsDefinedLikeTheLastHasItsBytes) {
  const auto first = scratch.file("first");
  const auto second = scratch.file("second");
  constexpr std::uint64_t end = (5 << 20) + 3;
  if (rank == 0) {  // a header, some bytes behind 3 MiB of nothing, and nothing up to the end
    std::ofstream made(first, std::ios::binary);
    made << "header";
    made.seekp(3 << 20);
    made << std::string("a\0b", 3);
    made.close();
    std::filesystem::resize_file(first, end);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int definition = 0;
  ASSERT_EQ(slabmark_keep_definition(system, first.c_str(), &definition), SLABMARK_OK)
      << slabmark_message();
  const auto bytes_of = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  const std::string before = bytes_of(first);
  EXPECT_EQ(before.size(), end);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::ofstream(first, std::ios::binary) << "data, which no other file gets";
  ASSERT_EQ(slabmark_create_defined(definition, second.c_str(), MPI_INFO_NULL), SLABMARK_OK)
      << slabmark_message();
  EXPECT_TRUE(bytes_of(second) == before);
  EXPECT_EQ(slabmark_create_defined(definition, second.c_str(), MPI_INFO_NULL), SLABMARK_EIO)
      << "it is there";
  EXPECT_TRUE(bytes_of(second) == before) << "and stays as it is";
  EXPECT_EQ(slabmark_create_defined(definition, nullptr, MPI_INFO_NULL), SLABMARK_EARGUMENT);
  EXPECT_EQ(slabmark_free_definition(definition), SLABMARK_OK);
  EXPECT_EQ(slabmark_free_definition(definition), SLABMARK_EHANDLE);
  EXPECT_EQ(slabmark_create_defined(definition, second.c_str(), MPI_INFO_NULL), SLABMARK_EHANDLE);
  const auto missing = scratch.file("missing");
  EXPECT_EQ(slabmark_keep_definition(system, missing.c_str(), &definition), SLABMARK_EIO);
  EXPECT_THAT(slabmark_message(), HasSubstr(missing));
}

TEST_F(RearrangeLibrary, AGetBringsWhatTheLastPutOfItsFlushLeftWhateverTheirOrder) {
  const int decomp = decomposition(cards);
  const int file = open("a", SLABMARK_CREATE);
  const int x = define(file), y = define(file, elements * 8);
  std::vector<std::vector<double>> puts;
  puts.reserve(10);  // they stay where they are
  const auto put = [&](int variable, double first) {
    const auto& data = puts.emplace_back(values(cards, first));
    EXPECT_EQ(slabmark_iput_darray(file, variable, decomp, count(data), data.data(), nullptr),
              SLABMARK_OK);
  };
  std::vector<double> back(cards.size());
  const auto get = [&] {
    EXPECT_EQ(slabmark_iget_darray(file, y, decomp, count(back), back.data()), SLABMARK_OK);
  };
  const auto flush = [&] { EXPECT_EQ(slabmark_flush(file), SLABMARK_OK) << slabmark_message(); };
  put(y, 1);
  flush();
  get();
  put(x, 1);
  put(x, 2);
  put(y, 3);
  flush();
  EXPECT_EQ(back, values(cards, 3));
  put(y, 1);
  get();
  get();
  put(y, 2);
  flush();
  EXPECT_EQ(back, values(cards, 2));
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
}

TEST_F(RearrangeLibrary, WhatLiesBeyondTheEndOfTheFileReadsAsZero) {
  const int file = open("a", SLABMARK_CREATE);
  std::vector<double> buffer(cards.size(), 7);
  EXPECT_EQ(
      slabmark_read_darray(file, define(file), decomposition(cards), count(buffer), buffer.data()),
      SLABMARK_OK);
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
  EXPECT_THAT(buffer, Each(0));
}

TEST_F(RearrangeLibrary, MoreThanMayBeHeldIsWrittenBeforeTheFlush) {
  ASSERT_EQ(slabmark_set_option(system, "held", "10000"), SLABMARK_OK);
  const int decomp = decomposition(cards);
  const int file = open("a", SLABMARK_CREATE);
  const std::int64_t bytes = elements * 8;
  const auto buffer = values(cards, 0);
  for (int v = 0; v < 12; ++v) {
    EXPECT_EQ(slabmark_write_darray(file, define(file, v * bytes), decomp, count(buffer),
                                    buffer.data(), nullptr),
              SLABMARK_OK);
  }
  comm.barrier();
  EXPECT_GT(std::filesystem::file_size(scratch.file("a")), 0u);
  comm.barrier();
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
  for (std::size_t v = 0; v < 12; ++v) expect_counted(contents("a"), v * elements, 0);
}

class RearrangeLibraryInBackground : public RearrangeLibrary,
                                     public testing::WithParamInterface<const char*> {};

TEST_P(RearrangeLibraryInBackground, AThreadWritesWhileTheProgramGoesOn) {
  ASSERT_EQ(slabmark_set_option(system, GetParam(), "2"), SLABMARK_OK) << slabmark_message();
  const int decomp = decomposition(cards);
  const std::int64_t bytes = elements * 8;
  int files[] = {open("a", SLABMARK_CREATE), open("b", SLABMARK_CREATE)};
  std::vector<double> buffer;
  for (const int file : files) define(file, 0, bytes);
  for (int record = 0; record < 20; ++record) {
    for (int f = 0; f < 2; ++f) {
      const int file = files[f];  // a number that ranks need not have in common
      buffer = values(cards, 1000.0 * record + f);
      EXPECT_EQ(slabmark_set_frame(file, 0, record), SLABMARK_OK);
      EXPECT_EQ(slabmark_iput_darray(file, 0, decomp, count(buffer), buffer.data(), nullptr),
                SLABMARK_OK);
      EXPECT_EQ(slabmark_flush(file), SLABMARK_OK);
      buffer.assign(buffer.size(), -1);
    }
  }
  EXPECT_EQ(slabmark_set_frame(files[0], 0, 7), SLABMARK_OK);
  EXPECT_EQ(slabmark_read_darray(files[0], 0, decomp, count(buffer), buffer.data()), SLABMARK_OK);
  EXPECT_EQ(buffer, values(cards, 7000.0));
  for (const int file : files) EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
  for (std::size_t record = 0; record < 20; ++record) {
    expect_counted(contents("a"), record * elements, 1000.0 * record);
    expect_counted(contents("b"), record * elements, 1000.0 * record + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Options, RearrangeLibraryInBackground,
                         testing::Values("in_flight", "overlap"));

TEST_F(RearrangeLibrary, OfTwoThreadsThatWriteAProgramHasOne) {
  ASSERT_EQ(slabmark_set_option(system, "in_flight", "2"), SLABMARK_OK);
  ASSERT_EQ(slabmark_set_option(system, "overlap", "2"), SLABMARK_OK);
  int file = 0;
  EXPECT_EQ(
      slabmark_open_raw(system, scratch.file("a").c_str(), SLABMARK_CREATE, MPI_INFO_NULL, &file),
      SLABMARK_EARGUMENT);
  EXPECT_THAT(slabmark_message(), HasSubstr("set one of them"));
}

TEST_F(RearrangeLibrary, AFailedWriteOfOverlapIsToldToAllRanksOnce) {
  ASSERT_EQ(slabmark_set_option(system, "overlap", "2"), SLABMARK_OK);
  ASSERT_EQ(slabmark_set_option(system, "overlap_memory", "64K"), SLABMARK_OK);
  const int file = open("a", SLABMARK_CREATE);
  const std::int64_t far = std::int64_t{1} << 40;
  const FileSizeLimit limit(far);
  const int variable = define(file, far);
  const auto buffer = values(cards, 0);
  EXPECT_EQ(slabmark_write_darray(file, variable, decomposition(cards), count(buffer),
                                  buffer.data(), nullptr),
            SLABMARK_OK);
  const std::array codes = {slabmark_flush(file), slabmark_close(file)};
  EXPECT_THAT(codes, testing::UnorderedElementsAre(SLABMARK_OK, SLABMARK_EIO));
}

class RearrangeLibraryFailure : public RearrangeLibrary,
                                public testing::WithParamInterface<const char*> {};

TEST_P(RearrangeLibraryFailure, OfAWriteIsACodeOnAllRanksAtTheLatestWhenTheFileIsClosed) {
  ASSERT_EQ(slabmark_set_option(system, "in_flight", GetParam()), SLABMARK_OK);
  const int file = open("a", SLABMARK_CREATE);
  const std::int64_t far = std::int64_t{1} << 40;
  const FileSizeLimit limit(far);
  const int variable = define(file, far);
  const auto buffer = values(cards, 0);
  const int decomp = decomposition(cards);
  int flushed = SLABMARK_OK;
  for (int times = 0; times < 3; ++times) {
    EXPECT_EQ(slabmark_write_darray(file, variable, decomp, count(buffer), buffer.data(), nullptr),
              SLABMARK_OK);
    flushed = slabmark_flush(file);
  }
  const int closed = slabmark_close(file);
  if (GetParam() == std::string("0")) {
    EXPECT_EQ(flushed, SLABMARK_EIO);
    EXPECT_EQ(closed, SLABMARK_OK);
  } else {
    EXPECT_EQ(closed, SLABMARK_EIO);
  }
  EXPECT_THAT(slabmark_message(), HasSubstr(scratch.file("a")));
}

INSTANTIATE_TEST_SUITE_P(InFlight, RearrangeLibraryFailure, testing::Values("0", "2"));

TEST_F(RearrangeLibrary, ACallRefusedOnOneRankIsACodeOnAllAtTheFlushAndNothingIsWritten) {
  const int decomp = decomposition(cards);
  const int file = open("a", SLABMARK_CREATE);
  const int variable = define(file);
  const auto buffer = values(cards, 0);
  const bool mine = rank == size - 1;
  EXPECT_EQ(slabmark_write_darray(file, variable, decomp, count(buffer) - (mine ? 1 : 0),
                                  buffer.data(), nullptr),
            mine ? SLABMARK_ELENGTH : SLABMARK_OK);
  EXPECT_EQ(slabmark_flush(file), SLABMARK_ELENGTH);
  EXPECT_THAT(slabmark_message(), HasSubstr("elements, and the decomposition"));
  EXPECT_EQ(std::filesystem::file_size(scratch.file("a")), 0u);
  // The file goes on.
  EXPECT_EQ(slabmark_write_darray(file, variable, decomp, count(buffer), buffer.data(), nullptr),
            SLABMARK_OK);
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
  expect_counted(contents("a"), 0, 0);
}

TEST_F(RearrangeLibrary, ACallRefusedOnOneRankIsToldBeforeItsArrayIsWrittenAgain) {
  const int decomp = decomposition(cards);
  const int file = open("a", SLABMARK_CREATE);
  const int variable = define(file);
  const auto buffer = values(cards, 0);
  const bool mine = rank == size - 1;
  const auto put = [&](bool refused) {
    return slabmark_write_darray(file, variable, decomp, count(buffer) - (refused ? 1 : 0),
                                 buffer.data(), nullptr);
  };
  EXPECT_EQ(put(mine), mine ? SLABMARK_ELENGTH : SLABMARK_OK);
  EXPECT_EQ(put(false), SLABMARK_OK);
  EXPECT_EQ(put(false), SLABMARK_OK);
  EXPECT_EQ(slabmark_flush(file), SLABMARK_ELENGTH);
  EXPECT_EQ(put(false), SLABMARK_OK);
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK) << slabmark_message();
  expect_counted(contents("a"), 0, 0);
}

TEST_F(RearrangeLibrary, RanksFlushTogetherForWhatIsHeldAlsoWhereOnesCallsAreRefused) {
  ASSERT_EQ(slabmark_set_option(system, "held", "10000"), SLABMARK_OK);
  const int decomp = decomposition(cards);
  const int file = open("a", SLABMARK_CREATE);
  const int variable = define(file, 0, elements * 8);
  const auto buffer = values(cards, 0);
  const bool mine = rank == size - 1;
  bool told = false;
  for (int record = 0; record < 16 * size; ++record) {
    EXPECT_EQ(slabmark_set_frame(file, variable, record), SLABMARK_OK);
    const bool refused = mine && record == 0;
    const int code = slabmark_write_darray(file, variable, refused ? 777 : decomp, count(buffer),
                                           buffer.data(), nullptr);
    told |= code == SLABMARK_EHANDLE && !refused;
    if (!refused) {
      EXPECT_THAT(code, AnyOf(SLABMARK_OK, SLABMARK_EHANDLE));
    }
  }
  EXPECT_TRUE(told) << "by the call that flushed";
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK) << slabmark_message();
  expect_counted(contents("a"), static_cast<std::size_t>((16 * size - 1) * elements), 0);
}

TEST_F(RearrangeLibrary, OptionsThatAreRefusedStayAsTheyWere) {
  if (rank == size - 1) {
    EXPECT_EQ(slabmark_set_option(system, "window", "6G"), SLABMARK_EARGUMENT);
  }
  EXPECT_EQ(slabmark_close(open("a", SLABMARK_CREATE)), SLABMARK_OK) << "not the same on all ranks";
}

TEST_F(RearrangeLibrary, HintsThatMpiWouldNotTakeAreLeftOutAndThoseOfTheRootAreTaken) {
  const auto open_with = [&](const char* name, const std::string& hint, const std::string& value) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    if (!value.empty()) MPI_Info_set(info, hint.c_str(), value.c_str());
    int file = 0;
    EXPECT_EQ(slabmark_open_raw(system, scratch.file(name).c_str(), SLABMARK_CREATE, info, &file),
              SLABMARK_OK)
        << slabmark_message();
    MPI_Info_free(&info);
    EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
  };
  open_with("a", "cb_buffer_size", "2048");
  open_with("b", "cb_nodes", rank == size - 1 ? "many" : "1");
  open_with("c", "cb_nodes", rank == 0 ? "1" : "");
  open_with("d", "cb_nodes", rank == size - 1 ? "1" : "");
}

TEST_F(RearrangeLibrary, RanksThatMakeDifferentCallsAreTold) {
  if (size == 1) GTEST_SKIP() << "one rank agrees with itself";
  const int decomp = decomposition(cards);
  const int file = open("a", SLABMARK_CREATE);
  const auto buffer = values(cards, 0);
  const int variables[] = {define(file), define(file, elements * 8)};
  EXPECT_EQ(slabmark_iput_darray(file, variables[rank == 0], decomp, count(buffer), buffer.data(),
                                 nullptr),
            SLABMARK_OK);
  EXPECT_EQ(rank == 0 ? slabmark_sync(file) : slabmark_flush(file), SLABMARK_ERANKS);
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
}

TEST_F(RearrangeLibrary, ADecompositionThatIsWrongOnOneRankIsMadeOnNone) {
  const bool mine = rank == size - 1;
  const std::int64_t extent = elements;
  const auto make = [&](std::vector<std::int64_t> offsets, slabmark_type type = SLABMARK_INT32) {
    int decomp = 0;
    return slabmark_init_decomp(system, type, 1, &extent, count(offsets), offsets.data(), &decomp);
  };
  EXPECT_EQ(make({rank, mine ? elements : 10 + rank}), SLABMARK_EDECOMP);
  EXPECT_THAT(slabmark_message(), HasSubstr("leaves the array"));
  EXPECT_EQ(make({rank, mine ? -2 : 10 + rank}), SLABMARK_EDECOMP);
  EXPECT_EQ(make({rank, mine ? rank : 10 + rank}), SLABMARK_EDECOMP);
  EXPECT_THAT(slabmark_message(), HasSubstr("twice"));
  EXPECT_EQ(make({rank}, static_cast<slabmark_type>(mine ? 99 : 1)), SLABMARK_EARGUMENT);
  const std::int64_t first = rank;
  int none = 0;
  EXPECT_EQ(
      slabmark_init_decomp(system, SLABMARK_INT32, 1, &extent,
                           mine ? std::numeric_limits<std::int64_t>::max() : 1, &first, &none),
      SLABMARK_EARGUMENT);
  EXPECT_THAT(slabmark_message(), HasSubstr("cannot name 9223372036854775807 elements"));
  EXPECT_EQ(slabmark_init_decomp(system, SLABMARK_INT32, mine ? 2000000000 : 1, &extent, 1, &first,
                                 &none),
            SLABMARK_EARGUMENT);
  EXPECT_THAT(slabmark_message(), HasSubstr("0 to 1024 extents, and not 2000000000"));
  if (size > 1) {
    EXPECT_EQ(make({rank}, mine ? SLABMARK_INT32 : SLABMARK_INT16), SLABMARK_ERANKS);
  }
}

TEST_F(RearrangeLibrary, ElementsOfTwoRanksCanBeReadButNotWritten) {
  std::vector<std::int64_t> all;
  for (std::int64_t e = 0; e < elements; ++e) all.push_back(e);
  const int same = decomposition(all);
  auto buffer = values(all, 3);
  const int file = open("a", SLABMARK_CREATE);
  const int variable = define(file);
  EXPECT_EQ(slabmark_write_darray(file, variable, same, count(buffer), buffer.data(), nullptr),
            SLABMARK_OK);
  EXPECT_EQ(slabmark_flush(file), size == 1 ? SLABMARK_OK : SLABMARK_EOVERLAP);
  const auto own = values(cards, 3);
  EXPECT_EQ(
      slabmark_write_darray(file, variable, decomposition(cards), count(own), own.data(), nullptr),
      SLABMARK_OK);
  buffer.assign(buffer.size(), 0);
  EXPECT_EQ(slabmark_read_darray(file, variable, same, count(buffer), buffer.data()), SLABMARK_OK)
      << slabmark_message();
  EXPECT_EQ(buffer, values(all, 3));
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
}

TEST_F(RearrangeLibrary, WhatCannotBeIsACodeWithASentence) {
  const int decomp = decomposition(cards);
  const auto buffer = values(cards, 0);
  EXPECT_EQ(slabmark_set_option(system, "windows", "2M"), SLABMARK_EARGUMENT);
  EXPECT_THAT(slabmark_message(), HasSubstr("There is no option 'windows'"));
  int file = open("a", SLABMARK_CREATE);
  const int variable = define(file);
  const auto put = [&](int of_file, int of_variable, int with) {
    return slabmark_iput_darray(of_file, of_variable, with, count(buffer), buffer.data(), nullptr);
  };
  EXPECT_EQ(put(file, variable, 0), SLABMARK_EHANDLE);
  EXPECT_EQ(slabmark_flush(file), SLABMARK_EHANDLE) << "a refused call is told";
  EXPECT_EQ(put(file, 5, decomp), SLABMARK_EVARIABLE);
  EXPECT_EQ(slabmark_flush(file), SLABMARK_EVARIABLE);
  EXPECT_EQ(put(file, variable, decomposition(cards, SLABMARK_FLOAT32)), SLABMARK_ETYPE);
  EXPECT_THAT(slabmark_message(), HasSubstr("of float64, the decomposition of float32"));
  EXPECT_EQ(slabmark_flush(file), SLABMARK_ETYPE);
  EXPECT_EQ(slabmark_set_frame(file, variable, 1), SLABMARK_OK);
  EXPECT_EQ(put(file, variable, decomp), SLABMARK_EFRAME);
  EXPECT_EQ(slabmark_flush(file), SLABMARK_EFRAME);
  EXPECT_EQ(slabmark_finalize(system), SLABMARK_EARGUMENT) << "a file is open";
  EXPECT_EQ(slabmark_set_option(system, "window", "2M"), SLABMARK_EARGUMENT) << "too late";
  EXPECT_EQ(slabmark_set_frame(file, 5, 0), SLABMARK_EVARIABLE);
  int other = 0;
  EXPECT_EQ(slabmark_init(MPI_COMM_WORLD, &other), SLABMARK_OK);
  std::swap(system, other);
  const int of_other = decomposition(cards);
  std::swap(system, other);
  EXPECT_EQ(slabmark_set_frame(file, variable, 0), SLABMARK_OK);
  EXPECT_EQ(put(file, variable, of_other), SLABMARK_EARGUMENT);
  EXPECT_EQ(slabmark_finalize(other), SLABMARK_OK);
  EXPECT_EQ(slabmark_flush(file), SLABMARK_EARGUMENT);
  EXPECT_EQ(slabmark_close(file), SLABMARK_OK);
  EXPECT_EQ(slabmark_close(file), SLABMARK_EHANDLE);
  EXPECT_THAT(slabmark_message(), HasSubstr("closed"));
  EXPECT_EQ(put(file, variable, decomp), SLABMARK_EHANDLE);

  file = open("a", SLABMARK_READ);
  EXPECT_EQ(put(file, define(file), decomp), SLABMARK_EREADONLY);
  EXPECT_EQ(slabmark_close(file), SLABMARK_EREADONLY);
  EXPECT_EQ(slabmark_free_decomp(decomp), SLABMARK_OK);
  EXPECT_EQ(slabmark_free_decomp(decomp), SLABMARK_EHANDLE);
  const auto missing = scratch.file("missing/file");
  EXPECT_EQ(slabmark_open_raw(system, missing.c_str(), SLABMARK_WRITE, MPI_INFO_NULL, &file),
            SLABMARK_EIO);
  EXPECT_EQ(
      slabmark_open_raw(system, scratch.file("a").c_str(), SLABMARK_CREATE, MPI_INFO_NULL, &file),
      SLABMARK_EIO)
      << "it is there";
  for (int code = -14; code <= 0; ++code) {
    EXPECT_STRNE(slabmark_strerror(code), slabmark_strerror(1)) << code;
  }
}

}  // namespace
}  // namespace slabmark
