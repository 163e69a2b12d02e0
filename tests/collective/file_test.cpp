#include "collective/file.hpp"

#include <array>
#include <cstring>
#include <vector>

#include <gmock/gmock.h>

#include "collective/plan.hpp"
#include "scratch.hpp"
#include "storage/mpiio/error.hpp"

namespace slabmark::collective {
namespace {

using testing::ElementsAre;
using Value = std::uint64_t;

/// Arrays of three elements, the first and the last of which a flush of one rank writes.
class CollectiveFile : public testing::Test {
 protected:
  CollectiveFile() {
    RearrangerSettings settings;
    settings.aggregators = 1;
    EXPECT_TRUE(context.prepare(settings));
    path = scratch.file("data");
    if (comm.is_root()) {
      mpiio::File made = mpiio::File::create(MPI_COMM_SELF, path, {});
      std::array<Value, 3> before = {7, 7, 7};
      made.write_at(0, {before.data(), sizeof before, MPI_BYTE, sizeof before});
      made.close();
    }
    comm.barrier();
    file = File(comm.get(), path, File::Access::write, {});
    file.end_is_zero();
  }

  void write(std::uint64_t offset) {
    const FileDomain domain(std::vector<ArrayPlace>{{offset, 8, 3}}, 0);
    std::array<Value, 2> values = {1, 3};
    const std::array buffers = {reinterpret_cast<std::byte*>(values.data())};
    Item item{0, {}, "v"};
    if (comm.rank() == comm.size() - 1) {
      item.sources.push_back({0, std::make_shared<const std::vector<Piece>>(
                                     std::vector<Piece>{{0, 0, 1}, {2, 1, 1}})});
    }
    const Plan plan(comm, domain, {item}, {context.rearranger().aggregators(), 8},
                    {true, Overlaps::refused});
    const auto tally = file.move(context, {domain, plan.flush(), buffers, true});
    calls = comm.sum(tally.file_calls);
  }

  std::array<Value, 3> contents(std::uint64_t offset) {
    std::array<Value, 3> values = {9, 9, 9};
    comm.barrier();
    file.read(offset, reinterpret_cast<std::byte*>(values.data()), sizeof values);
    return values;
  }

  Context context{MPI_COMM_WORLD};
  const Comm& comm = context.comm();
  Scratch scratch{comm};
  std::string path;
  File file;
  std::uint64_t calls = 0;
};

TEST_F(CollectiveFile, LeavesHolesAsTheyAreWhereNothingIsFresh) {
  write(0);
  EXPECT_THAT(contents(0), ElementsAre(1, 7, 3));
  EXPECT_EQ(calls, 2u);
}

TEST_F(CollectiveFile, WritesOverHolesBeyondAByteOnce) {
  file.fresh_from(24);
  write(0);
  EXPECT_THAT(contents(0), ElementsAre(1, 7, 3));
  write(24);
  EXPECT_EQ(calls, 1u);
  EXPECT_THAT(contents(24), ElementsAre(1, 0, 3));
  write(24);
  EXPECT_EQ(calls, 2u) << "it is fresh no more";
}

TEST_F(CollectiveFile, WritesOverHolesBeyondTheEnd) {
  file.fresh_from_end();
  write(16);
  EXPECT_EQ(calls, 2u) << "it begins before the end";
  comm.barrier();
  file.fresh_from_end();
  write(40);
  EXPECT_EQ(calls, 1u);
  EXPECT_THAT(contents(40), ElementsAre(1, 0, 3));
}

TEST_F(CollectiveFile, ReadsZerosBeyondTheEndOrRefuses) {
  EXPECT_THAT(contents(16), ElementsAre(7, 0, 0));
  EXPECT_THAT(contents(1000), ElementsAre(0, 0, 0));
  File strict(MPI_COMM_SELF, path, File::Access::read, {});
  std::array<Value, 3> values = {};
  EXPECT_THROW(strict.read(16, reinterpret_cast<std::byte*>(values.data()), sizeof values),
               mpiio::Failure);
}

}  // namespace
}  // namespace slabmark::collective
