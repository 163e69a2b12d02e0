#include <cstdlib>
#include <filesystem>
#include <memory>

#include <gtest/gtest.h>

#include "bench/measure/clock.hpp"
#include "bench/method/format.hpp"
#include "bench/method/pass.hpp"
#include "bench/method/registry.hpp"
#include "bench/pattern/content.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {
namespace {

// Beyond 2^32 bytes for rank 0 in one dataset, and a little for the last rank.
constexpr std::uint64_t most_elements = (std::uint64_t{17} << 28) / 8 + 12345;  // 4.25 GiB
constexpr std::uint64_t few_elements = 1000;

/// Rank 0 has all but the end of a matrix in one piece, in one dataset; with `gaps`, as two
/// hyperslabs with a hole between them.
Pattern lopsided(const Comm& comm, bool gaps) {
  const std::uint64_t columns = 1000;
  const auto rows = most_elements / columns + 3;
  const Extent extent = {rows, columns};
  std::vector<Hyperslab> slabs;
  if (comm.is_root()) {
    if (gaps) {
      slabs.push_back(make_box({0, 0}, {rows / 2, columns - 1}));
      slabs.push_back(make_box({rows / 2, 0}, {rows - rows / 2 - 1, columns - 1}));
    } else {
      slabs.push_back(make_box({0, 0}, {rows - 1, columns}));
    }
  }
  if (comm.rank() == comm.size() - 1) slabs.push_back(make_box({rows - 1, 0}, {1, few_elements}));

  Pattern pattern;
  pattern.name = "lopsided";
  pattern.datasets = {
      {"big", ElementType::float64, {{"y", rows}, {"x", columns}}, false, std::nullopt}};
  const auto selection = select_hyperslabs(extent, slabs);
  pattern.transfers = [selection](std::uint64_t) {
    return std::vector<Transfer>{{0, 0, selection, nullptr}};
  };
  return pattern;
}

std::string check_in_pieces(PlainReader& reader, const Transfer& transfer, const Pattern& pattern) {
  std::string fault;
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  std::vector<std::byte> found(most * 8);
  transfer.file->for_each_run([&](Run run) {
    while (run.length > 0 && fault.empty()) {
      const Run part{run.offset, std::min(most, run.length)};
      reader.read(0, 0, part, found.data());
      const auto mismatch = check_run(ElementType::float64, 0, 0, part, found.data());
      if (mismatch) fault = describe(*mismatch, pattern);
      run = {run.offset + part.length, run.length - part.length};
    }
  });
  return fault;
}

struct LargeCase {
  std::string method;
  bool gaps;
};

void PrintTo(const LargeCase& c, std::ostream* out) { *out << c.method; }

class LargeRequests : public testing::TestWithParam<LargeCase> {};
class FarRequests : public testing::TestWithParam<LargeCase> {};

TEST_P(LargeRequests, MoreThan4GiBInOneRequestArriveWholeAndComeBack) {
  const char* directory = std::getenv("SLABMARK_BIG_TESTS");
  if (directory == nullptr) {
    GTEST_SKIP() << "SLABMARK_BIG_TESTS names no directory with 5 GiB of space";
  }
  const Comm comm(MPI_COMM_WORLD);
  const auto path = std::string(directory) + "/slabmark-large-request";
  const auto remove = [&] {
    comm.barrier();
    if (comm.is_root()) std::filesystem::remove(path);
    comm.barrier();
  };
  remove();
  const auto& info = find_method(GetParam().method);
  const auto pattern = lopsided(comm, GetParam().gaps);
  const Settings settings;
  if (comm.any(info.supports(pattern, settings).has_value())) {
    GTEST_SKIP() << GetParam().method << " does not take so many elements";
  }
  const auto transfer = pattern.transfers(0).front();
  // By new[], which does not touch the pages: the machine may have little memory.
  const auto bytes = buffer_bytes(transfer, pattern.datasets[0]);
  const std::unique_ptr<std::byte[]> buffer(new std::byte[bytes]);
  const std::vector<std::byte*> buffers = {buffer.get()};
  PhaseClock clock(comm);
  {
    const auto method = info.make({comm, pattern, Direction::write, settings, clock});
    fill_buffer(pattern, transfer, buffer.get());
    agreed(comm, [&] { method->create(path); });
    agreed(comm, [&] { method->define(); });
    agreed(comm, [&] { method->prepare(); });
    agreed(comm, [&] { method->post(0, buffers); });
    agreed(comm, [&] { method->flush(); });
    agreed(comm, [&] { method->inspect(); });
    agreed(comm, [&] { method->close(); });
    EXPECT_FALSE(check_buffer(pattern, transfer, buffer.get())) << "the buffer changed";
    if (comm.is_root()) RecordProperty("effective", method->effective().dump());
  }
  {
    const auto reader = info.file().open(comm, pattern, path);
    EXPECT_EQ(check_in_pieces(*reader, transfer, pattern), "");
  }
  std::fill_n(buffer.get(), bytes, std::byte{0});
  {
    const auto method = info.make({comm, pattern, Direction::read, settings, clock});
    agreed(comm, [&] { method->open(path); });
    agreed(comm, [&] { method->prepare(); });
    agreed(comm, [&] { method->post(0, buffers); });
    agreed(comm, [&] { method->flush(); });
    agreed(comm, [&] { method->close(); });
    const auto mismatch = check_buffer(pattern, transfer, buffer.get());
    EXPECT_FALSE(mismatch) << describe(*mismatch, pattern);
  }
  remove();
}

/// Few elements, but each rank's next to those of the others at four places 2 GiB apart.
Pattern far_apart(const Comm& comm) {
  const auto size = static_cast<std::uint64_t>(comm.size());
  const std::uint64_t step = std::uint64_t{1} << 28;
  RunList runs;
  for (std::uint64_t place = 0; place < 4; ++place) {
    runs.push_back({place * step + 10 * static_cast<std::uint64_t>(comm.rank()), 7});
  }
  Pattern pattern;
  pattern.name = "far apart";
  pattern.datasets = {
      {"v", ElementType::float64, {{"x", 3 * step + 10 * size}}, false, std::nullopt}};
  const auto selection = select_row_runs(pattern.datasets[0].extent(), runs);
  pattern.transfers = [selection](std::uint64_t) {
    return std::vector<Transfer>{{0, 0, selection, nullptr}};
  };
  return pattern;
}

TEST_P(FarRequests, ElementsMoreThan2GiBApartArriveAndComeBack) {
  const char* directory = std::getenv("SLABMARK_BIG_TESTS");
  if (directory == nullptr) {
    GTEST_SKIP() << "SLABMARK_BIG_TESTS names no directory for sparse files of 6 GiB";
  }
  const Comm comm(MPI_COMM_WORLD);
  const auto path = std::string(directory) + "/slabmark-far-apart";
  const auto remove = [&] {
    comm.barrier();
    if (comm.is_root()) std::filesystem::remove(path);
    comm.barrier();
  };
  remove();
  const auto& info = find_method(GetParam().method);
  const auto pattern = far_apart(comm);
  if (comm.any(info.supports(pattern, {}).has_value())) GTEST_SKIP() << "not of this version";
  EXPECT_EQ(write_file(info, comm, pattern, {}, path).fault, "");
  EXPECT_EQ(check_plainly(info.format, comm, pattern, path), "");
  EXPECT_EQ(read_file(info, comm, pattern, {}, path).fault, "");
  remove();
}

std::vector<LargeCase> large_cases(const std::vector<bool>& with_gaps) {
  std::vector<LargeCase> all;
  for (const auto& method : methods()) {
    if (method.format == FileFormat::none || !method.missing.empty() ||
        method.kind == MethodKind::slices || method.kind == MethodKind::as_captured) {
      continue;
    }
    for (const bool gaps : with_gaps) all.push_back({method.name, gaps});
  }
  return all;
}

std::string name_of_case(const testing::TestParamInfo<LargeCase>& parameter) {
  auto name = parameter.param.method;
  if (parameter.param.gaps) name += "_with_gaps";
  for (auto& letter : name) {
    if (letter == '-') letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Methods, LargeRequests, testing::ValuesIn(large_cases({false, true})),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Methods, FarRequests, testing::ValuesIn(large_cases({false})),
                         name_of_case);

}  // namespace
}  // namespace slabmark
