#include "bench/pattern/synthetic/mesh.hpp"

#include <array>

namespace slabmark {
namespace {

/// The edges of a face that were met on an earlier face. With N = 3 ne, node (u, v) of the six
/// faces lies on the cube's surface at (u,0,v), (N,u,v), (N-u,N,v), (0,N-u,v), (u,N-v,0) and
/// (u,v,N): the belt closes from face to face, and bottom and top are bordered by the belt all
/// around.
struct MetEdges {
  bool u_low;
  bool u_high;
  bool v_low;
  bool v_high;
};

constexpr std::array<MetEdges, CubedSphere::faces> met_edges = {{
    {false, false, false, false},
    {true, false, false, false},
    {true, false, false, false},
    {true, true, false, false},
    {true, true, true, true},
    {true, true, true, true},
}};

/// Nodes that elements own along one axis of a face. An element's nodes 1 to 3 are new to its row,
/// node 0 only at the face's low edge.
class Axis {
 public:
  Axis(std::uint64_t ne, bool low_met, bool high_met)
      : ne_(ne), low_new_(low_met ? 0 : 1), high_met_(high_met ? 1 : 0) {}

  /// Owned by all elements before the i-th; `i` may be ne.
  std::uint64_t before(std::uint64_t i) const {
    if (i == 0) return 0;
    return 3 * i + low_new_ - (i == ne_ ? high_met_ : 0);
  }

  std::uint8_t begin(std::uint64_t i) const { return i == 0 && low_new_ == 1 ? 0 : 1; }

  std::uint8_t end(std::uint64_t i) const { return i + 1 == ne_ && high_met_ == 1 ? 3 : 4; }

 private:
  std::uint64_t ne_;
  std::uint64_t low_new_;
  std::uint64_t high_met_;
};

}  // namespace

CubedSphere::Owned CubedSphere::owned(std::uint64_t element) const {
  const std::uint64_t face = element / (ne_ * ne_);
  const std::uint64_t j = element / ne_ % ne_;
  const std::uint64_t i = element % ne_;

  std::uint64_t first = 0;
  for (std::uint64_t f = 0; f < face; ++f) {
    const MetEdges& met = met_edges[f];
    first +=
        Axis(ne_, met.u_low, met.u_high).before(ne_) * Axis(ne_, met.v_low, met.v_high).before(ne_);
  }
  const MetEdges& met = met_edges[face];
  const Axis u(ne_, met.u_low, met.u_high);
  const Axis v(ne_, met.v_low, met.v_high);
  const std::uint64_t row_height = v.before(j + 1) - v.before(j);
  first += v.before(j) * u.before(ne_) + u.before(i) * row_height;

  return {first, u.begin(i), u.end(i), v.begin(j), v.end(j)};
}

}  // namespace slabmark
