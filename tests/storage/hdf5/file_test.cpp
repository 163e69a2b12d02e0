#include "storage/hdf5/file.hpp"

#include <fstream>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"
#include "scratch.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::hdf5 {
namespace {

class Hdf5Files : public testing::Test {
 protected:
  Comm comm{MPI_COMM_WORLD};
  Scratch scratch{comm};
  std::uint64_t ranks() const { return static_cast<std::uint64_t>(comm.size()); }
  std::uint64_t rank() const { return static_cast<std::uint64_t>(comm.rank()); }
};

TEST_F(Hdf5Files, WhatRanksWriteTogetherIsReadWithoutMpi) {
  const auto path = scratch.file("f.h5");
  {
    auto file = File::create(comm.get(), MPI_INFO_NULL, path, {});
    auto dataset = file.create_dataset("atm/T", ElementType::int32, Space({ranks(), 3}), {});
    auto space = dataset.space();
    space.select(make_box({rank(), 0}, {1, 3}));
    const TransferList collective(TransferList::Mode::collective);
    const std::vector<std::int32_t> mine(3, static_cast<std::int32_t>(rank()) + 1);
    dataset.write(Space(Extent{3}), space, collective, mine.data());
    EXPECT_EQ(mode_name(collective.outcome()), "contiguous collective");
    EXPECT_TRUE(no_collective_causes(collective.outcome()).empty());
    file.sync();
  }
  comm.barrier();
  auto file = File::open_serial(path);
  auto dataset = file.open_dataset("atm/T", ElementType::int32);
  std::vector<std::int32_t> all(3 * ranks());
  dataset.read(Space(Extent{all.size()}), dataset.space(), TransferList(TransferList::Mode::serial),
               all.data());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i / 3) + 1);
}

TEST_F(Hdf5Files, TextsPutTogetherEachKeepTheirOwnLength) {
  if (!comm.is_root()) return;
  auto file = File::create_serial(scratch.file("texts.h5"));
  const std::vector<Attribute> texts = {{"units", "m"}, {"long_name", "height"}, {"axis", "Z"}};
  file.put_attributes(texts);
  for (const auto& [name, text] : texts) {
    const Handle attribute(H5Aopen(file.get(), name.c_str(), H5P_DEFAULT), H5Aclose);
    ASSERT_TRUE(attribute.is_open());
    ASSERT_EQ(H5Aget_storage_size(attribute.get()), text.size());
    const Handle type(H5Aget_type(attribute.get()), H5Tclose);
    std::string found(text.size(), '\0');
    ASSERT_GE(H5Aread(attribute.get(), type.get(), found.data()), 0);
    EXPECT_EQ(found, text);
  }
}

TEST_F(Hdf5Files, AnImageIsAFileThatOpens) {
  if (!comm.is_root()) return;
  const auto bytes = File::image([](File& made) {
    const std::vector<Attribute> attributes = {{"units", "m"}};
    made.put_attributes(attributes);
    made.create_dataset("height", ElementType::float64, Space({3}), {});
  });
  const auto path = scratch.file("image.h5");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  auto file = File::open_serial(path);
  EXPECT_TRUE(H5Aexists(file.get(), "units") > 0);
  EXPECT_EQ(file.open_dataset("height", ElementType::float64).space().extent(), Extent{3});
}

TEST_F(Hdf5Files, DatasetsAlikeButForOneSettingEachGetTheirOwn) {
  if (!comm.is_root()) return;
  auto file = File::create_serial(scratch.file("alike.h5"));
  CreationSettings settings;
  settings.chunk = {2};
  const auto filters = [&](const char* name) {
    const auto made = file.create_dataset(name, ElementType::int32, Space({4}), settings);
    return H5Pget_nfilters(made.creation().get());
  };
  EXPECT_EQ(filters("plain"), 0);
  settings.shuffle = true;
  EXPECT_EQ(filters("shuffled"), 1);
  settings.fletcher32 = true;
  EXPECT_EQ(filters("checked"), 2);
  settings.chunk.clear();
  EXPECT_FALSE(file.create_dataset("line", ElementType::int32, Space({4}), settings).is_chunked());
}

TEST_F(Hdf5Files, SaysWhereDatasetsLieSoThatTheirBytesCanBeWrittenWithoutIt) {
  if (!comm.is_root()) return;
  const auto path = scratch.file("places.h5");
  std::vector<std::uint64_t> line, steps;
  {
    auto file = File::create_serial(path, {});
    CreationSettings settings;
    settings.alloc = H5D_ALLOC_TIME_EARLY;
    auto contiguous = file.create_dataset("line", ElementType::int32, Space({3}), settings);
    contiguous.put_attributes(std::vector<Attribute>{{"units", "m"}});
    line = {contiguous.address()};
    settings.chunk = {1, 2};
    const auto stepped =
        file.create_dataset("steps", ElementType::int32, Space({2, 2}, true), settings);
    EXPECT_TRUE(stepped.is_native());
    steps = {stepped.chunk_address({0, 0}), stepped.chunk_address({1, 0})};
    file.close();
  }
  ASSERT_EQ(line.size(), 1u);
  ASSERT_EQ(steps.size(), 2u);
  const std::int32_t values[] = {1, 2, 3, 4, 5, 6, 7};
  const auto* bytes = reinterpret_cast<const std::byte*>(values);
  auto raw = posix::File::open(path, posix::File::Access::write);
  raw.write_at(line[0], bytes, 12);
  raw.write_at(steps[0], bytes + 12, 8);
  raw.write_at(steps[1], bytes + 20, 8);
  raw.close();
  auto file = File::open_serial(path);
  std::vector<std::int32_t> found(7);
  const TransferList serial(TransferList::Mode::serial);
  auto contiguous = file.open_dataset("line", ElementType::int32);
  contiguous.read(Space(Extent{3}), contiguous.space(), serial, found.data());
  auto stepped = file.open_dataset("steps", ElementType::int32);
  stepped.read(Space(Extent{4}), stepped.space(), serial, found.data() + 3);
  EXPECT_EQ(found, std::vector<std::int32_t>(std::begin(values), std::end(values)));
}

TEST_F(Hdf5Files, TimeGrowsAndEachStepHasItsPlace) {
  const auto path = scratch.file("f.h5");
  {
    auto file = File::create(comm.get(), MPI_INFO_NULL, path, {});
    CreationSettings settings;
    settings.chunk = {1, ranks()};
    auto dataset =
        file.create_dataset("r", ElementType::float64, Space({0, ranks()}, true), settings);
    EXPECT_TRUE(dataset.is_chunked());
    const TransferList independent(TransferList::Mode::independent);
    for (std::uint64_t time = 0; time < 3; ++time) {
      dataset.extend({time + 1, ranks()});
      auto space = dataset.space();
      space.select(make_box({rank()}, {1}), time);
      const double value = static_cast<double>(10 * time + rank());
      dataset.write(Space(Extent{1}), space, independent, &value);
    }
    EXPECT_GE(dataset.storage_bytes(), 3 * 8 * ranks());
  }
  comm.barrier();
  auto file = File::open_serial(path);
  auto dataset = file.open_dataset("r", ElementType::float64);
  auto space = dataset.space();
  space.select(make_box({0}, {ranks()}), 2);
  std::vector<double> last(ranks());
  dataset.read(Space(Extent{ranks()}), space, TransferList(TransferList::Mode::serial),
               last.data());
  for (std::size_t i = 0; i < last.size(); ++i) EXPECT_EQ(last[i], 20.0 + static_cast<double>(i));
}

TEST_F(Hdf5Files, AnIndependentWriteSaysWhyItWasNotCollective) {
  auto file = File::create(comm.get(), MPI_INFO_NULL, scratch.file("f.h5"), {});
  auto dataset = file.create_dataset("v", ElementType::uint8, Space({ranks()}), {});
  auto space = dataset.space();
  space.select(make_box({rank()}, {1}));
  const TransferList independent(TransferList::Mode::independent);
  const char value = 1;
  dataset.write(Space(Extent{1}), space, independent, &value);
  EXPECT_EQ(mode_name(independent.outcome()), "not collective");
  EXPECT_EQ(no_collective_causes(independent.outcome()),
            (std::vector<std::string>{"independent access was asked for"}));
}

TEST_F(Hdf5Files, AnErrorIsOneSentenceWithCallFileAndReason) {
  const auto path = scratch.file("none.h5");
  try {
    File::open_serial(path);
    FAIL() << "no error";
  } catch (const IoError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.rfind("H5Fopen failed on '" + path + "': ", 0), 0u) << message;
    EXPECT_NE(message.find("No such file"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST_F(Hdf5Files, ADatasetThatIsMissingIsAnError) {
  auto file = File::create(comm.get(), MPI_INFO_NULL, scratch.file("f.h5"), {});
  EXPECT_THROW(file.open_dataset("v", ElementType::uint8), IoError);
}

TEST_F(Hdf5Files, TheMpiFileUnderneathTellsItsHints) {
  auto file = File::create(comm.get(), MPI_INFO_NULL, scratch.file("f.h5"), {});
  EXPECT_NE(file.mpi_file(), MPI_FILE_NULL);
}

TEST_F(Hdf5Files, AScalarIsWrittenWhole) {
  auto file = File::create(comm.get(), MPI_INFO_NULL, scratch.file("f.h5"), {});
  auto dataset = file.create_dataset("s", ElementType::int64, Space(Extent{}), {});
  auto space = dataset.space();
  space.select(make_box({}, {}));
  if (!comm.is_root()) space.select_none();
  Space memory(Extent{});
  if (!comm.is_root()) memory.select_none();
  const std::int64_t value = 42;
  const TransferList collective(TransferList::Mode::collective);
  EXPECT_NO_THROW(dataset.write(memory, space, collective, comm.is_root() ? &value : nullptr));
}

}  // namespace
}  // namespace slabmark::hdf5
