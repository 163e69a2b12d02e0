#include "bench/pattern/conformance.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "bench/method/pass.hpp"
#include "bench/method/registry.hpp"
#include "bench/pattern/content.hpp"
#include "scratch.hpp"
#include "storage/hdf5/dataset.hpp"
#include "storage/hdf5/subfiles.hpp"
#include "storage/mpiio/implementation.hpp"
#include "storage/zarr/codec.hpp"
#if SLABMARK_WITH_PNETCDF
#include "storage/pnetcdf/file.hpp"
#endif

namespace slabmark {

MethodInfo mine_method();  // a copy of src/bench/method/example.cpp

namespace {

const MethodInfo& method_called(const std::string& name) {
  static const MethodInfo mine = mine_method();
  return name == mine.name ? mine : find_method(name);
}

/// A method with settings that change how it moves data.
struct Case {
  std::string method;
  std::map<std::string, std::string> options;
  Flush flush = Flush::each_round;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.method;
  for (const auto& [name, value] : c.options) *out << ' ' << name << '=' << value;
}

/// Each method as it is without options.
std::vector<Case> methods_alone() {
  std::vector<Case> all;
  for (const auto& method : methods()) {
    if (method.format == FileFormat::none || !method.missing.empty()) continue;
    if (method.kind == MethodKind::slices) continue;       // slice_methods_test.cpp
    if (method.kind == MethodKind::as_captured) continue;  // program/test_capture.py
    all.push_back({method.name, {}});
    if (method.format == FileFormat::hdf5_subfiles) continue;  // see with_each_pattern()
    all.push_back({method.name, {}, Flush::at_the_end});
  }
  return all;
}

bool is_in_this_build(const std::string& method) {
  const auto found = find_if(methods().begin(), methods().end(),
                             [&](const MethodInfo& info) { return info.name == method; });
  return found->missing.empty();
}

std::vector<Case> methods_with_options() {
  std::vector<Case> all;
  all.push_back({"mine", {{"mine.durable", "on"}}});
  // Small calls cut rounds, transfers and boxes in the middle.
  all.push_back({"mpiio-independent", {{"mpiio.view", "off"}}});
  all.push_back({"mpiio-collective", {{"mpiio.view", "off"}}});
  all.push_back({"mpiio-independent", {{"mpiio.call_bytes", "100"}}});
  all.push_back({"mpiio-collective", {{"mpiio.call_bytes", "100"}}});
  if (is_in_this_build("pnetcdf-varn")) {
    for (const auto* name : {"pnetcdf-vard", "pnetcdf-varn", "pnetcdf-vara"}) {
      all.push_back({name, {{"pnetcdf.call_bytes", "40"}}});
      all.push_back({name, {{"pnetcdf.call_bytes", "200"}}, Flush::at_the_end});
    }
    for (const auto* name : {"pnetcdf-varn", "pnetcdf-vara"}) {
      all.push_back({name, {{"pnetcdf.blocking", "on"}}});
      all.push_back({name, {{"pnetcdf.blocking", "on"}, {"pnetcdf.call_bytes", "40"}}});
    }
  }
  if (is_in_this_build("netcdf4-var")) {
    all.push_back({"netcdf4-var", {{"netcdf4.call_bytes", "40"}}, Flush::at_the_end});
  }
  all.push_back({"hdf5-slab", {{"hdf5.collective", "off"}}});
  all.push_back({"hdf5-slab", {{"hdf5.collective_metadata", "off"}, {"hdf5.fill", "ifset"}}});
  all.push_back({"hdf5-slab", {{"hdf5.libver", "latest"}, {"hdf5.alloc", "early"}}});
  all.push_back({"hdf5-slab", {{"hdf5.chunk", "2x3"}}});
  all.push_back({"hdf5-slab", {{"hdf5.align", "4096"}, {"hdf5.align_threshold", "64"}}});
  all.push_back({"hdf5-union", {{"hdf5.chunk", "7"}, {"hdf5.collective", "off"}}});
  all.push_back({"hdf5-union", {{"hdf5.chunk", "none"}}});
  all.push_back({"hdf5-union-naive", {{"hdf5.chunk", "2x3"}}});
  all.push_back({"hdf5-points", {{"hdf5.chunk", "2x3"}, {"hdf5.collective", "off"}}});
  all.push_back({"hdf5-multi", {{"hdf5.chunk", "2x3"}}});
  all.push_back({"hdf5-multi", {{"hdf5.collective", "off"}}});
  all.push_back({"hdf5-slab", {{"hdf5.time", "fixed"}, {"hdf5.precreate", "on"}}});
  all.push_back({"hdf5-union", {{"hdf5.time", "fixed"}, {"hdf5.into_existing", "on"}}});
  all.push_back({"hdf5-slab", {{"hdf5.chunk", "2x3"}, {"hdf5.deflate", "4"}}});
  // Chunks by their addresses, and through filters on all ranks.
  all.push_back(
      {"hdf5-rearranged", {{"hdf5.chunk", "2x3"}, {"hdf5.deflate", "1"}, {"hdf5.shuffle", "on"}}});
  all.push_back({"hdf5-rearranged",
                 {{"hdf5.chunk", "7"},
                  {"hdf5.shuffle", "on"},
                  {"hdf5.aggregators", "2"},
                  {"hdf5.libver", "v110"},
                  {"hdf5.node_ranks", "1"}},
                 Flush::at_the_end});
  // Shards of several chunks, some in part beyond the array; a file for each chunk; compressed.
  all.push_back({"zarr-rearranged", {{"zarr.chunk", "2x3"}, {"zarr.shard", "4x6"}}});
  all.push_back({"zarr-rearranged",
                 {{"zarr.chunk", "40"}, {"zarr.shard", "none"}, {"zarr.aggregators", "2"}},
                 Flush::at_the_end});
  for (const auto* codec : {"gzip", "zstd"}) {
    all.push_back({"zarr-rearranged",
                   {{"zarr.chunk", "2x3"}, {"zarr.shard", "40"}, {"zarr.compress", codec}}});
  }
  all.push_back({"zarr-slab", {{"zarr.chunk", "2x3"}, {"zarr.shard", "4x6"}}});
  all.push_back({"zarr-slab", {{"zarr.chunk", "40"}, {"zarr.shard", "none"}}, Flush::at_the_end});
  // More aggregators than ranks are as many as ranks. Small windows cut arrays and rows of elements
  // in the middle; nodes of one rank send messages only, of two ranks both ways.
  for (const auto* aggregators : {"1", "2", "3", "16"}) {
    all.push_back({"mpiio-rearranged", {{"mpiio.aggregators", aggregators}}});
  }
  for (const auto* node_ranks : {"1", "2"}) {
    all.push_back({"mpiio-rearranged",
                   {{"mpiio.node_ranks", node_ranks}, {"mpiio.aggregators", "3"}},
                   Flush::at_the_end});
    all.push_back({"mpiio-rearranged",
                   {{"mpiio.node_ranks", node_ranks},
                    {"mpiio.aggregators", "16"},
                    {"mpiio.align", "1"},
                    {"mpiio.window", "1K"}}});
  }
  all.push_back({"mpiio-rearranged", {{"mpiio.align", "64"}, {"mpiio.window", "500"}}});
  all.push_back({"mpiio-rearranged", {{"mpiio.holes", "0"}}});
  for (const auto& method : methods()) {
    if (!method.missing.empty() || !method.name.ends_with("-rearranged")) continue;
    const auto prefix = method.name.substr(0, method.name.find('-'));
    all.push_back({method.name,
                   {{prefix + ".aggregators", "3"}, {prefix + ".window", "1K"}},
                   Flush::at_the_end});
    all.push_back({method.name,
                   {{prefix + ".aggregators", "2"},
                    {prefix + ".node_ranks", "1"},
                    {prefix + ".align", "1"}}});
  }
  return all;
}

/// Of these, the cases of the method that SLABMARK_TEST_METHOD names, so that who changes one
/// method need not wait for the others. Throws where there is no such method.
std::vector<Case> chosen(std::vector<Case> all) {
  if (const char* const name = std::getenv("SLABMARK_TEST_METHOD")) {
    std::erase_if(
        all, [&method = method_called(name)](const Case& c) { return c.method != method.name; });
  }
  return all;
}

/// What the HDF5 of this build lacks for a case; nothing else may keep one from a pattern, but what
/// PnetCDF 1.15 does not do, or an older one not yet.
std::string lacking_for(const Case& c) {
  if (c.method == "hdf5-subfiling") return hdf5::no_subfiling_cause();
  if (c.options.contains("hdf5.deflate") && !hdf5::has_deflate()) return "HDF5 has no deflate";
  const auto codec = c.options.find("zarr.compress");
  return codec == c.options.end() ? "" : zarr::codec_unavailable(codec->second);
}

/// Made once each.
const std::vector<Pattern>& patterns_of(int rank, int ranks) {
  static std::map<std::pair<int, int>, std::vector<Pattern>> made;
  auto& patterns = made[{rank, ranks}];
  if (patterns.empty()) patterns = conformance_patterns(rank, ranks);
  return patterns;
}

std::string refusal(const Case& c, const Pattern& pattern) {
  return method_called(c.method).supports(pattern, {c.options, {}}).value_or("");
}

bool is_of_pnetcdf(const std::string& refusal) {
  return refusal.starts_with("PnetCDF 1.15") || refusal.ends_with(" and newer do");
}

class Conformance : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto lacking = lacking_for(GetParam());
    if (!lacking.empty()) GTEST_SKIP() << lacking;
    const auto refused = refusal(GetParam(), patterns_of(comm.rank(), comm.size()).front());
    if (is_of_pnetcdf(refused)) GTEST_SKIP() << refused;
    if (GetParam().options.count("hdf5.deflate") == 0 || comm.size() == 1) return;
    if (GetParam().method == "hdf5-rearranged") return;
    if (mpiio::mpi_io_implementation(scratch.file("").c_str()) == "OMPIO") {
      GTEST_SKIP()
          << "OMPIO loses compressed chunks that ranks share (docs/reference/methods-hdf5.md)";
    }
  }

  const MethodInfo& method() const { return method_called(GetParam().method); }
  Settings settings() const { return {GetParam().options, {}}; }
  int next_rank() const { return (comm.rank() + 1) % comm.size(); }

  /// Runs `body` with each pattern of this rank and the same pattern of the next rank.
  template <class Body>
  void with_each_pattern(const Body& body) {
    const auto& mine = patterns_of(comm.rank(), comm.size());
    const auto& others = patterns_of(next_rank(), comm.size());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      SCOPED_TRACE(mine[i].name);
      const auto refused = refusal(GetParam(), mine[i]);
      if (is_of_pnetcdf(refused)) continue;
      ASSERT_EQ(refused, "") << "no method may refuse";
      // To open and close subfiles takes HDF5 2.2.0 tenths of a second, so a sample must do.
      if (method().format == FileFormat::hdf5_subfiles && i % 6 != 0) continue;
      body(i, mine[i], others[i]);
      if (HasFatalFailure()) return;
    }
  }

  Comm comm{MPI_COMM_WORLD};
  Scratch scratch{comm};
};

/// Elements that no rank writes, by dataset and time; only of those that some rank writes to.
std::map<std::pair<std::size_t, std::uint64_t>, RunList> holes(std::size_t pattern, int ranks) {
  std::map<std::pair<std::size_t, std::uint64_t>, RunList> written;
  std::vector<Dataset> datasets;
  for (int rank = 0; rank < ranks; ++rank) {
    const Pattern& part = patterns_of(rank, ranks)[pattern];
    datasets = part.datasets;
    for (std::uint64_t round = 0; round < part.rounds; ++round) {
      for (const auto& transfer : part.transfers(round)) {
        if (transfer.file->element_count() == 0) continue;
        auto& runs = written[{transfer.dataset, transfer.time}];
        transfer.file->for_each_run([&](Run run) { runs.push_back(run); });
      }
    }
  }
  for (auto& [place, runs] : written) {
    sort_runs(runs);
    coalesce(runs);
    runs = complement(runs, element_count(datasets[place.first].extent()));
  }
  return written;
}

/// How many bytes of gaps in memory stand where nobody wrote: fill_buffer() puts 0xA5 into what
/// does not move, and new files are zero.
std::ptrdiff_t gaps_in_file(const MethodInfo& method, const Comm& comm, std::size_t pattern,
                            const std::string& path) {
  const Pattern& mine = patterns_of(comm.rank(), comm.size())[pattern];
  const auto reader = method.file().open(comm, mine, path);
  std::ptrdiff_t gaps = 0;
  for (const auto& [place, runs] : holes(pattern, comm.size())) {
    for (const auto run : runs) {
      std::vector<std::byte> found(run.length * size_of(mine.datasets[place.first].type));
      reader->read(place.first, place.second, run, found.data());
      gaps += std::count(found.begin(), found.end(), std::byte{0xA5});
    }
  }
  return gaps;
}

// One test, since most of the time of all goes into writing.
TEST_P(Conformance, EachElementAndNoGapIsWherePlainReaderAndMethodLookForItOnAnotherRank) {
  with_each_pattern([&](std::size_t i, const Pattern& mine, const Pattern& other) {
    const auto path = scratch.file(std::to_string(i));
    EXPECT_EQ(write_file(method(), comm, mine, settings(), path, GetParam().flush).fault, "");
    EXPECT_EQ(check_plainly(method().format, comm, other, path), "");
    EXPECT_EQ(read_file(method(), comm, other, settings(), path, GetParam().flush).fault, "");
    // PnetCDF and HDF5 files grow as they are written, and collective buffering beyond the end of a
    // file leaves in holes whatever its buffer held before (OMPIO and ROMIO of Open MPI 4.1.4):
    // bytes that nobody writes are undefined there. Headerless files have their full size from the
    // start, and a Zarr store has the fill value there.
    if (method().format == FileFormat::raw || method().format == FileFormat::zarr) {
      EXPECT_EQ(gaps_in_file(method(), comm, i, path), 0);
    }
  });
}

TEST_P(Conformance, AFileThatExistsIsNotOverwritten) {
  if (GetParam().options.count("hdf5.into_existing") > 0) GTEST_SKIP() << "it was asked for";
  const auto mine = patterns_of(comm.rank(), comm.size()).front();
  const auto path = scratch.file("precious");
  if (comm.is_root()) std::ofstream(path) << "precious";
  comm.barrier();
  const auto write = [&] { write_file(method(), comm, mine, settings(), path); };
  EXPECT_THROW(write(), Error);
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "precious");
}

TEST_P(Conformance, AFileThatIsMissingIsAnErrorThatNamesIt) {
  const auto mine = patterns_of(comm.rank(), comm.size()).front();
  const auto path = scratch.file("missing");
  try {
    read_file(method(), comm, mine, settings(), path);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

TEST_P(Conformance, ADirectoryThatIsMissingIsAnErrorThatNamesTheFile) {
#if SLABMARK_WITH_PNETCDF
  if (method().format == FileFormat::netcdf && pnetcdf::library_version() == "1.15.0") {
    GTEST_SKIP() << "ncmpi_create of PnetCDF 1.15.0 crashes where it cannot make the file";
  }
#endif
  const auto mine = patterns_of(comm.rank(), comm.size()).front();
  const auto path = scratch.file("nowhere/file");
  try {
    write_file(method(), comm, mine, settings(), path);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

/// Two transfers of a rank and round whose runs alternate in one dataset, and whose buffers lie in
/// the other order.
Pattern alternating_requests(int rank, int size) {
  const auto place = static_cast<std::uint64_t>(rank);
  const auto ranks = static_cast<std::uint64_t>(size);
  const Extent extent = {40 * ranks};
  RunList even;
  RunList odd;
  for (std::uint64_t i = 0; i < 5; ++i) {
    even.push_back({8 * (i * ranks + place), 3});
    odd.push_back({8 * (i * ranks + place) + 4, 2});
  }
  Pattern pattern;
  pattern.name = "alternating requests";
  pattern.datasets = {{"v", ElementType::float64, {{"x", extent[0]}}, false, std::nullopt},
                      {"r", ElementType::float64, {{"x", extent[0]}}, true, std::nullopt}};
  pattern.rounds = 2;
  const auto first = select_row_runs(extent, odd);
  const auto second = select_row_runs(extent, even);
  pattern.transfers = [first, second](std::uint64_t round) {
    return std::vector<Transfer>{{0, 0, first, nullptr},
                                 {0, 0, second, nullptr},
                                 {1, round, first, nullptr},
                                 {1, round, second, nullptr}};
  };
  return pattern;
}

TEST_P(Conformance, RequestsThatAlternateInOneDatasetEachFindTheirPlace) {
  const auto mine = alternating_requests(comm.rank(), comm.size());
  const auto other = alternating_requests(next_rank(), comm.size());
  const auto path = scratch.file("f");
  EXPECT_EQ(write_file(method(), comm, mine, settings(), path).fault, "");
  EXPECT_EQ(check_plainly(method().format, comm, other, path), "");
  EXPECT_EQ(read_file(method(), comm, other, settings(), path).fault, "");
}

TEST_P(Conformance, WhatIsWrittenIsReadByAnyNumberOfRanks) {
  if (!GetParam().method.ends_with("-rearranged")) GTEST_SKIP() << "others keep no plan";
  const auto& whole = patterns_of(0, 1);
  with_each_pattern([&](std::size_t i, const Pattern& mine, const Pattern&) {
    // Patterns whose datasets depend on the number of ranks are not the same file on one rank.
    for (std::size_t d = 0; d < mine.datasets.size(); ++d) {
      if (mine.datasets[d].extent() != whole[i].datasets[d].extent()) return;
    }
    const auto path = scratch.file(std::to_string(i));
    write_file(method(), comm, mine, settings(), path);
    std::string fault;
    if (comm.is_root()) {
      const Comm alone(MPI_COMM_SELF);
      fault = read_file(method(), alone, whole[i], settings(), path, GetParam().flush).fault;
    }
    EXPECT_EQ(comm.broadcast(fault), "");
  });
}

TEST_P(Conformance, ElementsThatTwoRanksWriteAreRefusedByNameBeforeDataIsMoved) {
  if (!GetParam().method.ends_with("-rearranged")) GTEST_SKIP() << "MPI leaves the order to chance";
  if (comm.size() == 1) GTEST_SKIP() << "one rank alone cannot overlap another";
  Pattern pattern;
  pattern.name = "overlap";
  const auto all = 20 * static_cast<std::uint64_t>(comm.size()) + 20;
  pattern.datasets = {{"v", ElementType::int32, {{"x", all}}, false, std::nullopt}};
  const auto file = select_row_runs({all}, {{20 * static_cast<std::uint64_t>(comm.rank()), 21}});
  pattern.transfers = [file](std::uint64_t) {
    return std::vector<Transfer>{{0, 0, file, nullptr}};
  };
  try {
    write_file(method(), comm, pattern, settings(), scratch.file("overlap"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
    EXPECT_NE(std::string(error.what()).find("Element 20 of 'v'"), std::string::npos)
        << error.what();
  }
}

/// One 64 KiB vector in equal parts: most of the file is data, whatever the format.
Pattern large_vector(const Comm& comm) {
  Pattern pattern;
  pattern.name = "vector";
  pattern.datasets = {{"v", ElementType::float64, {{"x", 8192}}, false, std::nullopt}};
  const auto share = 8192 / static_cast<std::uint64_t>(comm.size());
  const auto file = select_row_runs({8192}, {{share * comm.rank(), share}});
  pattern.transfers = [file](std::uint64_t) {
    return std::vector<Transfer>{{0, 0, file, nullptr}};
  };
  return pattern;
}

/// Where the file holds element 4096 of that vector, in either byte order. Looked for, since a file
/// in chunks has HDF5's index among the data. -1 if it is nowhere.
std::streamoff place_of_element(const std::string& path) {
  std::string element(8, '\0');
  fill_run(ElementType::float64, 0, 0, {4096, 1}, reinterpret_cast<std::byte*>(element.data()));
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  auto place = bytes.find(element);
  if (place == std::string::npos) {
    std::reverse(element.begin(), element.end());
    place = bytes.find(element);
  }
  return place == std::string::npos ? -1 : static_cast<std::streamoff>(place);
}

/// Of the files that the method left, the one with that element.
std::string with_the_data(const MethodInfo& method, const std::string& path) {
  if (!method.file().companions) return path;
  const auto files = method.file().companions(path);
  const auto found = std::find_if(files.begin(), files.end(), [](const std::string& file) {
    return place_of_element(file) >= 0;
  });
  return found == files.end() ? path : *found;
}

TEST_P(Conformance, AFlippedByteOfTheFileIsFound) {
  if (GetParam().options.count("hdf5.deflate") + GetParam().options.count("hdf5.shuffle") +
          GetParam().options.count("zarr.compress") >
      0) {
    GTEST_SKIP() << "filtered elements cannot be looked for in the file";
  }
  const auto mine = large_vector(comm);
  const auto path = scratch.file("flipped");
  write_file(method(), comm, mine, settings(), path);
  ASSERT_EQ(check_plainly(method().format, comm, mine, path), "");
  comm.barrier();
  if (comm.is_root()) {
    const auto data = with_the_data(method(), path);
    const auto place = place_of_element(data);
    EXPECT_GE(place, 0) << "the file does not hold element 4096";
    std::fstream file(data, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(place);
    const auto byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(place);
    file.put(byte);
  }
  comm.barrier();
  EXPECT_TRUE(comm.any(!check_plainly(method().format, comm, mine, path).empty()));
  EXPECT_TRUE(comm.any(!read_file(method(), comm, mine, settings(), path).fault.empty()));
}

std::string name_of(const testing::TestParamInfo<Case>& parameter) {
  std::string name = parameter.param.method;
  for (const auto& [option, value] : parameter.param.options) name += "_" + option + "_" + value;
  if (parameter.param.flush == Flush::at_the_end) name += "_one_flush";
  for (auto& letter : name) {
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Methods, Conformance, testing::ValuesIn(chosen(methods_alone())), name_of);
INSTANTIATE_TEST_SUITE_P(WithOptions, Conformance,
                         testing::ValuesIn(chosen(methods_with_options())), name_of);

}  // namespace
}  // namespace slabmark
