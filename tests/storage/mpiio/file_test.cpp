#include "storage/mpiio/file.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"
#include "scratch.hpp"
#include "storage/mpiio/error.hpp"

namespace slabmark::mpiio {
namespace {

class MpiioFiles : public testing::Test {
 protected:
  template <class Call>
  static std::string message_of(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  int rank() const { return comm.rank(); }

  Comm comm{MPI_COMM_WORLD};
  Scratch scratch{comm};
};

Memory bytes_of(std::vector<char>& data) {
  return {data.data(), static_cast<int>(data.size()), MPI_BYTE, data.size()};
}

TEST_F(MpiioFiles, WhatRanksWriteThroughTheirViewsLiesInterleavedInTheFile) {
  const auto path = scratch.file("f");
  const int ranks = comm.size();
  {
    auto file = File::create(comm.get(), path, {});
    BlockList blocks(MPI_BYTE);
    for (int i = 0; i < 3; ++i) blocks.add({(i * ranks + rank()) * 2, 2});
    const auto view = blocks.datatype();
    file.set_view(0, MPI_BYTE, view.get());
    std::vector<char> data(6, static_cast<char>('a' + rank()));
    file.write_at_all(0, bytes_of(data));
    file.sync();
    file.close();
  }
  auto file = File::open(comm.get(), path, File::Access::read, {});
  std::vector<char> all(static_cast<std::size_t>(6 * ranks));
  file.read_at(0, bytes_of(all));
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], static_cast<char>('a' + static_cast<int>(i / 2) % ranks)) << i;
  }
}

TEST_F(MpiioFiles, AFailureTellsTheClassOfMpisError) {
  try {
    File::open(MPI_COMM_SELF, scratch.file("none"), File::Access::read, {});
    FAIL() << "there is no such file";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error_class(), MPI_ERR_NO_SUCH_FILE);
  }
}

TEST_F(MpiioFiles, ReadsWhatThereIsBeforeTheEnd) {
  const auto path = scratch.file("f");
  if (comm.is_root()) {
    auto file = File::create(MPI_COMM_SELF, path, {});
    std::vector<char> data(5, 'x');
    file.write_at(0, bytes_of(data));
    std::vector<char> more(8, 'y');
    EXPECT_EQ(file.read_some_at(2, bytes_of(more)), 3u);
    EXPECT_EQ(std::string(more.begin(), more.end()), "xxxyyyyy");
    EXPECT_EQ(file.read_some_at(100, bytes_of(more)), 0u);
    EXPECT_THROW(file.read_at(2, bytes_of(more)), Failure);
  }
  comm.barrier();
}

TEST_F(MpiioFiles, ARankWithoutDataTakesPartInCollectiveCalls) {
  auto file = File::create(comm.get(), scratch.file("f"), {});
  std::vector<char> data(comm.is_root() ? 5 : 0, 'x');
  EXPECT_NO_THROW(file.write_at_all(0, bytes_of(data)));
  EXPECT_NO_THROW(file.read_at_all(0, bytes_of(data)));
  file.close();
}

TEST_F(MpiioFiles, ReadingBeyondTheEndOfTheFileIsAnError) {
  auto file = File::create(comm.get(), scratch.file("f"), {});
  file.resize(10);
  std::vector<char> data(8);
  const auto message = message_of([&] { file.read_at(6, bytes_of(data)); });
  EXPECT_NE(message.find("it moved 4 of 8 bytes"), std::string::npos) << message;
  file.close();
}

TEST_F(MpiioFiles, AFileThatExistsIsNotCreatedAgain) {
  const auto path = scratch.file("f");
  File::create(comm.get(), path, {}).close();
  EXPECT_NE(message_of([&] { File::create(comm.get(), path, {}); }).find(path), std::string::npos);
}

TEST_F(MpiioFiles, AHintThatMpiCannotHoldIsTheUsersError) {
  const std::string long_key(static_cast<std::size_t>(MPI_MAX_INFO_KEY), 'k');
  EXPECT_THROW(Info(Hints{{long_key, "1"}}), InputError);
  EXPECT_THROW(Info(Hints{{"", "1"}}), InputError);
  EXPECT_THROW(Info(Hints{{"a", ""}}), InputError);
}

TEST_F(MpiioFiles, AHintWithWhichMpiIoCrashesOrCrawlsIsTheUsersError) {
  for (const auto& [key, value] : Hints{{"cb_nodes", "0"},
                                        {"cb_nodes", "many"},
                                        {"cb_buffer_size", "0"},
                                        {"cb_buffer_size", "1"},
                                        {"ind_wr_buffer_size", "0"},
                                        {"ind_rd_buffer_size", "4294967296"},
                                        {"striping_unit", "-5"}}) {
    EXPECT_THROW(check_hints({{key, value}}), InputError) << key << '=' << value;
  }
  EXPECT_NO_THROW(check_hints({{"cb_nodes", "1"}, {"cb_buffer_size", "4096"}, {"a", "-1"}}));
}

TEST_F(MpiioFiles, TheLaterOfTwoHintsWins) {
  const Info info(Hints{{"cb_nodes", "1"}, {"cb_nodes", "2"}});
  EXPECT_EQ(entries_of(info.get()).at("cb_nodes"), "2");
  EXPECT_TRUE(entries_of(MPI_INFO_NULL).empty());
}

MPI_Count size_of(const Datatype& type) {
  MPI_Count size = 0;
  MPI_Type_size_x(type.get(), &size);
  return size;
}

TEST(Datatypes, BlocksThatTouchAreMerged) {
  BlockList blocks(MPI_DOUBLE);
  blocks.add({0, 2});
  blocks.add({16, 1});
  blocks.add({32, 1});
  EXPECT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks.elements(), 4u);
  EXPECT_EQ(size_of(blocks.datatype()), 32);
}

TEST(Datatypes, BlocksBeyond2GiBKeepTheirSizeAndPlace) {
  const std::uint64_t elements = (std::uint64_t{5} << 30) / 8;
  BlockList blocks(MPI_DOUBLE);
  blocks.add({64, elements});
  blocks.add({64 + (std::int64_t{6} << 30), 3});
  const auto type = blocks.datatype();
  EXPECT_EQ(blocks.elements(), elements + 3);
  EXPECT_EQ(size_of(type), static_cast<MPI_Count>((elements + 3) * 8));
  MPI_Count begin = 0;
  MPI_Count length = 0;
  MPI_Type_get_true_extent_x(type.get(), &begin, &length);
  EXPECT_EQ(begin, 64);
  EXPECT_EQ(length, (MPI_Count{6} << 30) + 24);
}

TEST(Datatypes, AStructHoldsItsTypesWhereTheyArePut) {
  BlockList blocks(MPI_BYTE);
  blocks.add({1, 2});
  blocks.add({5, 1});
  const auto part = blocks.datatype();
  const auto whole = make_struct(std::vector<MPI_Aint>{0, MPI_Aint{1} << 40},
                                 std::vector<MPI_Datatype>{part.get(), part.get()});
  EXPECT_EQ(size_of(whole), 6);
  MPI_Count begin = 0;
  MPI_Count length = 0;
  MPI_Type_get_true_extent_x(whole.get(), &begin, &length);
  EXPECT_EQ(begin, 1);
  EXPECT_EQ(length, (MPI_Count{1} << 40) + 5);
}

}  // namespace
}  // namespace slabmark::mpiio
