#pragma once

#include <cstdint>

namespace slabmark {

/// The cubed-sphere mesh of E3SM's spectral-element atmosphere: 6 faces of ne x ne elements with
/// 4 x 4 GLL nodes each. Elements are numbered face by face (four belt faces, bottom, top), row by
/// row. Columns, the distinct nodes, are numbered in the order in which the elements meet them, so
/// a node that several elements share belongs to the lowest-numbered of them.
///
/// On each face the nodes that earlier faces have not met form a rectangle, and so do the nodes
/// that an element owns. The numbering is therefore a closed form: no coordinates are compared and
/// nothing is stored.
class CubedSphere {
 public:
  static constexpr std::uint64_t faces = 6;
  static constexpr std::uint64_t nodes_per_side = 4;
  static constexpr std::uint64_t nodes_per_element = nodes_per_side * nodes_per_side;

  explicit CubedSphere(std::uint64_t ne) : ne_(ne) {}

  std::uint64_t ne() const { return ne_; }
  std::uint64_t element_count() const { return faces * ne_ * ne_; }

  /// 6 * (3 ne)^2 + 2, by Euler's formula for the quadrilaterals between the nodes.
  std::uint64_t column_count() const { return element_count() * 9 + 2; }

  /// The nodes that an element owns: rows first_v <= v < 4 of the nodes first_u <= u < 4, short of
  /// the last row or node where an earlier face owns it. Their columns are consecutive, u fastest.
  struct Owned {
    std::uint64_t first_column = 0;  ///< 0-based
    std::uint8_t u_begin = 0;
    std::uint8_t u_end = 0;
    std::uint8_t v_begin = 0;
    std::uint8_t v_end = 0;

    std::uint64_t count() const {
      return static_cast<std::uint64_t>(u_end - u_begin) *
             static_cast<std::uint64_t>(v_end - v_begin);
    }
  };

  /// `element` < element_count().
  Owned owned(std::uint64_t element) const;

 private:
  std::uint64_t ne_;
};

}  // namespace slabmark
