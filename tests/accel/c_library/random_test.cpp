// Random programs: the file must hold what a model of it in memory holds.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "accel/c_library/api/rearrange.h"
#include "core/parallel/comm.hpp"
#include "scratch.hpp"
#include "storage/posix/file.hpp"

namespace slabmark {
namespace {

struct Layout {
  int decomp = 0;
  std::uint64_t element_bytes = 1;
  std::vector<int> owner;          ///< of each element; -1: nobody
  std::vector<std::int64_t> mine;  ///< offsets as this rank names them, -1 among them
};

struct Variable {
  int number = 0;
  std::size_t layout = 0;
  std::uint64_t offset = 0, record_bytes = 0;
};

class RandomRearrangeLibrary : public testing::TestWithParam<unsigned> {
 protected:
  Comm comm{MPI_COMM_WORLD};
  Scratch scratch{comm};
  std::mt19937 random{GetParam()};  ///< the same on all ranks
  int system = 0;
  int ranks = 1, rank = 0;  ///< of the program
  std::vector<std::byte> model;

  void run(const std::string& path);

  unsigned below(unsigned end) { return static_cast<unsigned>(random() % end); }

  void must(int code) { ASSERT_EQ(code, SLABMARK_OK) << slabmark_message(); }

  void set_options() {
    const char* windows[] = {"auto", "256", "4K"};
    const char* node_ranks[] = {"0", "1", "2"};
    must(slabmark_set_option(system, "window", windows[below(3)]));
    must(slabmark_set_option(system, "node_ranks", node_ranks[below(3)]));
    must(slabmark_set_option(system, "holes", below(2) ? "64" : "32K"));
    must(slabmark_set_option(system, "held", below(2) ? "3000" : "0"));
    must(slabmark_set_option(system, "in_flight", below(2) ? "2" : "0"));
    if (below(2)) must(slabmark_set_option(system, "aggregators", "1"));
  }

  Layout make_layout() {
    const slabmark_type types[] = {SLABMARK_UINT8, SLABMARK_INT16, SLABMARK_FLOAT32,
                                   SLABMARK_INT64};
    const std::size_t type = below(4);
    Layout layout;
    layout.element_bytes = std::uint64_t{1} << type;
    const std::int64_t extents[] = {1 + below(9), 1 + below(200)};
    const auto elements = static_cast<std::size_t>(extents[0] * extents[1]);
    const unsigned holes = below(3), longest = 1 + below(20);
    layout.owner.resize(elements, -1);
    for (std::size_t e = 0; e < elements;) {
      const int owner =
          below(4) < holes ? -1 : static_cast<int>(below(static_cast<unsigned>(ranks)));
      for (unsigned run = 1 + below(longest); run > 0 && e < elements; --run)
        layout.owner[e++] = owner;
    }
    for (std::size_t e = 0; e < elements; ++e) {
      if (layout.owner[e] == rank) layout.mine.push_back(static_cast<std::int64_t>(e));
    }
    std::mt19937 own(GetParam() + 1000u * static_cast<unsigned>(rank));
    if (below(2)) std::shuffle(layout.mine.begin(), layout.mine.end(), own);
    if (below(2)) layout.mine.insert(layout.mine.begin(), 3, -1);
    must(slabmark_init_decomp(system, types[type], 2, extents,
                              static_cast<std::int64_t>(layout.mine.size()), layout.mine.data(),
                              &layout.decomp));
    return layout;
  }

  static std::uint64_t value(std::uint64_t element, unsigned call) {
    return (element + 1) * 0x9e3779b97f4a7c15u + call * 0x100000001b3u;
  }

  std::vector<std::byte> data_of(const Layout& layout, unsigned call) {
    std::vector<std::byte> data(layout.mine.size() * layout.element_bytes + 1);
    for (std::size_t i = 0; i < layout.mine.size(); ++i) {
      const std::uint64_t bits = value(static_cast<std::uint64_t>(layout.mine[i]), call);
      std::memcpy(data.data() + i * layout.element_bytes, &bits, layout.element_bytes);
    }
    return data;
  }

  void write_to_model(const Layout& layout, std::uint64_t offset, unsigned call,
                      const std::uint64_t* fill) {
    const std::uint64_t size = layout.element_bytes;
    const std::size_t end = offset + layout.owner.size() * size;
    if (model.size() < end) model.resize(end);
    for (std::size_t e = 0; e < layout.owner.size(); ++e) {
      const std::uint64_t bits = layout.owner[e] < 0 && fill ? *fill : value(e, call);
      if (layout.owner[e] >= 0 || fill) std::memcpy(&model[offset + e * size], &bits, size);
    }
  }

  void check_read(int file, const Variable& variable, const Layout& layout, std::uint64_t offset) {
    std::vector<std::byte> data(layout.mine.size() * layout.element_bytes + 1);
    must(slabmark_read_darray(file, variable.number, layout.decomp,
                              static_cast<std::int64_t>(layout.mine.size()), data.data()));
    for (std::size_t i = 0; i < layout.mine.size(); ++i) {
      const std::uint64_t size = layout.element_bytes;
      std::uint64_t got = 0, expected = 0;
      std::memcpy(&got, data.data() + i * size, size);
      if (layout.mine[i] >= 0) {
        const std::uint64_t at = offset + static_cast<std::uint64_t>(layout.mine[i]) * size;
        if (at < model.size()) std::memcpy(&expected, &model[at], size);
      }
      ASSERT_EQ(got, expected) << "element " << layout.mine[i] << " of variable "
                               << variable.number;
    }
  }
};

// Some of them with ranks for I/O alone.
TEST_P(RandomRearrangeLibrary, ProgramsWriteAndReadWhatAModelOfTheFileHolds) {
  MPI_Comm program = MPI_COMM_NULL;
  const int io_ranks = below(2) ? static_cast<int>(below(static_cast<unsigned>(comm.size()))) : 0;
  must(slabmark_init_io(comm.get(), io_ranks, &program, &system));
  const std::string path = scratch.file("a");
  if (program != MPI_COMM_NULL) {
    MPI_Comm_size(program, &ranks);
    MPI_Comm_rank(program, &rank);
    MPI_Comm_free(&program);
    run(path);
    if (HasFatalFailure()) return;
  }
  comm.barrier();
  auto written = posix::File::open(path, posix::File::Access::read);
  std::vector<std::byte> bytes(written.size());
  written.read_at(0, bytes.data(), bytes.size());
  comm.barrier();
  ASSERT_TRUE(system == 0 || bytes.size() <= model.size());
  bytes.resize(model.size());  // nobody may have the last elements
  for (std::size_t b = 0; b < model.size(); ++b) ASSERT_EQ(bytes[b], model[b]) << "byte " << b;
}

void RandomRearrangeLibrary::run(const std::string& path) {
  set_options();
  std::vector<Layout> layouts;
  for (int i = 0; i < 3; ++i) layouts.push_back(make_layout());
  int file = 0;
  must(slabmark_open_raw(system, path.c_str(), SLABMARK_CREATE, MPI_INFO_NULL, &file));

  // Fixed arrays first, then records of the others, one after another, with gaps.
  std::vector<Variable> variables(2 + below(6));
  std::uint64_t end = 8 * below(3), begin_of_records = 0, record_bytes = 0;
  for (const bool records : {false, true}) {
    for (std::size_t v = 0; v < variables.size(); ++v) {
      if ((v % 2 == 1) != records) continue;
      const std::size_t layout = below(3);
      const std::uint64_t bytes = layouts[layout].owner.size() * layouts[layout].element_bytes;
      variables[v].layout = layout;
      variables[v].offset = end;
      end += (bytes + 7) / 8 * 8 + 8 * below(2);
    }
    if (!records) begin_of_records = end;
  }
  record_bytes = end - begin_of_records;
  const slabmark_type types[] = {SLABMARK_UINT8, SLABMARK_INT16, SLABMARK_FLOAT32, SLABMARK_INT64};
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const Layout& layout = layouts[variables[v].layout];
    variables[v].record_bytes = v % 2 == 1 ? record_bytes : 0;
    const auto type = types[std::countr_zero(layout.element_bytes)];
    must(slabmark_def_raw(file, type, static_cast<std::int64_t>(layout.owner.size()),
                          static_cast<std::int64_t>(variables[v].offset),
                          static_cast<std::int64_t>(variables[v].record_bytes),
                          &variables[v].number));
  }

  std::vector<std::vector<std::byte>> kept;
  const auto flush = [&] {
    must(slabmark_flush(file));
    kept.clear();
  };
  for (unsigned call = 0; call < 60; ++call) {
    const Variable& variable = variables[below(static_cast<unsigned>(variables.size()))];
    const Layout& layout = layouts[variable.layout];
    std::uint64_t offset = variable.offset;
    if (variable.record_bytes > 0) {
      const unsigned record = below(4);
      must(slabmark_set_frame(file, variable.number, record));
      offset += record * variable.record_bytes;
    }
    const unsigned what = below(8);
    if (what == 0) {
      check_read(file, variable, layout, offset);
      if (HasFatalFailure()) return;
      continue;
    }
    if (what == 1) flush();
    const std::uint64_t filler = 0xaaaaaaaaaaaaaaaau;
    const std::uint64_t* const fill = below(4) == 0 ? &filler : nullptr;
    auto data = data_of(layout, call);
    const auto count = static_cast<std::int64_t>(layout.mine.size());
    if (below(2)) {
      kept.push_back(std::move(data));
      must(slabmark_iput_darray(file, variable.number, layout.decomp, count, kept.back().data(),
                                fill));
    } else {
      must(slabmark_write_darray(file, variable.number, layout.decomp, count, data.data(), fill));
    }
    write_to_model(layout, offset, call, fill);
  }
  must(slabmark_close(file));
  must(slabmark_finalize(system));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRearrangeLibrary, testing::Range(1u, 13u));

}  // namespace
}  // namespace slabmark
