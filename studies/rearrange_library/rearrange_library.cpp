// What the library for decomposed arrays takes beside the method pnetcdf-rearranged and beside
// PnetCDF's own requests: the same file, written in turns by one job. And for how long a program
// stands still that has its records written while it computes. See README.md for the commands.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "accel/c_library/api/rearrange_pnetcdf.h"
#include "bench/map/map_pattern.hpp"
#include "bench/measure/clock.hpp"
#include "bench/method/pnetcdf/method.hpp"
#include "bench/method/registry.hpp"
#include "bench/method/timed_file.hpp"
#include "bench/pattern/content.hpp"
#include "bench/pattern/transfer_pieces.hpp"
#include "collective/exchange/flush_plan.hpp"
#include "core/base/number.hpp"
#include "core/parallel/program.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/pnetcdf/file.hpp"

namespace {

using namespace slabmark;

void must(int code) {
  if (code != SLABMARK_OK) throw IoError(slabmark_message());
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

slabmark_type type_of(ElementType type) {
  switch (type) {
    case ElementType::int32:
      return SLABMARK_INT32;
    case ElementType::int64:
      return SLABMARK_INT64;
    case ElementType::float32:
      return SLABMARK_FLOAT32;
    case ElementType::float64:
      return SLABMARK_FLOAT64;
    default:
      return SLABMARK_UINT8;
  }
}

/// The pattern's transfers, with memory that holds their contents.
class Data {
 public:
  explicit Data(const Pattern& pattern) : pattern_(pattern) {
    for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
      transfers.push_back(pattern.transfers(round));
      auto& of_round = buffers.emplace_back();
      for (const Transfer& transfer : transfers.back()) {
        const Dataset& dataset = pattern.datasets[transfer.dataset];
        std::uint64_t elements = 0;
        for_each_piece(transfer, [&](const Piece& piece) {
          elements = std::max(elements, piece.buffer + piece.length);
        });
        memory_.emplace_back(elements * size_of(dataset.type) + 1);
        fill_buffer(pattern, transfer, memory_.back().data());
        of_round.push_back(memory_.back().data());
        counts.push_back(static_cast<std::int64_t>(elements));
      }
    }
  }

  std::vector<std::vector<Transfer>> transfers;  ///< by round
  std::vector<std::vector<std::byte*>> buffers;  ///< of each
  std::vector<std::int64_t> counts;              ///< elements of each, one round after another

 private:
  const Pattern& pattern_;
  std::vector<std::vector<std::byte>> memory_;
};

/// One way to write the file.
class Way {
 public:
  virtual ~Way() = default;
  virtual void write(const std::string& path) = 0;
};

class ByMethod : public Way {
 public:
  ByMethod(const Comm& comm, const Pattern& pattern, const Data& data, const std::string& method)
      : comm_(comm), pattern_(pattern), data_(data), method_(find_method(method)) {}

  void write(const std::string& path) override {
    PhaseClock clock(comm_);
    TimedFile file(method_, {comm_, pattern_, Direction::write, settings_, clock, &kept_});
    file.begin(path);
    for (std::uint64_t round = 0; round < pattern_.rounds; ++round) {
      const std::span<std::byte* const> buffers = data_.buffers[round];
      file.move(round, {&buffers, 1});
    }
    file.end();
  }

 private:
  const Comm& comm_;
  const Pattern& pattern_;
  const Data& data_;
  const MethodInfo& method_;
  Settings settings_;
  std::shared_ptr<void> kept_;
};

class ByLibrary : public Way {
 public:
  /// `copies`: the buffers are the program's again at once. `system`: one that there is already.
  ByLibrary(const Comm& comm, const Pattern& pattern, const Data& data, bool copies, int system = 0)
      : comm_(comm), pattern_(pattern), data_(data), copies_(copies), system_(system) {
    if (system == 0) {
      own_ = true;
      must(slabmark_init(comm.get(), &system_));
    }
    for (const auto& transfers : data.transfers) declare(transfers);
  }
  ~ByLibrary() override {
    if (own_) slabmark_finalize(system_);
  }

  void write(const std::string& path) override {
    write(path, [](std::uint64_t, const auto& put) { put(); });
  }

  /// `record(round, put)` calls put().
  template <class Record>
  void write(const std::string& path, const Record& record) {
    int file = 0;
    const int ncid = comm_.is_root() ? define(path) : -1;
    must(slabmark_take_pnetcdf(system_, path.c_str(), ncid, MPI_INFO_NULL, &file));
    std::size_t next = 0;
    for (std::uint64_t round = 0; round < pattern_.rounds; ++round) {
      record(round, [&] { put(file, round, next); });
    }
    must(slabmark_close(file));
  }

 private:
  void put(int file, std::uint64_t round, std::size_t& next) {
    const auto& transfers = data_.transfers[round];
    for (std::size_t i = 0; i < transfers.size(); ++i, ++next) {
      const auto variable = static_cast<int>(transfers[i].dataset);
      if (pattern_.datasets[transfers[i].dataset].has_time) {
        must(slabmark_set_frame(file, variable, static_cast<std::int64_t>(transfers[i].time)));
      }
      const auto put = copies_ ? slabmark_write_darray : slabmark_iput_darray;
      must(put(file, variable, decompositions_[next], data_.counts[next], data_.buffers[round][i],
               nullptr));
    }
    must(slabmark_flush(file));
  }

  /// One decomposition for all transfers that are laid out alike on all ranks.
  void declare(const std::vector<Transfer>& transfers) {
    std::map<std::tuple<SelectionPtr, SelectionPtr, ElementType>, std::size_t> first_with;
    std::vector<std::size_t> first;
    for (const Transfer& transfer : transfers) {
      const auto type = pattern_.datasets[transfer.dataset].type;
      first.push_back(first_with.try_emplace({transfer.file, transfer.buffer, type}, first.size())
                          .first->second);
    }
    std::vector<int> by_map;
    const auto map_of = agreed_maps(comm_, first);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const std::int64_t count = data_.counts[decompositions_.size()];
      if (map_of[i] == by_map.size()) by_map.push_back(declare(transfers[i], count));
      decompositions_.push_back(by_map[map_of[i]]);
    }
  }

  int declare(const Transfer& transfer, std::int64_t count) {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(count), -1);
    for_each_piece(transfer, [&](const Piece& piece) {
      for (std::uint64_t e = 0; e < piece.length; ++e) {
        offsets[piece.buffer + e] = static_cast<std::int64_t>(piece.file + e);
      }
    });
    const Dataset& dataset = pattern_.datasets[transfer.dataset];
    std::vector<std::int64_t> extents;
    for (const Dimension& dimension : dataset.dimensions) {
      extents.push_back(static_cast<std::int64_t>(dimension.length));
    }
    int decomposition = 0;
    must(slabmark_init_decomp(system_, type_of(dataset.type), static_cast<int>(extents.size()),
                              extents.data(), count, offsets.data(), &decomposition));
    return decomposition;
  }

  int define(const std::string& path) const {
    const mpiio::Info info(mpiio::Hints{{"nc_var_align_size", "1"}});
    auto file =
        pnetcdf::File::create(MPI_COMM_SELF, path, NC_NOCLOBBER | NC_64BIT_DATA, info.get());
    define_variables(file, pattern_);
    file.enddef();
    return file.release();
  }

  const Comm& comm_;
  const Pattern& pattern_;
  const Data& data_;
  bool copies_, own_ = false;
  int system_;
  std::vector<int> decompositions_;  ///< by transfer, one round after another
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string median_and_range(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return fmt::format("{:.4f} [{:.4f}, {:.4f}]", values[values.size() / 2], values.front(),
                     values.back());
}

/// Memory for the data of a round, to copy them to as fast as can be: it was touched before.
class Copy {
 public:
  explicit Copy(const Data& data) : data_(data) {}

  void make(const Pattern& pattern, std::uint64_t round) {
    std::size_t at = 0, next = 0;
    for (std::uint64_t r = 0; r < round; ++r) next += data_.transfers[r].size();
    for (std::size_t i = 0; i < data_.transfers[round].size(); ++i, ++next) {
      const auto type = pattern.datasets[data_.transfers[round][i].dataset].type;
      const auto bytes = static_cast<std::size_t>(data_.counts[next]) * size_of(type);
      if (memory_.size() < at + bytes) memory_.resize(2 * (at + bytes));
      std::memcpy(memory_.data() + at, data_.buffers[round][i], bytes);
      at += bytes;
    }
  }

 private:
  const Data& data_;
  std::vector<std::byte> memory_;
};

/// What a step took: seconds, and of this thread pages that were first touched, and how often it
/// gave its core away; each of the rank that has most.
struct Cost {
  double seconds, faults, switches;
};

template <class Step>
Cost cost_of(const Comm& comm, const Step& step) {
  const auto usage = [] {
    rusage now{};
    getrusage(RUSAGE_THREAD, &now);
    return now;
  };
  comm.barrier();
  const rusage before = usage();
  const double begin = now();
  step();
  const double seconds = now() - begin;
  const rusage after = usage();
  return {comm.max(seconds), comm.max(static_cast<double>(after.ru_minflt - before.ru_minflt)),
          comm.max(static_cast<double>(after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw -
                                       before.ru_nivcsw))};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// What a program waits for in each record that is written while it computes (asleep), beside one
/// copy of the same data.
void measure_stalls(const Comm& comm, const Pattern& pattern, const Data& data, int system,
                    const std::string& path, std::uint64_t trials, double computes) {
  Copy copy(data);
  for (const bool copies : {false, true}) {
    ByLibrary library(comm, pattern, data, copies, system);
    std::vector<double> copying, standing, ratios;
    std::vector<double> faults[2], switches[2];                // of copy and record
    for (std::uint64_t trial = 0; trial <= trials; ++trial) {  // the first is for warming up
      if (comm.is_root()) std::remove(path.c_str());
      comm.barrier();
      library.write(path, [&](std::uint64_t round, const auto& put) {
        Cost of_copy{}, of_put{};
        const auto copy_now = [&] { of_copy = cost_of(comm, [&] { copy.make(pattern, round); }); };
        if (round % 2 == 0) copy_now();  // whoever comes second finds the data in the caches
        of_put = cost_of(comm, put);
        if (round % 2 == 1) copy_now();
        if (trial > 0 && round > 0) {  // of the first, variables without time are a part
          copying.push_back(of_copy.seconds);
          standing.push_back(of_put.seconds);
          ratios.push_back(of_put.seconds / of_copy.seconds);
          for (const int which : {0, 1}) {
            faults[which].push_back((which == 0 ? of_copy : of_put).faults);
            switches[which].push_back((which == 0 ? of_copy : of_put).switches);
          }
        }
        std::this_thread::sleep_for(std::chrono::duration<double>(computes));
      });
    }
    if (!comm.is_root()) continue;
    fmt::print(
        "{:<15} one copy {}  stall {}  ratio {}  page faults {:.0f} {:.0f}  switches {:.0f} "
        "{:.0f}\n",
        copies ? "library, write" : "library, iput", median_and_range(copying),
        median_and_range(standing), median_and_range(ratios), median(faults[0]), median(faults[1]),
        median(switches[0]), median(switches[1]));
  }
  if (comm.is_root()) std::remove(path.c_str());
}

/// The program's ranks and system, with `io_ranks` apart; null on these, when all is done.
std::unique_ptr<Comm> with_io_ranks(const Comm& world, int io_ranks, int& system) {
  MPI_Comm own = MPI_COMM_NULL;
  must(slabmark_init_io(world.get(), io_ranks, &own, &system));
  if (own == MPI_COMM_NULL) return nullptr;
  must(slabmark_set_option(system, "in_flight", "2"));
  return Comm::taking_over(own);
}

using Ways = std::vector<std::pair<std::string, std::unique_ptr<Way>>>;

/// Writes the file in all ways in turn, and prints the seconds of each.
void compare(const Comm& comm, const Ways& ways, const std::string& path, std::uint64_t trials) {
  std::vector<std::vector<double>> seconds(ways.size());
  std::string expected;
  for (std::uint64_t trial = 0; trial <= trials; ++trial) {  // the first is for warming up
    for (std::size_t w = 0; w < ways.size(); ++w) {
      // Everyone goes first in turn.
      const std::size_t way = (w + trial) % ways.size();
      if (comm.is_root()) std::remove(path.c_str());
      comm.barrier();
      const double begin = now();
      ways[way].second->write(path);
      comm.barrier();
      const double took = comm.max(now() - begin);
      if (trial > 0) seconds[way].push_back(took);
      if (trial > 0 || !comm.is_root()) continue;
      const std::string written = bytes_of(path);
      if (expected.empty()) expected = written;
      fmt::print("{:<20} {} bytes{}\n", ways[way].first, written.size(),
                 written == expected ? "" : ", not those of the first");
    }
  }
  if (comm.is_root()) {
    std::remove(path.c_str());
    fmt::print("{:<20} {:<26} over the first, trial by trial\n", "way", "seconds, create to close");
    for (std::size_t w = 0; w < ways.size(); ++w) {
      std::vector<double> ratios;
      for (std::size_t t = 0; t < trials; ++t) ratios.push_back(seconds[w][t] / seconds[0][t]);
      fmt::print("{:<20} {:<26} {}\n", ways[w].first, median_and_range(seconds[w]),
                 median_and_range(ratios));
    }
  }
}

ExitStatus run(const Comm& world, int argc, char** argv) {
  if (argc < 5) {
    throw InputError(
        "usage: rearrange_library CASE MAP FOLDER TRIALS [RECORDS] [varn | stall IO_RANKS "
        "SECONDS]");
  }
  const std::string folder = argv[3];
  const auto trials = parse_count(argv[4], "the number of trials", 1);
  OutputPatternRequest request{.path = argv[2], .output = argv[1]};
  if (argc > 5) request.records = parse_count(argv[5], "the number of records", 1);
  if (argc > 8 && std::string(argv[6]) == "stall") {
    int system = 0;
    const auto program = with_io_ranks(world, std::stoi(argv[7]), system);
    if (!program) return ExitStatus::good;
    const Pattern pattern = make_output_map_pattern(*program, request).mine;
    measure_stalls(*program, pattern, Data(pattern), system, folder + "/rearrange_library.nc",
                   trials, std::stod(argv[8]));
    must(slabmark_finalize(system));
    return ExitStatus::good;
  }
  const Comm& comm = world;
  const Pattern pattern = make_output_map_pattern(comm, request).mine;
  const Data data(pattern);

  Ways ways;
  const auto add_method = [&](const std::string& name) {
    ways.emplace_back(name, std::make_unique<ByMethod>(comm, pattern, data, name));
  };
  add_method("pnetcdf-rearranged");
  ways.emplace_back("library, iput", std::make_unique<ByLibrary>(comm, pattern, data, false));
  ways.emplace_back("library, write", std::make_unique<ByLibrary>(comm, pattern, data, true));
  if (argc > 6 && std::string(argv[6]) == "varn") add_method("pnetcdf-varn");

  compare(comm, ways, folder + "/rearrange_library.nc", trials);
  return ExitStatus::good;
}

}  // namespace

int main(int argc, char** argv) {
  return slabmark::run_program(
      argc, argv, "rearrange_library",
      [&](const slabmark::Comm& world) { return run(world, argc, argv); }, MPI_THREAD_MULTIPLE);
}
