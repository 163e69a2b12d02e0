#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "bench/method/pass.hpp"
#include "bench/method/registry.hpp"
#include "bench/pattern/slice_pattern.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

namespace fs = std::filesystem;

/// Strided planes of each orientation of two fields, in blocks along x.
Pattern planes(const Comm& comm, ElementType type, std::uint64_t outputs, int rank) {
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const BlockedField field{{13, 11, 9}, {ranks, 1, 1}, 2};
  auto all = whole_field(field);
  all.ranges[0].stride = 3;
  all.ranges[1].stride = 2;
  return make_slice_pattern(
      {field, {plane_of(all, 0, 6), plane_of(all, 1, 0), plane_of(all, 2, 4)}, 2, type}, outputs,
      static_cast<std::uint64_t>(rank), ranks);
}

/// One plane whose stride leaves equal blocks.
Pattern even_plane(const Comm& comm, int rank) {
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const BlockedField field{{8 * ranks, 6, 4}, {ranks, 1, 1}, 1};
  auto all = whole_field(field);
  all.ranges[0].stride = all.ranges[1].stride = 2;
  return make_slice_pattern({field, {plane_of(all, 2, 1)}, 2, ElementType::float64}, 2,
                            static_cast<std::uint64_t>(rank), ranks);
}

class SliceMethods : public testing::Test {
 protected:
  /// Writes it, and has every rank check what the next one wrote. Returns the first fault.
  std::string fault(const MethodInfo& method, const Pattern& mine, const Pattern& other,
                    const std::string& path) {
    const auto outcome = write_file(method, comm_, mine, {}, path);
    comm_.barrier();
    if (!outcome.fault.empty()) return outcome.fault;
    return check_plainly(method.format, comm_, other, path);
  }

  int next() const { return (comm_.rank() + 1) % comm_.size(); }

  Comm comm_{MPI_COMM_WORLD};
  Scratch scratch_{comm_};
};

TEST_F(SliceMethods, EveryPointIsWhereThePlainReaderOfAnotherRankLooksForIt) {
  int tried = 0;
  for (const auto& method : methods()) {
    if (method.format != FileFormat::vtkhdf) continue;
    for (const auto type : {ElementType::float32, ElementType::float64}) {
      for (const std::uint64_t outputs : {1, 3}) {
        const auto mine = planes(comm_, type, outputs, comm_.rank());
        if (method.supports(mine, {})) continue;
        const auto path = scratch_.file(fmt::format("{}.vtkhdf", ++tried));
        EXPECT_EQ(fault(method, mine, planes(comm_, type, outputs, next()), path), "")
            << method.name;
        // A file each plane, or each plane and output.
        const auto files = method.file().companions(path).size();
        EXPECT_EQ(files, method.name.starts_with("files") ? 3 * outputs : 3) << method.name;
      }
    }
  }
  EXPECT_EQ(tried, 8 * 2 * 2) << "those that copy do not, whose blocks would not be equal";
}

TEST_F(SliceMethods, ThoseThatCopyWriteTheSamePoints) {
  for (const auto* name : {"copy-plane", "copy-field", "append"}) {
    const auto& method = find_method(name);
    EXPECT_EQ(method.supports(even_plane(comm_, comm_.rank()), {}).value_or(""), "");
    const auto path = scratch_.file(std::string(name) + ".vtkhdf");
    EXPECT_EQ(fault(method, even_plane(comm_, comm_.rank()), even_plane(comm_, next()), path), "")
        << name;
  }
}

TEST_F(SliceMethods, AFlippedByteIsFound) {
  const auto mine = even_plane(comm_, comm_.rank());
  const auto path = scratch_.file("flipped.vtkhdf");
  const auto& method = find_method("append");
  ASSERT_EQ(fault(method, mine, mine, path), "");
  const auto file = method.file().companions(path).front();
  comm_.barrier();
  if (comm_.is_root()) {
    const auto reader = method.file().open(Comm(MPI_COMM_SELF), mine, path);
    std::string element(8, '\0');
    reader->read(0, 1, {0, 1}, reinterpret_cast<std::byte*>(element.data()));
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const auto place = bytes.find(element);
    ASSERT_NE(place, std::string::npos);
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(place));
    out.put(static_cast<char>(bytes[place] ^ 0x10));
  }
  comm_.barrier();
  EXPECT_TRUE(comm_.any(!check_plainly(method.format, comm_, mine, path).empty()));
}

TEST_F(SliceMethods, TheLimitsMoveAsManyBytes) {
  const auto mine = planes(comm_, ElementType::float64, 3, comm_.rank());
  const auto bytes = comm_.sum(moved_bytes(mine)) / 3;
  for (const auto* name : {"gatherv", "touch", "read", "append-one"}) {
    const auto& method = find_method(name);
    EXPECT_FALSE(method.supports(mine, {})) << name;
    const auto path = scratch_.file(name);
    const auto outcome = write_file(method, comm_, mine, {}, path);
    EXPECT_EQ(outcome.fault, "") << name;
    const bool writes = std::string_view(name) == "gatherv" || method.format != FileFormat::none;
    EXPECT_EQ(outcome.effective["bytes_written"], writes ? bytes : 0) << name;
    if (std::string_view(name) == "gatherv") {
      EXPECT_EQ(fs::file_size(path), 3 * bytes);
    }
  }
}

TEST_F(SliceMethods, WhatIsNoSliceIsRefusedWithTheReason) {
  Pattern vector;
  vector.name = "vector";
  vector.datasets = {{"v", ElementType::float64, {{"x", 100}}, false, std::nullopt}};
  vector.transfers = [](std::uint64_t) {
    return std::vector<Transfer>{{0, 0, select_none({100}), nullptr}};
  };
  int refusing = 0;
  for (const auto& method : methods()) {
    if (method.kind != MethodKind::slices) continue;
    ++refusing;
    EXPECT_EQ(method.supports(vector, {}).value_or(""), "it writes slices of fields only")
        << method.name;
    EXPECT_NE(method.supports(planes(comm_, ElementType::int32, 1, comm_.rank()), {})
                  .value_or("")
                  .find("int32"),
              std::string::npos)
        << method.name;
  }
  EXPECT_EQ(refusing, 13);
}

TEST_F(SliceMethods, AFileInTheWayStaysAsItIs) {
  for (const auto* name : {"append", "files"}) {
    const auto file = scratch_.file(std::string(name) + (*name == 'f' ? "_z1_000007" : "_z1"));
    if (comm_.is_root()) std::ofstream(file + ".vtkhdf") << "precious";
    comm_.barrier();
    const auto write = [&] {
      write_file(find_method(name), comm_, even_plane(comm_, comm_.rank()), {},
                 scratch_.file(std::string(name) + ".vtkhdf"));
    };
    EXPECT_THROW(write(), InputError) << name;
    std::string text;
    std::ifstream(file + ".vtkhdf") >> text;
    EXPECT_EQ(text, "precious") << name;
  }
}

}  // namespace
}  // namespace slabmark
