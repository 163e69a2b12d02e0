#include "collective/filters/filtered_flush.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>

#include <gmock/gmock.h>

#include "collective/exchange/chunk_order.hpp"
#include "core/base/error.hpp"
#include "scratch.hpp"
#include "storage/hdf5/chunks.hpp"
#include "storage/hdf5/handle.hpp"
#include "storage/hdf5/placeholder.hpp"
#include "storage/mpiio/file.hpp"

namespace slabmark {
namespace {

using hdf5::Handle;
using hdf5::own;

struct Case {
  const char* name;
  Extent extent, chunk;
  bool edges_unfiltered = false;
};

/// One dataset of doubles in a file that the root has open in HDF5, written by all ranks.
class OneDataset : public ChunkStore {
 public:
  OneDataset(const Comm& comm, const std::string& path, const Case& chosen, double fill)
      : comm_(comm), path_(path), grid_(chosen.extent, chosen.chunk) {
    hdf5::silence();
    creation_ = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate", "");
    const std::vector<hsize_t> chunk(chosen.chunk.begin(), chosen.chunk.end());
    H5Pset_chunk(creation_.get(), static_cast<int>(chunk.size()), chunk.data());
    H5Pset_shuffle(creation_.get());
    H5Pset_deflate(creation_.get(), 1);
    H5Pset_fill_value(creation_.get(), H5T_NATIVE_DOUBLE, &fill);
    if (chosen.edges_unfiltered) {
      H5Pset_chunk_opts(creation_.get(), H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
    }
    if (comm.is_root()) open_in_hdf5(chosen);
    comm.barrier();
    file_ = mpiio::File::open(comm.get(), path, mpiio::File::Access::write, {});
  }

  void look_up(std::vector<FilteredChunk>& chunks) override {
    by_root(comm_, chunks, [&](std::span<FilteredChunk> all) {
      looked_up += all.size();
      std::map<Extent, hdf5::StoredChunk> found;
      for (const auto& one : hdf5::stored_chunks(dataset_.get(), path_)) found[one.first] = one;
      for (FilteredChunk& chunk : all) {
        const auto one = found.find(first_of(chunk));
        if (one == found.end()) continue;
        chunk = {chunk.place, one->second.address, one->second.bytes, one->second.mask};
      }
    });
  }

  void allocate(std::vector<FilteredChunk>& chunks) override {
    by_root(comm_, chunks, [&](std::span<FilteredChunk> all) {
      std::vector<hdf5::StoredChunk> stored;
      for (const FilteredChunk& chunk : all) {
        stored.push_back({first_of(chunk), chunk.bytes, static_cast<std::uint32_t>(chunk.mask), 0});
      }
      hdf5::allocate_chunks(dataset_.get(), stored, path_);
      for (std::size_t i = 0; i < all.size(); ++i) all[i].address = stored[i].address;
    });
  }

  void read(std::uint64_t address, std::byte* memory, std::uint64_t bytes) override {
    file_.read_at(address, {memory, static_cast<int>(bytes), MPI_BYTE, bytes});
  }
  void write(std::uint64_t address, std::byte* memory, std::uint64_t bytes) override {
    file_.write_at(address, {memory, static_cast<int>(bytes), MPI_BYTE, bytes});
  }

  void close() {
    file_.close();
    dataset_ = {};
    in_hdf5_ = {};
    comm_.barrier();
  }

  const ChunkGrid& grid() const { return grid_; }
  hid_t creation() const { return creation_.get(); }

  std::size_t looked_up = 0;  ///< on the root

 private:
  void open_in_hdf5(const Case& chosen) {
    const auto access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", "");
    hdf5::leave_out_placeholders(access.get());
    if (chosen.edges_unfiltered) {
      H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
    }
    in_hdf5_ = own(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose,
                   "H5Fcreate", path_);
    const std::vector<hsize_t> extent(chosen.extent.begin(), chosen.extent.end());
    const auto space =
        own(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose,
            "H5Screate_simple", "");
    dataset_ = own(H5Dcreate2(in_hdf5_.get(), "d", H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT,
                              creation_.get(), H5P_DEFAULT),
                   H5Dclose, "H5Dcreate2", path_);
    H5Fflush(in_hdf5_.get(), H5F_SCOPE_GLOBAL);
  }

  Extent first_of(const FilteredChunk& chunk) const {
    return grid_.first_element((chunk.place - beyond_file) / (8 * grid_.chunk_elements()));
  }

  const Comm& comm_;
  std::string path_;
  ChunkGrid grid_;
  Handle creation_, in_hdf5_, dataset_;
  mpiio::File file_;
};

std::vector<double> read_by_hdf5(const std::string& path, std::uint64_t elements) {
  std::vector<double> values(elements, -1.0);
  const auto file =
      own(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "H5Fopen", path);
  const auto dataset = own(H5Dopen2(file.get(), "d", H5P_DEFAULT), H5Dclose, "H5Dopen2", path);
  hdf5::check(
      H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
      "H5Dread", path);
  return values;
}

class FilteredFlushTest : public testing::TestWithParam<Case> {
 protected:
  using Run = slabmark::Run;  // testing::Test has another
  static constexpr double fill = 0.5;

  /// Elements of this rank in a flush: each goes to one rank, or to none.
  RunList mine_of(std::uint64_t elements, unsigned seed, unsigned share_of_nobody) const {
    std::mt19937 random(seed);
    RunList runs;
    for (std::uint64_t e = 0; e < elements; ++e) {
      const auto owner = random() % static_cast<unsigned>(comm.size());
      const bool nobody = random() % 10 < share_of_nobody;
      if (!nobody && owner == static_cast<unsigned>(comm.rank())) append(runs, {e, 1});
    }
    return runs;
  }

  struct Moved {
    std::vector<Piece> pieces;
    std::vector<double> buffer;
  };

  static Moved prepare(const RunList& runs, const ChunkGrid& grid, double offset) {
    Moved moved;
    std::vector<Piece> pieces;
    for (const Run& run : runs) {
      pieces.push_back({run.offset, moved.buffer.size(), run.length});
      for (auto e = run.offset; e < run.end(); ++e) {
        moved.buffer.push_back(offset + static_cast<double>(e));
      }
    }
    moved.pieces = in_chunk_order(pieces, grid);
    return moved;
  }

  /// Moves what this rank has through the exchange.
  void move(OneDataset& file, FilteredFlush& filters, hdf5::FilterPipeline& pipeline, Moved& moved,
            bool fresh, bool write, std::uint64_t node_ranks) {
    const ChunkGrid& grid = file.grid();
    const FileDomain domain(
        std::vector<ArrayPlace>{{beyond_file, 8, grid.elements(), grid.chunk_elements()}}, 0);
    RearrangerSettings settings;
    settings.aggregators = static_cast<std::uint64_t>(comm.size());
    settings.unit = domain.largest_unit();
    settings.window = 2048;
    settings.node_ranks = node_ranks;
    Rearranger rearranger(comm, settings);
    const FlushPlan plan(comm, domain, {{moved.pieces, grid.elements(), "d"}}, {{0, 0}},
                         {rearranger.aggregators(), 1}, write);
    std::byte* const buffer = reinterpret_cast<std::byte*>(moved.buffer.data());
    const std::vector<bool> is_fresh{fresh};
    const Rearranger::Flush flush{domain, plan, {&buffer, 1}, is_fresh, false};
    const std::vector<FilteredArray> arrays{{beyond_file, &grid, &pipeline}};
    if (write) {
      filters.write(rearranger, flush, arrays, nullptr);
    } else {
      filters.read(rearranger, flush, arrays, nullptr);
    }
  }

  Comm comm{MPI_COMM_WORLD};
  Scratch scratch{comm};
  const std::string path = scratch.file("f.h5");
};

TEST_P(FilteredFlushTest, LeavesTheFileThatASerialProgramLeavesAndReadsItBack) {
  const Case& chosen = GetParam();
  for (const std::uint64_t node_ranks : {0, 1}) {
    OneDataset file(comm, path, chosen, fill);
    const std::uint64_t elements = element_count(chosen.extent);
    std::vector<double> wanted(elements, fill);
    hdf5::FilterPipeline pipeline(H5T_NATIVE_DOUBLE, file.creation());
    FilteredFlush filters(comm, file);
    // Many holes at first, then into what there is, then all.
    for (unsigned step = 0; step < 3; ++step) {
      const unsigned nobody = step == 2 ? 0 : 9 - step;
      Moved moved = prepare(mine_of(elements, 7 + step, nobody), file.grid(), 1000.0 * step);
      move(file, filters, pipeline, moved, step == 0, true, node_ranks);
      std::vector<double> theirs(elements, 0.0);
      for (const Run& run : mine_of(elements, 7 + step, nobody)) {
        for (auto e = run.offset; e < run.end(); ++e) {
          theirs[e] = 1000.0 * step + static_cast<double>(e) + 1;
        }
      }
      MPI_Allreduce(MPI_IN_PLACE, theirs.data(), static_cast<int>(elements), MPI_DOUBLE, MPI_SUM,
                    comm.get());
      for (std::uint64_t e = 0; e < elements; ++e) {
        if (theirs[e] > 0) wanted[e] = theirs[e] - 1;
      }
      // Other elements than were written by this rank.
      const RunList runs = mine_of(elements, 99 + step, 3);
      Moved back = prepare(runs, file.grid(), 0.0);
      std::fill(back.buffer.begin(), back.buffer.end(), -1.0);
      move(file, filters, pipeline, back, false, false, node_ranks);
      std::size_t at = 0;
      for (const Run& run : runs) {
        for (auto e = run.offset; e < run.end(); ++e) ASSERT_EQ(back.buffer[at++], wanted[e]) << e;
      }
    }
    file.close();
    if (comm.is_root()) {
      EXPECT_EQ(read_by_hdf5(path, elements), wanted);
    }
    comm.barrier();
  }
}

const Case cases[] = {{"line", {100}, {16}},         {"rows", {13, 20}, {4, 20}},
                      {"tiles", {13, 22}, {4, 5}},   {"edges_unfiltered", {13, 22}, {4, 5}, true},
                      {"one_chunk", {6, 7}, {6, 7}}, {"cubes", {7, 6, 9}, {3, 4, 4}}};
INSTANTIATE_TEST_SUITE_P(Shapes, FilteredFlushTest, testing::ValuesIn(cases),
                         [](const auto& each) { return std::string(each.param.name); });

class FilteredFlushOfTiles : public FilteredFlushTest {};

// The edges of the array need nothing from the file, for what lies beyond it is nobody's.
TEST_P(FilteredFlushOfTiles, LooksUpOnlyChunksThatThereMayBeAndThatAreNotWrittenWhole) {
  OneDataset file(comm, path, GetParam(), fill);
  const std::uint64_t elements = element_count(GetParam().extent);
  hdf5::FilterPipeline pipeline(H5T_NATIVE_DOUBLE, file.creation());
  FilteredFlush filters(comm, file);
  Moved some = prepare(mine_of(elements, 1, 5), file.grid(), 0.0);
  move(file, filters, pipeline, some, true, true, 0);
  EXPECT_EQ(file.looked_up, 0u);
  Moved all = prepare(mine_of(elements, 1, 0), file.grid(), 0.0);
  move(file, filters, pipeline, all, false, true, 0);
  EXPECT_EQ(file.looked_up, 0u);
  move(file, filters, pipeline, some, false, true, 0);
  EXPECT_EQ(file.looked_up > 0, comm.is_root());
  file.close();
}

TEST_P(FilteredFlushOfTiles, AFilterThatFailsOnOneRankFailsOnAllAndLeavesOutItsChunkAlone) {
  OneDataset file(comm, path, GetParam(), fill);
  const std::uint64_t elements = element_count(GetParam().extent);
  constexpr H5Z_filter_t number = 401;
  const H5Z_class2_t failing = {H5Z_CLASS_T_VERS,
                                number,
                                1,
                                1,
                                "sick",
                                nullptr,
                                nullptr,
                                [](unsigned, std::size_t, const unsigned*, std::size_t bytes,
                                   std::size_t*, void** buffer) -> std::size_t {
                                  double first = 0.0;
                                  std::memcpy(&first, *buffer, sizeof(first));
                                  return first == 0.0 ? 0 : bytes;  // the first chunk
                                }};
  ASSERT_GE(H5Zregister(&failing), 0);
  const auto creation = own(H5Pcopy(file.creation()), H5Pclose, "H5Pcopy", "");
  H5Premove_filter(creation.get(), H5Z_FILTER_ALL);
  H5Pset_filter(creation.get(), number, H5Z_FLAG_MANDATORY, 0, nullptr);
  FilteredFlush filters(comm, file);
  Moved all = prepare(mine_of(elements, 1, 0), file.grid(), 0.0);
  {
    hdf5::FilterPipeline sick(H5T_NATIVE_DOUBLE, creation.get());
    EXPECT_THROW(move(file, filters, sick, all, true, true, 0), IoError);
  }
  EXPECT_EQ(comm.sum(filters.tally().chunks), file.grid().chunks() - 1);
  file.close();
}

INSTANTIATE_TEST_SUITE_P(Shapes, FilteredFlushOfTiles, testing::Values(cases[2]),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace slabmark
