// The same random operations through the connector and on HDF5's own datasets, which must agree
// after each. Each rank keeps its own native file in memory: with its own writes at once, and those
// of all since the last flush applied at the next, in the order in which they were made. Where
// nobody wrote to a dataset without a fill value anything may be: a dataset of marks says where.
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "accel/hdf5_connector/config.hpp"
#include "accel/hdf5_connector/to_canonical/canonical.hpp"
#include "log_file_fixture.hpp"

namespace slabmark::slablog {
namespace {

/// On each of 1, 2, 4 and 7 ranks, where SLABLOG_OPERATIONS does not say how many.
int operations(int otherwise) {
  const char* given = std::getenv("SLABLOG_OPERATIONS");
  return given != nullptr ? std::atoi(given) : otherwise;
}

// A filter that changes every byte and adds one; of a chunk that begins with an odd byte it makes
// nothing. With the byte more no two masks have the same size: where they have, HDF5 2.2.0 keeps
// the mask of before (tests/hdf5_faults/mask_kept.c).
constexpr H5Z_filter_t even_filter = 301;

std::size_t even(unsigned flags, std::size_t, const unsigned*, std::size_t bytes, std::size_t* room,
                 void** buffer) {
  const bool back = (flags & H5Z_FLAG_REVERSE) != 0;
  if (!back && (*static_cast<unsigned char*>(*buffer) & 1) != 0) return 0;
  const std::size_t made = back ? bytes - 1 : bytes + 1;
  if (made > *room) {
    *buffer = H5resize_memory(*buffer, made);
    *room = made;
  }
  auto* const first = static_cast<unsigned char*>(*buffer);
  std::for_each(first, first + std::min(bytes, made), [](unsigned char& byte) { byte ^= 0xaa; });
  if (!back) first[bytes] = 0;
  return made;
}

struct Written {
  int rank;
  std::size_t dataset;
  hid_t type;
  hdf5::Handle memory;
  hdf5::Handle file;
  std::vector<char> data;
};

class Differential : public LogFileTest {
 protected:
  using Random = std::mt19937_64;

  static std::uint64_t below(Random& random, std::uint64_t n) { return random() % n; }

  static hid_t any_type(Random& random) {
    const hid_t types[] = {H5T_NATIVE_INT, H5T_NATIVE_SHORT, H5T_NATIVE_LLONG, H5T_NATIVE_DOUBLE,
                           H5T_STD_I32BE};
    return types[below(random, 5)];
  }

  hdf5::Handle native_file() const {
    const auto list = access(nullptr, false);
    H5Pset_fapl_core(list.get(), 1 << 16, false);
    return handle(H5Fcreate("oracle", H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), H5Fclose);
  }

  static void set_compression(Random& random, hid_t creation) {
    if (below(random, 2) == 0) {
      H5Pset_deflate(creation, 1);
    } else {
      register_filter(even_filter, "even", even);
      ASSERT_GE(H5Pset_filter(creation, even_filter, H5Z_FLAG_OPTIONAL, 0, nullptr), 0);
    }
  }

  void make_datasets(Random& random, const hdf5::Handle& log, const hdf5::Handle& native) {
    const auto n = 1 + below(random, 3);
    for (std::size_t i = 0; i < n; ++i) {
      Dims dims(1 + below(random, 3));
      for (auto& length : dims) length = 1 + below(random, 12);
      const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      const Dims chunk(dims.size(), 4);
      const Dims most(dims.size(), H5S_UNLIMITED);
      const bool chunked = kind_ != Kind::contiguous;
      if (chunked) H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data());
      if (kind_ == Kind::filtered && below(random, 2) == 0) H5Pset_shuffle(creation.get());
      if (kind_ == Kind::filtered) set_compression(random, creation.get());
      const int fill = static_cast<int>(below(random, 3));
      const bool filled = !leaves_undefined_ || below(random, 3) > 0;
      H5Pset_fill_value(creation.get(), H5T_NATIVE_INT, filled ? &fill : nullptr);
      const auto type = any_type(random);
      names_.push_back(fmt::format("d{}", i));
      const auto make = [&](const hdf5::Handle& file) {
        return dataset(file, names_.back().c_str(), dims, type, creation.get(),
                       chunked ? most : Dims());
      };
      logged_.push_back(make(log));
      H5Premove_filter(creation.get(), H5Z_FILTER_ALL);
      H5Pset_fill_value(creation.get(), H5T_NATIVE_INT, &fill);
      oracle_.push_back(make(native));
      const char known = filled ? 1 : 0;
      H5Pset_fill_value(creation.get(), H5T_NATIVE_CHAR, &known);
      known_.push_back(dataset(native, (names_.back() + " known").c_str(), dims, H5T_NATIVE_CHAR,
                               creation.get(), chunked ? most : Dims()));
      extents_.push_back(dims);
      if (!filled) write_first(i);
    }
  }

  /// HDF5 refuses to read what has neither a fill value nor space.
  void write_first(std::size_t which) {
    const hsize_t one = 1;
    const auto& dims = extents_[which];
    Written write{0, which, H5T_NATIVE_INT, {}, {}, std::vector<char>(sizeof(int), 1)};
    write.memory = handle(H5Screate_simple(1, &one, nullptr), H5Sclose);
    write.file =
        handle(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
    H5Sselect_elements(write.file.get(), H5S_SELECT_SET, 1, Dims(dims.size(), 0).data());
    write.data = {1, 0, 0, 0};
    if (rank() == 0) {
      ASSERT_GE(H5Dwrite(logged_[which].get(), write.type, write.memory.get(), write.file.get(),
                         H5P_DEFAULT, write.data.data()),
                0);
    }
    apply(write);
    ASSERT_GE(H5Fflush(file_, H5F_SCOPE_GLOBAL), 0);
  }

  void random_box(Random& random, hid_t space, const Dims& dims, H5S_seloper_t how) {
    Dims start(dims.size());
    Dims stride(dims.size());
    Dims count(dims.size());
    Dims block(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d) {
      start[d] = below(random, dims[d]);
      block[d] = 1 + below(random, std::min<hsize_t>(3, dims[d] - start[d]));
      stride[d] = block[d] + below(random, 3);
      count[d] = 1 + below(random, (dims[d] - start[d] - block[d]) / stride[d] + 1);
    }
    ASSERT_GE(
        H5Sselect_hyperslab(space, how, start.data(), stride.data(), count.data(), block.data()),
        0);
  }

  hdf5::Handle random_selection(Random& random, const Dims& dims) {
    auto space =
        handle(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
    switch (below(random, 8)) {
      case 0:
        break;  // all
      case 1:
        H5Sselect_none(space.get());
        break;
      case 2: {
        // Fewer than the dataset has: as many, of which some are twice, are taken by HDF5 for all
        // of it, and what they leave out has no fill value then (2.2.0, contiguous datasets).
        Dims points;
        const auto all = std::accumulate(dims.begin(), dims.end(), hsize_t{1}, std::multiplies<>());
        const auto n = std::min(1 + below(random, 5), std::max<hsize_t>(1, all - 1));
        for (std::size_t i = 0; i < n; ++i) {
          for (const auto length : dims) points.push_back(below(random, length));
        }
        H5Sselect_elements(space.get(), H5S_SELECT_SET, n, points.data());
        break;
      }
      case 3:
      case 4:
        random_box(random, space.get(), dims, H5S_SELECT_SET);
        random_box(random, space.get(), dims, H5S_SELECT_XOR);
        break;
      default:
        random_box(random, space.get(), dims, H5S_SELECT_SET);
    }
    return space;
  }

  /// A line of memory in which every `step`-th element takes part.
  static hdf5::Handle random_memory(Random& random, hsize_t elements) {
    const hsize_t step = 1 + below(random, 2);
    const hsize_t length = std::max<hsize_t>(1, elements * step);
    auto space = handle(H5Screate_simple(1, &length, nullptr), H5Sclose);
    const hsize_t start = 0;
    if (elements == 0) {
      H5Sselect_none(space.get());
    } else if (step > 1) {
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, &step, &elements, nullptr);
    }
    return space;
  }

  static std::vector<char> buffer_for(const hdf5::Handle& memory, hid_t type) {
    return std::vector<char>(static_cast<std::size_t>(H5Sget_simple_extent_npoints(memory.get())) *
                             H5Tget_size(type));
  }

  void fill_buffer(Random& random, std::vector<char>& data, hid_t type) const {
    // Small numbers, which every type holds.
    std::vector<int> numbers(data.size() / H5Tget_size(type));
    for (auto& number : numbers) number = static_cast<int>(below(random, 30000));
    std::vector<char> converted(numbers.size() * 8);
    std::copy_n(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int),
                converted.data());
    H5Tconvert(H5T_NATIVE_INT, type, numbers.size(), converted.data(), nullptr, H5P_DEFAULT);
    std::copy_n(converted.data(), data.size(), data.data());
  }

  void write(Random& random) {
    Written write;
    write.rank = any_writer(random);
    write.dataset = below(random, logged_.size());
    take_turn(write.rank, write.dataset);
    write.type = any_type(random);
    write.file = random_selection(random, extents_[write.dataset]);
    write.memory =
        random_memory(random, static_cast<hsize_t>(H5Sget_select_npoints(write.file.get())));
    write.data = buffer_for(write.memory, write.type);
    fill_buffer(random, write.data, write.type);
    if (write.rank == rank()) {
      ASSERT_GE(H5Dwrite(logged_[write.dataset].get(), write.type, write.memory.get(),
                         write.file.get(), H5P_DEFAULT, write.data.data()),
                0);
      apply(write);
    }
    epoch_.push_back(std::move(write));
  }

  void write_boxes(Random& random) {
    const auto who = any_writer(random);
    const auto which = below(random, logged_.size());
    take_turn(who, which);
    const auto& dims = extents_[which];
    const auto n = below(random, 6);
    std::vector<Dims> starts;
    std::vector<Dims> counts;
    std::vector<int> values;
    for (std::size_t i = 0; i < n; ++i) {
      Dims start(dims.size());
      Dims count(dims.size());
      hsize_t elements = 1;
      for (std::size_t d = 0; d < dims.size(); ++d) {
        start[d] = below(random, dims[d]);
        count[d] = below(random, 4) == 0 ? 1 : 1 + below(random, dims[d] - start[d]);
        elements *= count[d];
      }
      Written write;
      write.rank = who;
      write.dataset = which;
      write.type = H5T_NATIVE_INT;
      write.file =
          handle(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
      H5Sselect_hyperslab(write.file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                          nullptr);
      write.memory = handle(H5Screate_simple(1, &elements, nullptr), H5Sclose);
      write.data = buffer_for(write.memory, write.type);
      fill_buffer(random, write.data, write.type);
      const auto* numbers = reinterpret_cast<const int*>(write.data.data());
      values.insert(values.end(), numbers, numbers + elements);
      starts.push_back(start);
      counts.push_back(count);
      if (who == rank()) apply(write);
      epoch_.push_back(std::move(write));
    }
    if (who == rank()) {
      ASSERT_GE(write_n(logged_[which], starts, counts, values), 0);
    }
  }

  void apply(const Written& write) {
    ASSERT_GE(H5Dwrite(oracle_[write.dataset].get(), write.type, write.memory.get(),
                       write.file.get(), H5P_DEFAULT, write.data.data()),
              0);
    const auto elements =
        static_cast<std::size_t>(H5Sget_simple_extent_npoints(write.memory.get()));
    ASSERT_GE(H5Dwrite(known_[write.dataset].get(), H5T_NATIVE_CHAR, write.memory.get(),
                       write.file.get(), H5P_DEFAULT, std::vector<char>(elements, 1).data()),
              0);
  }

  /// Often the last one again, for ranks wait where another one's turn comes.
  int any_writer(Random& random) {
    if (below(random, 3) == 0) {
      writer_ = static_cast<int>(below(random, static_cast<std::uint64_t>(ranks())));
    }
    return writer_;
  }

  /// A rank writes after another one has written the same dataset.
  void take_turn(int who, std::size_t which) {
    const auto [last, is_new] = writers_.try_emplace(which, who);
    if (last->second == who) return;
    world_.barrier();
    writers_ = {{which, who}};
  }

  void everyone_applies() {
    for (const auto& write : epoch_) apply(write);
    epoch_.clear();
    writers_.clear();
  }

  void read(Random& random) {
    const auto who = static_cast<int>(below(random, static_cast<std::uint64_t>(ranks())));
    const auto which = below(random, logged_.size());
    const auto type = any_type(random);
    const auto file = random_selection(random, extents_[which]);
    const auto memory =
        random_memory(random, static_cast<hsize_t>(H5Sget_select_npoints(file.get())));
    auto expected = buffer_for(memory, type);
    fill_buffer(random, expected, type);
    if (who != rank()) return;
    auto got = expected;
    ASSERT_GE(
        H5Dread(oracle_[which].get(), type, memory.get(), file.get(), H5P_DEFAULT, expected.data()),
        0);
    ASSERT_GE(
        H5Dread(logged_[which].get(), type, memory.get(), file.get(), H5P_DEFAULT, got.data()), 0);
    const auto size = H5Tget_size(type);
    std::vector<char> known(got.size() / size, 1);
    ASSERT_GE(H5Dread(known_[which].get(), H5T_NATIVE_CHAR, memory.get(), file.get(), H5P_DEFAULT,
                      known.data()),
              0);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (known[i / size] == 0) got[i] = expected[i];
    }
    ASSERT_EQ(got, expected);
  }

  void reshape(Random& random) {
    const auto which = below(random, logged_.size());
    auto dims = extents_[which];
    dims[below(random, dims.size())] = 1 + below(random, 14);
    // What ranks wrote before is applied before what is cut, as the connector's flush does.
    everyone_applies();
    H5Fflush(file_, H5F_SCOPE_GLOBAL);
    ASSERT_GE(H5Dset_extent(oracle_[which].get(), dims.data()), 0);
    ASSERT_GE(H5Dset_extent(known_[which].get(), dims.data()), 0);
    ASSERT_GE(H5Dset_extent(logged_[which].get(), dims.data()), 0);
    extents_[which] = dims;
  }

  void expect_same(std::size_t which, const hdf5::Handle& other, const char* where) {
    auto got = all(other);
    const auto expected = all(oracle_[which]);
    const auto known = all(known_[which]);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (known[i] == 0) got[i] = expected[i];
    }
    ASSERT_EQ(got, expected) << where << " " << names_[which];
  }

  void run(Layout layout, std::vector<const char*> options, int most);
  void check_closed(bool is_log);

  /// Of the datasets of a file. In a log all is the same, and filters are refused.
  enum class Kind { contiguous, chunked, filtered };
  Kind kind_ = Kind::chunked;
  bool leaves_undefined_ = false;  ///< some have no fill value; a log shows zeros there
  hid_t file_ = H5I_INVALID_HID;
  std::vector<std::string> names_;
  std::vector<hdf5::Handle> logged_;
  std::vector<hdf5::Handle> oracle_;
  std::vector<hdf5::Handle> known_;  ///< 1 where the oracle holds more than chance
  std::vector<Dims> extents_;
  std::vector<Written> epoch_;
  int writer_ = 0;
  std::map<std::size_t, int> writers_;  ///< of datasets, since the last flush or barrier
};

void Differential::check_closed(bool is_log) {
  if (is_log) write_canonical(world_, path("a.h5"), path("b.h5"));
  {
    const auto plain = open_plainly("a.h5");
    const auto again = open("a.h5");
    const auto canonical = open_plainly(is_log ? "b.h5" : "a.h5");
    EXPECT_EQ(H5Lexists(plain.get(), "/_slablog", H5P_DEFAULT), is_log ? 1 : 0);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      expect_same(i, opened(plain, names_[i].c_str()), "without the connector");
      expect_same(i, opened(again, names_[i].c_str()), "through the connector");
      expect_same(i, opened(canonical, names_[i].c_str()), "in canonical form");
    }
  }
  world_.barrier();
  if (is_log && world_.is_root()) std::filesystem::remove(path("b.h5"));
}

void Differential::run(Layout layout, std::vector<const char*> options, int most) {
  const auto any_options = [&](Random& random) { return options[below(random, options.size())]; };
  const char* given = std::getenv("SLABLOG_SEED");
  std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  seed = world_.broadcast(seed);
  if (world_.is_root()) std::printf("SLABLOG_SEED=%llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  leaves_undefined_ = layout == Layout::canonical;
  for (int done = 0; done < most && !HasFatalFailure();) {
    const auto native = native_file();
    if (layout == Layout::canonical) kind_ = static_cast<Kind>(below(random, 3));
    auto log = create("a.h5", any_options(random));
    file_ = log.get();
    make_datasets(random, log, native);
    for (auto left = 20 + below(random, 160); left > 0 && !HasFatalFailure(); --left, ++done) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " operation " + std::to_string(done));
      switch (below(random, 20)) {
        case 0:
          ASSERT_GE(H5Fflush(log.get(), H5F_SCOPE_GLOBAL), 0);
          everyone_applies();
          break;
        case 1:
          if (kind_ != Kind::contiguous) reshape(random);
          break;
        case 2: {  // close, and go on
          logged_.clear();
          log = {};
          everyone_applies();
          log = open("a.h5", H5F_ACC_RDWR, any_options(random));
          file_ = log.get();
          for (const auto& name : names_) logged_.push_back(opened(log, name.c_str()));
          break;
        }
        case 3:
        case 4:
        case 5:
          write_boxes(random);
          break;
        case 6:
        case 7:
        case 8:
        case 9:
        case 10:
          read(random);
          break;
        default:
          write(random);
      }
    }
    logged_.clear();
    log = {};
    everyone_applies();
    SCOPED_TRACE("seed " + std::to_string(seed) + " after operation " + std::to_string(done));
    check_closed(layout == Layout::log);
    oracle_.clear();
    known_.clear();
    names_.clear();
    extents_.clear();
  }
}

TEST_F(Differential, RandomOperationsLeaveWhatNativeHdf5Leaves) {
  run(Layout::log, {"", "buffer=200", "view=materialise", "cap=3", "view=vds"}, operations(1500));
}

TEST_F(Differential, RandomOperationsInTheCanonicalLayoutLeaveWhatNativeHdf5Leaves) {
  run(Layout::canonical, {"layout=canonical", "layout=canonical;buffer=200"}, operations(500));
}

}  // namespace
}  // namespace slabmark::slablog
