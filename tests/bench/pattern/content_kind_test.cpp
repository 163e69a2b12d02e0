#include "bench/pattern/content_kind.hpp"

#include <cmath>
#include <cstring>
#include <set>

#include <gmock/gmock.h>

namespace slabmark {
namespace {

std::vector<Dataset> datasets_of_all_types() {
  std::vector<Dataset> datasets;
  for (const auto type : {ElementType::uint8, ElementType::int32, ElementType::int64,
                          ElementType::float32, ElementType::float64, ElementType::character}) {
    datasets.push_back(
        {std::string(name_of(type)), type, {{"z", 3}, {"y", 4}, {"x", 5}}, false, std::nullopt});
  }
  datasets.push_back({"scalar", ElementType::float64, {}, false, std::nullopt});
  return datasets;
}

class ContentKinds : public testing::TestWithParam<ContentKind> {
 protected:
  const std::vector<Dataset> datasets = datasets_of_all_types();
  const std::shared_ptr<const Content> content = make_content(GetParam(), datasets);
};

TEST_P(ContentKinds, GiveAnElementTheSameBitsInWhateverBoxItIsAskedFor) {
  for (std::size_t d = 0; d + 1 < datasets.size(); ++d) {
    const std::size_t size = size_of(datasets[d].type);
    std::vector<std::byte> whole(60 * size), one(size);
    content->fill(d, 2, {0, 0, 0}, {3, 4, 5}, whole.data());
    for (std::uint64_t e = 0; e < 60; ++e) {
      content->fill(d, 2, {e / 20, e / 5 % 4, e % 5}, {1, 1, 1}, one.data());
      EXPECT_EQ(std::memcmp(one.data(), whole.data() + e * size, size), 0) << d << " " << e;
    }
    std::vector<std::byte> part(8 * size);
    content->fill(d, 2, {1, 1, 2}, {2, 2, 2}, part.data());
    EXPECT_EQ(std::memcmp(part.data() + 6 * size, whole.data() + 52 * size, 2 * size), 0) << d;
  }
}

TEST_P(ContentKinds, DifferWithTheElementTheDatasetAndTheTime) {
  std::set<double> values;
  double value = 0.0;
  const auto ask = [&](std::size_t dataset, std::uint64_t time, const Extent& at) {
    content->fill(dataset, time, at, Extent(at.size(), 1), reinterpret_cast<std::byte*>(&value));
    values.insert(value);
  };
  ask(4, 0, {0, 0, 0});
  ask(4, 0, {0, 0, 1});
  ask(4, 0, {0, 1, 0});
  ask(4, 0, {1, 0, 0});
  ask(4, 1, {0, 0, 0});
  ask(6, 0, {});
  ask(6, 1, {});
  EXPECT_EQ(values.size(), 7u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ContentKinds,
                         testing::Values(ContentKind::smooth, ContentKind::random));

TEST(RandomContent, IsNeverNotANumber) {
  const std::vector<Dataset> datasets = {
      {"f", ElementType::float32, {{"x", 20000}}, false, std::nullopt}};
  std::vector<float> values(20000);
  make_content(ContentKind::random, datasets)
      ->fill(0, 0, {0}, {20000}, reinterpret_cast<std::byte*>(values.data()));
  for (const float value : values) EXPECT_TRUE(std::isfinite(value));
}

TEST(SmoothContent, HoldsNoMoreThanSinglePrecisionDoes) {
  const std::vector<Dataset> datasets = {
      {"d", ElementType::float64, {{"x", 1000}}, false, std::nullopt}};
  std::vector<double> values(1000);
  make_content(ContentKind::smooth, datasets)
      ->fill(0, 0, {0}, {1000}, reinterpret_cast<std::byte*>(values.data()));
  for (const double value : values) {
    EXPECT_EQ(value, static_cast<double>(static_cast<float>(value)));
    EXPECT_NEAR(value, 250.0, 28.0);
  }
}

TEST(PositionContent, IsWhatPatternsHaveWithoutAny) {
  EXPECT_EQ(make_content(ContentKind::position, {}), nullptr);
}

}  // namespace
}  // namespace slabmark
