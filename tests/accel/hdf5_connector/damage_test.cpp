// What becomes of a log file that a disk, or somebody, has changed. On one rank, since each reads
// the index by itself.
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <span>

#include <gmock/gmock.h>

#include "accel/hdf5_connector/log/write_views.hpp"
#include "accel/hdf5_connector/log_file_fixture.hpp"
#include "accel/hdf5_connector/to_canonical/canonical.hpp"
#include "core/base/error.hpp"

namespace slabmark::slablog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DamagedFiles : public LogFileTest {
 protected:
  /// Bytes of a file.
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };

  void SetUp() override {
    if (ranks() > 1) GTEST_SKIP() << "on one rank";
    make_log();
    bytes_ = content_of(path("a.h5"));
    right_ = read_all(path("a.h5"), "");
    ASSERT_TRUE(right_) << said_;
    for (const auto& [name, range] : lines()) {
      auto& where = name.starts_with("index") ? indices_ : segments_;
      if (name != "mark") where.push_back(range);
    }
    ASSERT_EQ(indices_.size(), 2u);
    ASSERT_EQ(segments_.size(), 3u);
  }

  hdf5::Handle open_with(const std::string& file, unsigned flags, const char* options) const {
    const auto list = access(options, false);
    hdf5::Handle opened(H5Fopen(file.c_str(), flags, list.get()), H5Fclose);
    if (!opened.is_open()) said_ = reason();
    return opened;
  }
  /// Without the connector.
  hdf5::Handle open_to_change(const std::string& name) const {
    return handle(open_with(path(name), H5F_ACC_RDWR, nullptr).release(), H5Fclose);
  }

  hdf5::Handle create_alone(const std::string& name) const {
    const auto list = access("", false);
    return handle(H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), H5Fclose);
  }

  /// Two datasets and two flushes, the second of which writes over some of the first.
  void make_log() const {
    const auto file = create_alone("a.h5");
    const auto d = dataset(file, "d", {16, 16});
    const auto group =
        handle(H5Gcreate2(file.get(), "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    const auto list = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const int fill = 7;
    H5Pset_fill_value(list.get(), H5T_NATIVE_INT, &fill);
    const auto x = dataset(group, "x", {400}, H5T_STD_I16BE, list.get());
    std::vector<Dims> starts;
    std::vector<int> values;
    for (hsize_t i = 0; i < 100; ++i) {
      starts.push_back({4 * i});
      values.push_back(1000 + static_cast<int>(i));
    }
    ASSERT_GE(write_n(x, starts, std::vector<Dims>(100, Dims{1}), values), 0);
    ASSERT_GE(write_n(d, {{1, 2}, {4, 0}}, {{2, 9}, {10, 16}}, std::vector<int>(178, 5)), 0);
    ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
    ASSERT_GE(write_n(d, {{5, 5}}, {{3, 3}}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), 0);
  }

  static std::string content_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void put(const std::string& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }

  /// Where the log's own lines are in the file, by their names.
  std::map<std::string, Range> lines() const {
    std::map<std::string, Range> found;
    const auto file = open_plainly("a.h5");
    const auto group = handle(H5Gopen2(file.get(), "/_slablog", H5P_DEFAULT), H5Gclose);
    const auto visit = [](hid_t where, const char* name, const H5L_info2_t*, void* all) -> herr_t {
      const hdf5::Handle one(H5Dopen2(where, name, H5P_DEFAULT), H5Dclose);
      const auto begin = H5Dget_offset(one.get());
      if (begin == HADDR_UNDEF) return 0;
      (*static_cast<std::map<std::string, Range>*>(all))[name] = {
          begin, begin + H5Dget_storage_size(one.get())};
      return 0;
    };
    EXPECT_GE(H5Literate2(group.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visit, &found), 0);
    return found;
  }

  /// Shapes, types and elements of both datasets, or nothing where any call fails.
  std::optional<std::vector<int>> read_all(const std::string& name, const char* options) const {
    const auto file = open_with(name, H5F_ACC_RDONLY, options);
    if (!file.is_open()) return std::nullopt;
    std::vector<int> found;
    for (const char* which : {"/d", "/g/x"}) {
      const hdf5::Handle one(H5Dopen2(file.get(), which, H5P_DEFAULT), H5Dclose);
      if (!one.is_open()) said_ = reason();
      if (!one.is_open()) return std::nullopt;
      const hdf5::Handle space(H5Dget_space(one.get()), H5Sclose);
      const hdf5::Handle type(H5Dget_type(one.get()), H5Tclose);
      if (!space.is_open() || !type.is_open()) return std::nullopt;
      Dims dims(H5S_MAX_RANK);
      const auto rank = H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
      for (int i = 0; i < rank; ++i) found.push_back(static_cast<int>(dims[i]));
      found.push_back(H5Tequal(type.get(), H5T_STD_I16BE));
      const auto elements = H5Sget_simple_extent_npoints(space.get());
      if (elements < 0 || elements > 1'000'000) return found;  // as nobody wrote it
      std::vector<int> values(static_cast<std::size_t>(elements));
      if (H5Dread(one.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
        return std::nullopt;
      }
      found.insert(found.end(), values.begin(), values.end());
    }
    return found;
  }

  /// The same of what slabmark log canonical makes.
  std::optional<std::vector<int>> read_canonical(const std::string& name) const {
    const auto output = path("canonical.h5");
    std::filesystem::remove(output);
    try {
      write_canonical(Comm(MPI_COMM_SELF), name, output);
    } catch (const Error&) {
      return std::nullopt;
    }
    return read_all(output, nullptr);
  }

  static bool can_be_summarised(const std::string& name) {
    try {
      summarise(name);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  /// A copy of the file, with another byte at `at`. HDF5 must not take it for one that it knows.
  std::string with_changed_byte(std::uint64_t at, char bit) {
    auto bytes = bytes_;
    bytes[at] = static_cast<char>(bytes[at] ^ bit);
    const auto name = path("changed" + std::to_string(copies_++) + ".h5");
    put(name, bytes);
    return name;
  }

  void make_version_1(const std::string& name) const {
    const auto file = open_to_change(name);
    const auto group = handle(H5Gopen2(file.get(), "/_slablog", H5P_DEFAULT), H5Gclose);
    EXPECT_GE(H5Adelete(group.get(), "flushes"), 0);
    for (const char* index : {"index0", "index1"}) {
      EXPECT_GE(H5Adelete_by_name(group.get(), index, "checksum", H5P_DEFAULT), 0);
    }
    const std::int64_t version = 1;
    const auto attribute = handle(H5Aopen(group.get(), "version", H5P_DEFAULT), H5Aclose);
    EXPECT_GE(H5Awrite(attribute.get(), H5T_NATIVE_INT64, &version), 0);
  }

  static bool is_in(std::span<const Range> ranges, std::uint64_t at) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](Range range) { return range.begin <= at && at < range.end; });
  }

  std::string bytes_;
  std::optional<std::vector<int>> right_;
  std::vector<Range> indices_;
  std::vector<Range> segments_;
  int copies_ = 0;
  mutable std::string
      said_;  ///< by HDF5, of the last call that failed; another call would clear it
};

TEST_F(DamagedFiles, AnyChangedByteButThoseOfElementsIsAnErrorOrOfNoUse) {
  std::mt19937_64 random(1);
  int errors = 0;
  int wrong = 0;
  for (int i = 0; i < 600; ++i) {
    auto at = random() % bytes_.size();
    while (is_in(segments_, at)) at = random() % bytes_.size();
    const auto name = with_changed_byte(at, static_cast<char>(1 << random() % 8));
    const auto found = read_all(name, "");
    errors += found ? 0 : 1;
    wrong += found && found != right_ ? 1 : 0;
    EXPECT_TRUE(!found || found == right_) << "byte " << at << " of " << bytes_.size();
    if (i % 4 == 0) {
      const auto canonical = read_canonical(name);
      EXPECT_TRUE(!canonical || canonical == right_) << "canonical, byte " << at;
    }
    std::filesystem::remove(name);
  }
  EXPECT_GT(errors, 100);
  RecordProperty("errors", errors);
  RecordProperty("wrong", wrong);
}

TEST_F(DamagedFiles, EveryByteOfAnIndexIsCheckedByAllWhoReadIt) {
  for (const auto& [begin, end] : indices_) {
    for (auto at = begin; at < end; ++at) {
      const auto name = with_changed_byte(at, static_cast<char>(1 << at % 8));
      EXPECT_FALSE(read_all(name, "")) << "byte " << at - begin;
      EXPECT_FALSE(can_be_summarised(name)) << "byte " << at - begin;
      EXPECT_FALSE(read_canonical(name)) << "byte " << at - begin;
      EXPECT_THROW(write_views(name, Config()), Error) << "byte " << at - begin;
      std::filesystem::remove(name);
    }
  }
}

TEST_F(DamagedFiles, ADamagedIndexIsNamedWithItsFile) {
  const auto name = with_changed_byte(indices_[0].end - 1, 1);
  EXPECT_FALSE(read_all(name, ""));
  EXPECT_THAT(said_, HasSubstr("The index /_slablog/index0 of '" + name + "' is damaged"));
}

TEST_F(DamagedFiles, WhatIsMissingOfALogIsNamed) {
  const auto without = [&](const std::function<void(hid_t)>& change) {
    std::filesystem::copy_file(path("a.h5"), path("b.h5"),
                               std::filesystem::copy_options::overwrite_existing);
    change(open_to_change("b.h5").get());
    EXPECT_FALSE(read_all(path("b.h5"), ""));
    return said_;
  };
  const auto link = [](const char* name) {
    return [name](hid_t file) { EXPECT_GE(H5Ldelete(file, name, H5P_DEFAULT), 0); };
  };
  const auto attribute = [](const char* name) {
    return [name](hid_t file) {
      EXPECT_GE(H5Adelete_by_name(file, "/_slablog", name, H5P_DEFAULT), 0);
    };
  };
  for (const char* name : {"/_slablog/index0", "/_slablog/index1", "/_slablog/d0.s1"}) {
    EXPECT_THAT(without(link(name)), HasSubstr("has lost " + std::string(name)));
  }
  for (const char* name : {"version", "state", "datasets", "flushes"}) {
    EXPECT_THAT(without(attribute(name)),
                HasSubstr("has lost the attribute '" + std::string(name) + "' of /_slablog"));
  }
  EXPECT_THAT(without(link("/_slablog")), HasSubstr("has lost /_slablog/d0.view"));
}

TEST_F(DamagedFiles, AnIndexThatTheLogDoesNotCountIsAnError) {
  {
    const auto file = open_to_change("a.h5");
    EXPECT_GE(H5Lcreate_hard(file.get(), "/_slablog/index0", file.get(), "/_slablog/index2",
                             H5P_DEFAULT, H5P_DEFAULT),
              0);
  }
  EXPECT_FALSE(read_all(path("a.h5"), ""));
  EXPECT_THAT(said_, HasSubstr("has /_slablog/index2, but its log counts 2 flushes"));
}

TEST_F(DamagedFiles, ALogOfVersion1IsReadAndHasChecksumsFromWhenItIsWritten) {
  make_version_1("a.h5");
  EXPECT_EQ(read_all(path("a.h5"), ""), right_);
  EXPECT_EQ(read_canonical(path("a.h5")), right_);
  {
    const auto file = handle(open_with(path("a.h5"), H5F_ACC_RDWR, "").release(), H5Fclose);
    EXPECT_GE(write_n(opened(file, "d"), {{0, 0}}, {{1, 2}}, {70, 71}), 0);
  }
  auto changed = *right_;
  changed[3] = 70;
  changed[4] = 71;
  EXPECT_EQ(read_all(path("a.h5"), ""), changed);
  EXPECT_EQ(read_all(path("a.h5"), nullptr), changed);
  const auto file = open_plainly("a.h5");
  EXPECT_GT(H5Aexists_by_name(file.get(), "/_slablog/index2", "checksum", H5P_DEFAULT), 0);
  EXPECT_GT(H5Aexists_by_name(file.get(), "/_slablog", "flushes", H5P_DEFAULT), 0);
}

/// One whose index has marks, so that a part of it is read where a part is enough.
class DamagedMarks : public DamagedFiles {
 protected:
  static constexpr hsize_t runs = 40'000;  // three blocks

  void SetUp() override {
    if (ranks() > 1) GTEST_SKIP() << "on one rank";
    {
      const auto file = create_alone("a.h5");
      const auto d = dataset(file, "d", {3 * runs});
      std::vector<Dims> starts;
      for (hsize_t i = 0; i < runs; ++i) starts.push_back({3 * i});
      ASSERT_GE(write_n(d, starts, std::vector<Dims>(runs, Dims{1}), std::vector<int>(runs, 5)), 0);
    }
    bytes_ = content_of(path("a.h5"));
    index_ = lines().at("index0");
    marks_ = lines().at("marks0");
  }

  /// Elements from `first` on, or nothing where any call fails.
  std::optional<std::vector<int>> part(const std::string& name, hsize_t first,
                                       hsize_t count) const {
    const auto file = open_with(name, H5F_ACC_RDONLY, "");
    if (!file.is_open()) return std::nullopt;
    const hdf5::Handle d(H5Dopen2(file.get(), "d", H5P_DEFAULT), H5Dclose);
    if (!d.is_open()) said_ = reason();
    if (!d.is_open()) return std::nullopt;
    hsize_t* start = &first;
    hsize_t* length = &count;
    std::vector<int> values(count, -1);
    if (H5Dread_n(d.get(), H5T_NATIVE_INT, 1, &start, &length, H5P_DEFAULT, values.data()) < 0) {
      said_ = reason();
      return std::nullopt;
    }
    return values;
  }
  std::optional<std::vector<int>> whole(const std::string& name) const {
    return part(name, 0, 3 * runs);
  }

  static std::vector<int> right(hsize_t first, hsize_t count) {
    std::vector<int> values;
    for (auto at = first; at < first + count; ++at) values.push_back(at % 3 == 0 ? 5 : 0);
    return values;
  }

  Range index_{};
  Range marks_{};
};

TEST_F(DamagedMarks, WhatIsReadOfAnIndexIsChecked) {
  const auto name = with_changed_byte(index_.end - 1, 1);
  EXPECT_EQ(part(name, 0, 1000), right(0, 1000));
  EXPECT_FALSE(part(name, 3 * runs - 1000, 1000));
  EXPECT_THAT(said_, HasSubstr("The index /_slablog/index0 of '" + name + "' is damaged"));
}

TEST_F(DamagedMarks, EachByteIsCheckedByAllWhoReadTheWhole) {
  EXPECT_EQ(whole(path("a.h5")), right(0, 3 * runs));
  const auto expect_refused = [&](std::uint64_t at) {
    const auto name = with_changed_byte(at, static_cast<char>(1 << at % 8));
    // What comes before the runs of an entry is in the marks, too, and is read there.
    EXPECT_TRUE(!whole(name) || at == index_.begin) << "byte " << at;
    EXPECT_FALSE(can_be_summarised(name)) << "byte " << at;
    EXPECT_FALSE(read_canonical(name)) << "byte " << at;
    EXPECT_THROW(write_views(name, Config()), Error) << "byte " << at;
    std::filesystem::remove(name);
  };
  for (auto at = index_.begin; at < index_.end; at += 1499) expect_refused(at);
  for (auto at = marks_.begin; at < marks_.end; at += 17) expect_refused(at);
}

TEST_F(DamagedMarks, ALogWithoutThemIsRead) {
  EXPECT_GE(H5Ldelete(open_to_change("a.h5").get(), "/_slablog/marks0", H5P_DEFAULT), 0);
  EXPECT_EQ(whole(path("a.h5")), right(0, 3 * runs));
}

TEST_F(DamagedMarks, WithoutTheirChecksumTheyAreRefused) {
  EXPECT_GE(
      H5Adelete_by_name(open_to_change("a.h5").get(), "/_slablog/marks0", "checksum", H5P_DEFAULT),
      0);
  EXPECT_FALSE(whole(path("a.h5")));
  EXPECT_THAT(said_, HasSubstr("/_slablog/marks0"));
}

/// Written so scattered that the view maps what nobody wrote, too.
class Holes : public DamagedFiles {
 protected:
  static constexpr hsize_t runs = 1500;

  void SetUp() override {
    if (ranks() > 1) GTEST_SKIP() << "on one rank";
    const auto file = create_alone("a.h5");
    const auto d = dataset(file, "d", {3 * runs});
    std::vector<Dims> starts;
    for (hsize_t i = 0; i < runs; ++i) starts.push_back({3 * i});
    ASSERT_GE(write_n(d, starts, std::vector<Dims>(runs, Dims{1}), std::vector<int>(runs, 5)), 0);
  }

  /// One element, without the connector.
  herr_t write_plainly(hsize_t at, int value) const {
    const auto file = open_to_change("a.h5");
    const auto d = opened(file, "d");
    const hsize_t one = 1;
    const auto memory = handle(H5Screate_simple(1, &one, nullptr), H5Sclose);
    const auto space = handle(H5Dget_space(d.get()), H5Sclose);
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &at, nullptr, &one, nullptr);
    const auto status =
        H5Dwrite(d.get(), H5T_NATIVE_INT, memory.get(), space.get(), H5P_DEFAULT, &value);
    said_ = reason();
    return status;
  }

  std::vector<int> first_three(const char* options) const {
    const auto file = handle(open_with(path("a.h5"), H5F_ACC_RDONLY, options).release(), H5Fclose);
    auto values = all(opened(file, "d"));
    values.resize(3);
    return values;
  }
};

TEST_F(Holes, WhatNobodyWroteIsFillValueAndCannotBeWrittenWithoutTheConnector) {
  EXPECT_THAT(first_three(nullptr), ElementsAre(5, 0, 0));
  EXPECT_GE(write_plainly(0, 8), 0);
  EXPECT_LT(write_plainly(1, 9), 0);
  EXPECT_THAT(said_, HasSubstr("unmapped portion"));
  EXPECT_THAT(first_three(nullptr), ElementsAre(8, 0, 0));
  EXPECT_THAT(first_three(""), ElementsAre(8, 0, 0));
}

// Former views had a dataset there that could be written.
TEST_F(Holes, ThoseThatWereWrittenWithoutTheConnectorAreNotTakenForFillValue) {
  {
    const auto file = open_to_change("a.h5");
    EXPECT_GE(H5Ldelete(file.get(), "/_slablog/d0.holes", H5P_DEFAULT), 0);
    dataset(file, "/_slablog/d0.holes", {3 * runs});
  }
  EXPECT_THAT(first_three(""), ElementsAre(5, 0, 0));
  EXPECT_GE(write_plainly(1, 9), 0);
  EXPECT_THAT(first_three(nullptr), ElementsAre(5, 9, 0));
  const auto file = handle(open_with(path("a.h5"), H5F_ACC_RDONLY, "").release(), H5Fclose);
  EXPECT_FALSE(hdf5::Handle(H5Dopen2(file.get(), "d", H5P_DEFAULT), H5Dclose).is_open());
  EXPECT_THAT(reason(), HasSubstr("written without slablog"));
}

}  // namespace
}  // namespace slabmark::slablog
