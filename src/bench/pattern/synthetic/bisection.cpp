#include "bench/pattern/synthetic/bisection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace slabmark {
namespace {

/// Where each rank's piece ends in a list of `total` items. The squares of uniform numbers, shifted
/// to mean 0 and scaled so that the greatest is `imbalance`, are the pieces' deviations from the
/// mean.
std::vector<std::uint64_t> piece_ends(std::uint64_t total, std::uint64_t ranks, double imbalance,
                                      RandomStream& random) {
  std::vector<double> deviation(ranks);
  for (double& d : deviation) {
    const double u = random.unit();
    d = u * u;
  }
  const double mean =
      std::accumulate(deviation.begin(), deviation.end(), 0.0) / static_cast<double>(ranks);
  const double greatest = *std::max_element(deviation.begin(), deviation.end()) - mean;
  const double scale = greatest > 0.0 ? imbalance / greatest : 0.0;

  std::vector<std::uint64_t> ends(ranks);
  double sum = 0.0;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    sum += 1.0 + (deviation[rank] - mean) * scale;
    ends[rank] = static_cast<std::uint64_t>(
        std::llround(sum / static_cast<double>(ranks) * static_cast<double>(total)));
  }
  ends.back() = total;
  return ends;
}

class Bisection {
 public:
  Bisection(const std::vector<Point>& points, std::vector<std::uint64_t> ends)
      : points_(points), ends_(std::move(ends)), order_(points.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    split(0, ends_.size());
  }

  std::vector<std::uint32_t> ranks() const {
    std::vector<std::uint32_t> rank(order_.size());
    for (std::uint64_t r = 0; r < ends_.size(); ++r) {
      for (std::uint64_t i = begin_of(r); i < ends_[r]; ++i) {
        rank[order_[i]] = static_cast<std::uint32_t>(r);
      }
    }
    return rank;
  }

 private:
  std::uint64_t begin_of(std::uint64_t rank) const { return rank == 0 ? 0 : ends_[rank - 1]; }

  /// Deals the points in [begin_of(first), begin_of(last)) to the ranks [first, last).
  void split(std::uint64_t first, std::uint64_t last) {
    if (last - first < 2) return;
    const std::uint64_t middle = first + (last - first) / 2;
    const auto at = [this](std::uint64_t i) {
      return order_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const auto begin = at(begin_of(first));
    const auto end = at(ends_[last - 1]);
    const auto cut = at(begin_of(middle));
    if (wider_than_high({begin, end})) {
      std::nth_element(begin, cut, end, [this](std::uint32_t a, std::uint32_t b) {
        return points_[a].x < points_[b].x || (points_[a].x == points_[b].x && a < b);
      });
    } else {
      std::nth_element(begin, cut, end, [this](std::uint32_t a, std::uint32_t b) {
        return points_[a].y < points_[b].y || (points_[a].y == points_[b].y && a < b);
      });
    }
    split(first, middle);
    split(middle, last);
  }

  bool wider_than_high(std::span<const std::uint32_t> of) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Point low = {infinity, infinity};
    Point high = {-infinity, -infinity};
    for (const std::uint32_t i : of) {
      low = {std::min(low.x, points_[i].x), std::min(low.y, points_[i].y)};
      high = {std::max(high.x, points_[i].x), std::max(high.y, points_[i].y)};
    }
    return high.x - low.x > high.y - low.y;
  }

  const std::vector<Point>& points_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

std::vector<std::uint32_t> bisect(const std::vector<Point>& points, std::uint64_t ranks,
                                  double imbalance, RandomStream& random) {
  return Bisection(points, piece_ends(points.size(), ranks, imbalance, random)).ranks();
}

}  // namespace slabmark
