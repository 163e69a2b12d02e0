// Files that get the definition of an earlier one are those that the library makes.

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>

#include <gtest/gtest.h>

#include "bench/method/pass.hpp"
#include "bench/method/registry.hpp"
#include "bench/pattern/conformance.hpp"
#include "bench/pattern/selection.hpp"
#include "scratch.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark {
namespace {

constexpr auto reused = "of an earlier file";
constexpr auto defined = "by the library";

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A rearranged method, by the prefix of its options.
class Definitions : public testing::TestWithParam<std::string> {
 protected:
  const MethodInfo& method = find_method(GetParam() + "-rearranged");
  Comm comm{MPI_COMM_WORLD};
  Scratch scratch{comm};
  std::shared_ptr<void> kept;

  void SetUp() override {
    if (!method.missing.empty()) GTEST_SKIP() << method.missing;
  }

  /// Returns where the definition of the file came from.
  std::string write(const Pattern& pattern, const std::string& name,
                    const Settings& settings = {}) {
    const Outcome outcome =
        write_file(method, comm, pattern, settings, scratch.file(name), Flush::each_round, &kept);
    EXPECT_EQ(outcome.fault, "");
    return outcome.effective["definition"];
  }

  bool are_same(const std::string& one, const std::string& other) {
    return bytes_of(scratch.file(one)) == bytes_of(scratch.file(other));
  }

  Settings off() const { return {{{GetParam() + ".reuse_definition", "off"}}, {}}; }

  /// Two vectors, one with a record for each of `rounds`.
  Pattern vectors(std::uint64_t rounds = 2) const {
    Pattern pattern;
    pattern.name = "vectors";
    pattern.attributes = {{"title", "first"}};
    pattern.datasets = {{"v", ElementType::float64, {{"x", 300}}, false, std::nullopt},
                        {"r", ElementType::int32, {{"x", 300}}, true, std::nullopt}};
    pattern.datasets[0].attributes = {{"units", "m"}};
    pattern.rounds = rounds;
    pattern.transfers =
        [part = equal_range(300, static_cast<std::uint64_t>(comm.rank()),
                            static_cast<std::uint64_t>(comm.size()))](std::uint64_t round) {
          const auto mine = select_row_runs({300}, {part});
          std::vector<Transfer> all{{1, round, mine, nullptr}};
          if (round == 0) all.insert(all.begin(), {0, 0, mine, nullptr});
          return all;
        };
    return pattern;
  }
};

TEST_P(Definitions, TheNextFileHasTheBytesOfOneThatTheLibraryDefines) {
  const auto patterns = conformance_patterns(comm.rank(), comm.size());
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (method.supports(patterns[i], {})) continue;
    SCOPED_TRACE(patterns[i].name);
    const auto name = [i](const char* which) { return which + std::to_string(i); };
    EXPECT_EQ(write(patterns[i], name("first")), defined);
    EXPECT_EQ(write(patterns[i], name("next")), reused);
    EXPECT_EQ(write(patterns[i], name("off"), off()), defined);
    EXPECT_TRUE(are_same(name("first"), name("next")));
    EXPECT_TRUE(are_same(name("off"), name("next")));
    EXPECT_EQ(check_plainly(method.format, comm, patterns[i], scratch.file(name("next"))), "");
  }
}

TEST_P(Definitions, AFileThatDiffersInAnythingIsDefinedAnew) {
  const std::vector<std::function<void(Pattern&)>> changes = {
      [](Pattern& p) { p.datasets[0].name = "w"; },
      [](Pattern& p) { p.datasets[0].type = ElementType::int64; },
      [](Pattern& p) { p.datasets[0].attributes[0].name = "uints"; },
      [](Pattern& p) { p.datasets[0].attributes[0].text = "k"; },
      [](Pattern& p) { p.datasets[0].attributes.clear(); },
      [](Pattern& p) {
        p.datasets[1].attributes = {{"units", "m"}};
      },
      [](Pattern& p) { p.datasets[0].chunk = Extent{150}; },
      [](Pattern& p) { p.datasets[0].chunk = Extent{100}; },
      [](Pattern& p) { p.datasets[0].dimensions[0].name = "y"; },
      [](Pattern& p) { p.attributes[0].text = "fresh"; },
      [](Pattern& p) { p.attributes.clear(); },
      [](Pattern& p) { p.rounds = 1; },
      [](Pattern& p) {
        p.datasets.push_back({"more", ElementType::int8, {{"x", 7}}, false, std::nullopt});
      },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    const auto number = std::to_string(i);
    Pattern other = vectors();
    changes[i](other);
    write(vectors(), "before" + number);
    EXPECT_EQ(write(vectors(), "same" + number), reused);
    EXPECT_EQ(write(other, "other" + number), defined);
    EXPECT_EQ(check_plainly(method.format, comm, other, scratch.file("other" + number)), "");
    EXPECT_EQ(write(other, "again" + number), reused);
    EXPECT_TRUE(are_same("other" + number, "again" + number));
  }
}

TEST_P(Definitions, SettingsAndHintsBelongToThem) {
  const Settings window{{{GetParam() + ".window", "1K"}}, {}};
  const Settings hint{{}, {{"nc_header_align_size", "8192"}}};
  for (const Settings& settings : {Settings{}, window, hint}) {
    EXPECT_EQ(write(vectors(), "a", settings), defined);
    EXPECT_EQ(write(vectors(), "b", settings), reused);
    comm.barrier();
    if (comm.is_root()) {
      std::filesystem::remove(scratch.file("a"));
      std::filesystem::remove(scratch.file("b"));
    }
    comm.barrier();
  }
}

TEST_P(Definitions, NoneIsKeptWhereNothingIs) {
  const Settings off{{{GetParam() + ".keep", "off"}}, {}};
  for (const auto* name : {"a", "b"}) EXPECT_EQ(write(vectors(), name, off), defined);
}

INSTANTIATE_TEST_SUITE_P(Formats, Definitions, testing::Values("hdf5", "pnetcdf"),
                         [](const auto& tested) { return tested.param; });

/// What HDF5 makes of a file whose definition was an earlier one's.
class Hdf5Definitions : public Definitions {};

TEST_P(Hdf5Definitions, HDF5GoesOnWithAFileAsWithItsOwn) {
  const Pattern pattern = vectors();
  write(pattern, "first");
  ASSERT_EQ(write(pattern, "next"), reused);
  comm.barrier();
  const auto path = scratch.file("next");
  if (comm.is_root()) {
    EXPECT_TRUE(hdf5::is_hdf5(path));
    auto file = hdf5::File::open_serial(path, hdf5::Access::read_write);
    auto records = file.open_dataset("r", ElementType::int32);
    H5O_info2_t info;
    ASSERT_GE(H5Oget_info3(records.get(), &info, H5O_INFO_TIME), 0);
    EXPECT_EQ(info.mtime, 0) << "files made at different times would differ";
    records.extend({70, 300});
    const std::vector<std::int32_t> row(300, 5);
    hdf5::Space last = records.space();
    last.select(make_box({0}, {300}), 69);
    records.write(hdf5::Space(Extent{1, 300}), last,
                  hdf5::TransferList(hdf5::TransferList::Mode::serial), row.data());
    const std::vector<Attribute> texts = {{"history", std::string(3000, 'h')}};
    records.put_attributes(texts);
    file.put_attributes(texts);
    for (int i = 0; i < 100; ++i) {
      file.create_dataset("new" + std::to_string(i), ElementType::float32, hdf5::Space({50}), {});
    }
  }
  comm.barrier();
  EXPECT_EQ(check_plainly(method.format, comm, pattern, path), "");
  if (!comm.is_root()) return;
  auto file = hdf5::File::open_serial(path);
  std::vector<std::int32_t> row(300);
  file.open_dataset("r", ElementType::int32)
      .read(slabmark::Run{0, 300}, Extent{300}, 69, reinterpret_cast<std::byte*>(row.data()));
  EXPECT_EQ(row, std::vector<std::int32_t>(300, 5));
}

TEST_P(Hdf5Definitions, FilesWithFiltersOrOfLaterFormatsAreHDF5s) {
  for (const char* option : {"hdf5.libver", "hdf5.shuffle"}) {
    const bool is_filter = std::string(option) == "hdf5.shuffle";
    const Settings settings{{{option, is_filter ? "on" : "v110"}, {"hdf5.chunk", "100"}}, {}};
    for (const char* name : {"a", "b"}) {
      EXPECT_EQ(write(vectors(), std::string(name) + option, settings), defined);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Hdf5, Hdf5Definitions, testing::Values("hdf5"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace slabmark
