// More than 2^31 elements and bytes in one call, where SLABMARK_BIG_TESTS names a folder for them.
#include <algorithm>
#include <memory>
#include <ostream>

#include "accel/hdf5_connector/to_canonical/canonical.hpp"
#include "log_file_fixture.hpp"

namespace slabmark::slablog {
namespace {

constexpr hsize_t slabs = 2304;
constexpr hsize_t step = (hsize_t{1} << 20) + 1;
constexpr hsize_t most_elements = slabs * step;  // elements of a byte, of rank 0: 2.25 GiB
constexpr hsize_t few = 1000;                    // of the last rank

struct LargeCase {
  const char* name;
  const char* options;
  bool boxes;  // by H5Dwrite_n, with an element left out after each hyperslab
};

void PrintTo(const LargeCase& one, std::ostream* out) { *out << one.name; }

const char* big_folder() { return std::getenv("SLABMARK_BIG_TESTS"); }

class LargeLogs : public LogFileTest, public testing::WithParamInterface<LargeCase> {
 protected:
  using Elements = std::unique_ptr<signed char[]>;

  LargeLogs()
      : LogFileTest(big_folder() != nullptr ? big_folder()
                                            : std::filesystem::temp_directory_path()) {}

  void SetUp() override {
    if (big_folder() == nullptr) {
      GTEST_SKIP() << "SLABMARK_BIG_TESTS names no folder with 8 GiB of space";
    }
  }

  bool is_last() const { return rank() == ranks() - 1; }

  static bool left_out(hsize_t offset) {
    return GetParam().boxes && offset < most_elements && offset % step == step - 1;
  }

  static signed char value_of(hsize_t offset) {
    return static_cast<signed char>((offset * 0x9E3779B97F4A7C15) >> 57);
  }

  /// How many of the elements from `first` on are not what they should be.
  static hsize_t wrong(const Elements& elements, hsize_t first, hsize_t count) {
    hsize_t found = 0;
    for (hsize_t i = 0; i < count; ++i) {
      const auto offset = first + i;
      found += elements[i] != (left_out(offset) ? 0 : value_of(offset));
    }
    return found;
  }

  static hsize_t wrong_of_all(const hdf5::Handle& dataset) {
    const auto elements = std::make_unique_for_overwrite<signed char[]>(most_elements + few);
    std::fill_n(elements.get(), most_elements + few, -1);
    EXPECT_GE(
        H5Dread(dataset.get(), H5T_NATIVE_SCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.get()), 0);
    return wrong(elements, 0, most_elements + few);
  }

  static hdf5::Handle line(hsize_t length) {
    return handle(H5Screate_simple(1, &length, nullptr), H5Sclose);
  }

  /// Calls move(memory, file): the spaces of `count` elements from `first` on.
  template <typename Move>
  static void in_one_piece(hsize_t first, hsize_t count, const Move& move) {
    const auto memory = line(count);
    const auto file = line(most_elements + few);
    H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr);
    EXPECT_GE(move(memory.get(), file.get()), 0);
  }

  /// Calls move(starts, counts): all hyperslabs of rank 0.
  template <typename Move>
  static void in_boxes(const Move& move) {
    Dims numbers(slabs);
    Dims sizes(slabs, step - 1);
    std::vector<hsize_t*> starts;
    std::vector<hsize_t*> counts;
    for (hsize_t i = 0; i < slabs; ++i) {
      numbers[i] = i * step;
      starts.push_back(&numbers[i]);
      counts.push_back(&sizes[i]);
    }
    EXPECT_GE(move(starts.data(), counts.data()), 0);
  }

  static void write_most(const hdf5::Handle& dataset) {
    const auto elements = std::make_unique_for_overwrite<signed char[]>(most_elements);
    hsize_t filled = 0;
    for (hsize_t offset = 0; offset < most_elements; ++offset) {
      if (!left_out(offset)) elements[filled++] = value_of(offset);
    }
    if (GetParam().boxes) {
      in_boxes([&](hsize_t** starts, hsize_t** counts) {
        return H5Dwrite_n(dataset.get(), H5T_NATIVE_SCHAR, slabs, starts, counts, H5P_DEFAULT,
                          elements.get());
      });
    } else {
      write_piece(dataset, 0, most_elements, elements);
    }
  }

  static void write_piece(const hdf5::Handle& dataset, hsize_t first, hsize_t count,
                          const Elements& elements) {
    in_one_piece(first, count, [&](hid_t memory, hid_t file) {
      return H5Dwrite(dataset.get(), H5T_NATIVE_SCHAR, memory, file, H5P_DEFAULT, elements.get());
    });
  }

  static void write_few(const hdf5::Handle& dataset) {
    const auto elements = std::make_unique<signed char[]>(few);
    for (hsize_t i = 0; i < few; ++i) elements[i] = value_of(most_elements + i);
    write_piece(dataset, most_elements, few, elements);
  }

  /// What rank 0 reads of its own by the call with which it wrote.
  static hsize_t wrong_of_most(const hdf5::Handle& dataset) {
    const auto elements = std::make_unique_for_overwrite<signed char[]>(most_elements);
    std::fill_n(elements.get(), most_elements, -1);
    if (!GetParam().boxes) {
      in_one_piece(0, most_elements, [&](hid_t memory, hid_t file) {
        return H5Dread(dataset.get(), H5T_NATIVE_SCHAR, memory, file, H5P_DEFAULT, elements.get());
      });
      return wrong(elements, 0, most_elements);
    }
    in_boxes([&](hsize_t** starts, hsize_t** counts) {
      return H5Dread_n(dataset.get(), H5T_NATIVE_SCHAR, slabs, starts, counts, H5P_DEFAULT,
                       elements.get());
    });
    hsize_t found = 0;
    hsize_t at = 0;
    for (hsize_t offset = 0; offset < most_elements; ++offset) {
      if (!left_out(offset)) found += elements[at++] != value_of(offset);
    }
    return found;
  }
};

TEST_P(LargeLogs, HoldMoreThan2GiBOfOneCall) {
  {
    const auto file = create("a.h5", GetParam().options);
    const auto d = dataset(file, "d", {most_elements + few}, H5T_NATIVE_SCHAR);
    if (rank() == 0) write_most(d);
    if (is_last()) write_few(d);
    if (rank() == 0) {
      EXPECT_EQ(wrong_of_most(d), 0) << "before a flush";
    }
  }
  {
    const auto file = open("a.h5");
    const auto d = opened(file, "d");
    if (is_last()) {
      EXPECT_EQ(wrong_of_all(d), 0) << "through the connector";
    }
  }
  write_canonical(world_, path("a.h5"), path("b.h5"));
  if (rank() == 0) {
    for (const char* name : {"a.h5", "b.h5"}) {
      const auto file = open_plainly(name);
      EXPECT_EQ(wrong_of_all(opened(file, "d")), 0) << name << " without the connector";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Options, LargeLogs,
    testing::Values(LargeCase{"Spilled", "", false}, LargeCase{"InMemory", "buffer=4G", false},
                    LargeCase{"Collective", "buffer=4G;write=collective", false},
                    LargeCase{"Materialised", "view=materialise", false},
                    LargeCase{"BoxesSpilled", "buffer=64M", true},
                    LargeCase{"BoxesCollective", "buffer=4G;write=collective", true},
                    LargeCase{"BoxesMaterialised", "cap=100", true}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace slabmark::slablog
