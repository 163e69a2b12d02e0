#include "bench/pattern/content_kind.hpp"

#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "bench/pattern/content_hash.hpp"

namespace slabmark {

namespace {

constexpr double mean_value = 250.0;
constexpr double wave_height = 0.1 * mean_value;
constexpr double noise_height = 0.01 * mean_value;

/// A number in [0, 1).
double fraction(std::uint64_t hash) { return std::ldexp(static_cast<double>(hash >> 11), -53); }

template <class T>
T smooth_value(double value, std::uint64_t hash) {
  const double rough = value + noise_height * (2 * fraction(hash) - 1);
  if constexpr (std::is_same_v<T, char>) {
    return static_cast<char>('0' + static_cast<int>(rough) % 64);
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return static_cast<std::uint8_t>(rough / 2);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(1000 * rough);
  } else {
    return static_cast<float>(rough);
  }
}

template <class T>
T random_value(std::uint64_t hash) {
  if constexpr (std::is_same_v<T, char>) {
    return static_cast<char>('0' + (hash >> 58));  // printable, as texts are
  } else {
    T value;
    if constexpr (std::is_floating_point_v<T>) hash &= ~(std::uint64_t{1} << (8 * sizeof(T) - 2));
    std::memcpy(&value, &hash, sizeof(T));
    return value;
  }
}

/// Contents that are made row by row of the fastest dimension.
class RowContent : public Content {
 public:
  explicit RowContent(const std::vector<Dataset>& datasets) : datasets_(datasets) {}

  void fill(std::size_t dataset, std::uint64_t time, const Extent& start, const Extent& count,
            std::byte* out) const override {
    const Extent extent = datasets_[dataset].extent();
    const std::uint64_t row_length = count.empty() ? 1 : count.back();
    Extent at(extent.size());
    StridedWalk rows;
    rows.restart_at_rows(start.data(), count.data(), extent);
    rows.for_each([&](std::int64_t position) {
      const Run row{static_cast<std::uint64_t>(position), row_length};
      store_indices(row.offset, extent, at.data());
      fill_row(dataset, time, at, row, out);
      out += row_length * size_of(datasets_[dataset].type);
    });
  }

 protected:
  virtual void fill_row(std::size_t dataset, std::uint64_t time, const Extent& at, Run row,
                        std::byte* out) const = 0;

  const std::vector<Dataset> datasets_;
};

class SmoothContent : public RowContent {
 public:
  using RowContent::RowContent;

 private:
  void fill_row(std::size_t dataset, std::uint64_t time, const Extent& at, Run row,
                std::byte* out) const override {
    double slow = mean_value;
    for (std::size_t d = 0; d + 1 < at.size(); ++d) slow += wave_at(dataset, time, d, at[d]);
    const std::uint64_t key = content_key(dataset, time);
    with_type(datasets_[dataset].type, [&]<class T>(T) {
      for (std::uint64_t i = 0; i < row.length; ++i) {
        double value = slow;
        if (!at.empty()) value += wave_at(dataset, time, at.size() - 1, at.back() + i);
        const T element = smooth_value<T>(value, content_hash(key, row.offset + i));
        std::memcpy(out + i * sizeof(T), &element, sizeof(T));
      }
    });
  }

  // A few waves along a dimension, others for each dataset, which move with time.
  double wave_at(std::size_t dataset, std::uint64_t time, std::size_t d,
                 std::uint64_t index) const {
    const std::uint64_t hash = content_hash(content_key(dataset, 0), d);
    const double waves = static_cast<double>(1 + hash % 3);
    const double place =
        static_cast<double>(index) / static_cast<double>(datasets_[dataset].dimensions[d].length);
    const double turn = waves * place + fraction(hash) + 0.01 * static_cast<double>(time);
    return wave_height * std::sin(2 * std::numbers::pi * turn);
  }
};

class RandomContent : public RowContent {
 public:
  using RowContent::RowContent;

 private:
  void fill_row(std::size_t dataset, std::uint64_t time, const Extent&, Run row,
                std::byte* out) const override {
    const std::uint64_t key = content_key(dataset, time);
    with_type(datasets_[dataset].type, [&]<class T>(T) {
      for (std::uint64_t i = 0; i < row.length; ++i) {
        const T element = random_value<T>(content_hash(key, row.offset + i));
        std::memcpy(out + i * sizeof(T), &element, sizeof(T));
      }
    });
  }
};

}  // namespace

std::shared_ptr<const Content> make_content(ContentKind kind,
                                            const std::vector<Dataset>& datasets) {
  switch (kind) {
    case ContentKind::smooth:
      return std::make_shared<SmoothContent>(datasets);
    case ContentKind::random:
      return std::make_shared<RandomContent>(datasets);
    case ContentKind::position:
      break;
  }
  return nullptr;
}

}  // namespace slabmark
