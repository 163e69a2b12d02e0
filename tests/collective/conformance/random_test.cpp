// Random programs: the file must hold what a model of it in memory holds.

#include <algorithm>
#include <random>

#include "collective/conformance/fixture.hpp"

namespace slabmark::conformance {
namespace {

/// The same on all ranks.
class RandomProgram {
 public:
  RandomProgram(unsigned seed, const Adapter& adapter, std::size_t ranks)
      : random_(seed),
        ranks_(ranks),
        shares_(can(adapter, Ability::share_elements)),
        repeats_(can(adapter, Ability::repeat_elements)),
        rewrites_(adapter.lacks(Ability::rewrite).empty()) {}

  Program make() {
    Program program;
    for (std::size_t a = 0, count = 1 + below(5); a < count; ++a) {
      const auto& type = element_types[below(element_types.size())];
      Array array{"v" + std::to_string(a), type.type, {1 + below(9), 1 + below(60)}, below(2) == 1};
      if (below(4) == 0) array.extent.erase(array.extent.begin());
      program.arrays.push_back(std::move(array));
    }
    for (std::size_t step = 0, count = 2 + below(6); step < count; ++step) {
      const bool again = step > 0 && below(3) == 0;
      program.steps.push_back(again ? moved_on(program, program.steps[below(step)])
                                    : new_step(program));
    }
    return program;
  }

 private:
  static bool can(const Adapter& adapter, Ability ability) {
    return adapter.lacks(ability).empty() && adapter.lacks(Ability::overlap_in_few_pieces).empty();
  }

  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  /// The same pieces, of another record.
  Step moved_on(const Program& program, Step step) {
    const std::uint64_t further = below(3);
    for (Request& one : step) {
      if (program.array_of(one).has_records) one.record += further;
    }
    return step;
  }

  Step new_step(const Program& program) {
    Step step;
    for (std::size_t r = 0, count = below(6); r < count; ++r) {
      Request one{below(program.arrays.size()), 0, {}};
      if (program.array_of(one).has_records) one.record = below(4);
      const bool is_there = std::ranges::any_of(step, [&](const Request& other) {
        return other.array == one.array && other.record == one.record;
      });
      if (is_there && !rewrites_) continue;
      one.runs = parts_of(element_count(program.array_of(one).extent));
      step.push_back(std::move(one));
    }
    return step;
  }

  /// Returns random parts of an array by rank, in any order. Some elements may occur twice, and
  /// others not at all.
  std::vector<RunList> parts_of(std::uint64_t elements) {
    std::vector<RunList> parts(ranks_);
    const std::uint64_t nobody = below(3), longest = 1 + below(20);
    for (std::uint64_t begin = 0; begin < elements;) {
      const Run run{begin, std::min(1 + below(longest), elements - begin)};
      if (below(4) >= nobody) parts[below(ranks_)].push_back(run);
      if (shares_ && below(5) == 0) parts[below(ranks_)].push_back(run);
      begin = run.end();
    }
    for (RunList& runs : parts) {
      if (!repeats_) runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
      if (below(2) == 1) std::shuffle(runs.begin(), runs.end(), random_);
    }
    return parts;
  }

  std::mt19937_64 random_;
  std::size_t ranks_;
  bool shares_, repeats_, rewrites_;
};

class RandomConformance : public Conformance {};

// Other seeds on other numbers of ranks; SLABMARK_CONFORMANCE_SEEDS=1000-2000 tries those.
TEST_P(RandomConformance, ProgramsLeaveWhatAModelOfTheFileHolds) {
  const char* const given = std::getenv("SLABMARK_CONFORMANCE_SEEDS");
  unsigned first = static_cast<unsigned>(100 * comm.size()), last = first + 1;
  if (given) std::sscanf(given, "%u-%u", &first, &last);
  for (unsigned seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    use({.little_memory = seed % 2 == 0,
         .no_shared_memory = seed % 2 == 1,
         .overlap = seed % 3 == 1});
    const Program program = RandomProgram(seed, *adapter, ranks()).make();
    write_and_read(program, std::to_string(seed));
    if (comm.any(HasFailure())) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Adapters, RandomConformance, testing::ValuesIn(adapters()),
                         name_of_adapter);

}  // namespace
}  // namespace slabmark::conformance
