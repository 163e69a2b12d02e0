#include "collective/engine.hpp"

#include <algorithm>
#include <array>

#include <gmock/gmock.h>

namespace slabmark::rearrange {
namespace {

using testing::ElementsAre;

TEST(RearrangeEngine, APlanServesAllRecordsWhereverTheirArraysLieInTheFile) {
  const Comm comm(MPI_COMM_WORLD);
  RearrangerSettings settings;
  settings.aggregators = static_cast<std::uint64_t>(comm.size());
  Engine engine(comm, settings, 8);
  const auto pieces = std::make_shared<const std::vector<Piece>>();
  const auto fitting = [&](std::uint64_t offset, std::uint64_t elements, bool makes) {
    const std::array parts = {Part{{offset, 8, elements}, pieces, nullptr, "v"},
                              Part{{offset + 8 * elements, 4, 500}, pieces, nullptr, "w"}};
    const std::array places = {parts[0].place, parts[1].place};
    const FileDomain domain(places, 0);
    const Layout layout{parts, domain, 4096, true};
    if (makes) engine.make(layout);
    return engine.fitting(layout);
  };
  EXPECT_THAT(fitting(100, 1000, true), ElementsAre(true));
  EXPECT_THAT(fitting(100 + 10000, 1000, false), ElementsAre(true));
  EXPECT_THAT(fitting(100, 1001, false), ElementsAre(false)) << "another shape";
}

}  // namespace
}  // namespace slabmark::rearrange
