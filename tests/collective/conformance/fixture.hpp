#pragma once

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collective/conformance/adapter.hpp"
#include "collective/conformance/program.hpp"
#include "core/parallel/comm.hpp"
#include "scratch.hpp"

namespace slabmark::conformance {

/// Returns the adapters of this build.
inline std::vector<AdapterInfo> adapters() {
  std::vector<AdapterInfo> all = library_adapters();
  const auto add = [&](const std::vector<AdapterInfo>& some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  add(connector_adapters());
#if SLABMARK_WITH_PNETCDF
  add(dropin_adapters());
#endif
#if SLABMARK_WITH_BENCH
  add(method_adapters());
#endif
  return all;
}

inline std::string name_of_adapter(const testing::TestParamInfo<AdapterInfo>& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

inline void PrintTo(const AdapterInfo& info, std::ostream* out) { *out << info.name; }

/// Returns the message with which a call fails; empty if the call succeeds.
template <class Call>
std::string failure_of(const Call& call) {
  try {
    call();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Tests that run with each adapter.
class Conformance : public testing::TestWithParam<AdapterInfo> {
 protected:
  void SetUp() override { use({}); }

  void use(const OpenOptions& options) {
    adapter.reset();
    adapter = GetParam().make(comm, options);
  }

  /// Why the test must be left out; empty: it need not be.
  std::string lacking(Ability ability) const { return adapter->lacks(ability); }

  int rank() const { return comm.rank(); }
  std::size_t ranks() const { return static_cast<std::size_t>(comm.size()); }

  /// Writes a step. Returns the failure that this rank is told of; empty if the write succeeds.
  std::string write(Session& session, const Program& program, std::size_t step) const {
    Buffers buffers = values_of(program, step, rank());
    const Buffers before = buffers;
    std::string failure = failure_of([&] { session.move(step, buffers); });
    if (failure.empty() && buffers != before) failure = "what was written is changed";
    return failure;
  }

  /// All of it, read back through the adapter and without it.
  void write_and_read(const Program& program, const std::string& name = "a") {
    const std::string path = scratch.file(name);
    Contents contents(program);
    const auto file = adapter->create(path, program);
    for (std::size_t step = 0; step < program.steps.size(); ++step) {
      EXPECT_EQ(write(*file, program, step), "") << "in step " << step;
      contents.write(step, adapter->overlap());
    }
    EXPECT_EQ(failure_of([&] { file->close(); }), "");
    expect_in_file(contents, program, name);
    if (!comm.any(HasFailure())) expect_to_read(contents, program, name);
  }

  /// A plain reader finds what was written and, if the adapter leaves holes, zeros elsewhere.
  void expect_in_file(const Contents& contents, const Program& program,
                      const std::string& name = "a") {
    comm.barrier();
    std::string difference;
    if (comm.is_root()) {
      difference = failure_of([&] {
        const auto file = adapter->open_plainly(scratch.file(name), program);
        for (const auto& [place, elements] : contents.arrays()) {
          compare(*file, program.arrays[place.first], place.second, elements);
        }
      });
    }
    EXPECT_EQ(comm.broadcast(difference), "") << "in the file";
  }

  /// The adapter reads the same.
  void expect_to_read(const Contents& contents, const Program& program,
                      const std::string& name = "a") {
    const auto file = adapter->open(scratch.file(name), program);
    for (std::size_t step = 0; step < program.steps.size(); ++step) {
      Buffers buffers = empty_buffers(program, step, rank());
      EXPECT_EQ(failure_of([&] { file->move(step, buffers); }), "") << "reading step " << step;
      EXPECT_EQ(contents.difference(step, rank(), buffers), "") << "read in step " << step;
    }
    EXPECT_EQ(failure_of([&] { file->close(); }), "");
  }

  Comm comm{MPI_COMM_WORLD};
  Scratch scratch{comm};
  std::unique_ptr<Adapter> adapter;

 private:
  // Larger arrays are read where something was written alone.
  static constexpr std::uint64_t most_read_whole = 1u << 16;

  void compare(PlainFile& file, const Array& array, std::uint64_t record,
               const Contents::Elements& elements) const {
    const std::uint64_t size = element_count(array.extent);
    if (size <= most_read_whole && lacking(Ability::leave_holes).empty()) {
      const auto values = decode(array.type, file.read(array, record, {0, size}));
      for (std::uint64_t e = 0; e < size; ++e) {
        const auto written = elements.find(e);
        check(array, record, e, values[e], written == elements.end() ? 0 : written->second);
      }
      return;
    }
    for (auto at = elements.begin(); at != elements.end();) {
      auto end = at;
      slabmark::Run run{at->first, 0};  // testing::Test has a Run(), too
      for (; end != elements.end() && end->first == run.end(); ++end) ++run.length;
      const auto values = decode(array.type, file.read(array, record, run));
      for (const std::int64_t value : values) {
        check(array, record, at->first, value, at->second);
        ++at;
      }
    }
  }

  static void check(const Array& array, std::uint64_t record, std::uint64_t element,
                    std::int64_t value, std::int64_t expected) {
    if (value == expected) return;
    throw std::runtime_error(fmt::format("element {} of record {} of '{}' is {} instead of {}",
                                         element, record, array.name, value, expected));
  }
};

/// Runs of `width` elements that are dealt to the ranks like cards, from `first` on.
inline RunList dealt(std::size_t rank, std::size_t ranks, std::uint64_t elements,
                     std::uint64_t width, std::uint64_t first = 0) {
  RunList runs;
  for (std::uint64_t begin = first + rank * width; begin < elements; begin += ranks * width) {
    runs.push_back({begin, std::min(width, elements - begin)});
  }
  return runs;
}

/// A request of all ranks; `runs_of(rank)`.
template <class RunsOf>
Request request(std::size_t ranks, std::size_t array, std::uint64_t record, const RunsOf& runs_of) {
  Request all{array, record, {}};
  for (std::size_t rank = 0; rank < ranks; ++rank) all.runs.push_back(runs_of(rank));
  return all;
}

}  // namespace slabmark::conformance
