#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convert/contents.hpp"
#include "core/geometry/hyperslab.hpp"

namespace slabmark::convert {

/// Where elements lie in a classic file, whose header PnetCDF reads or writes.
class ClassicPlaces {
 public:
  ClassicPlaces() = default;
  /// `begins`: bytes of the file at which variables begin. `record_bytes`: of one record of all
  /// variables. The contents outlive it.
  ClassicPlaces(const FileContents& contents, std::vector<std::uint64_t> begins,
                std::uint64_t record_bytes);

  /// Visits the elements of a box, row by row, as pieces of the file: visit(byte, bytes).
  template <class Visit>
  void for_each_piece(std::size_t variable, const Hyperslab& box, const Visit& visit) const {
    const std::uint64_t bytes = size_of(contents_->variables[variable].type);
    const std::uint64_t record = elements_together(variable);
    for_each_run(box, contents_->extent_of(variable), [&](Run run) {
      for_each_part(run, record, [&](Run part) {
        visit(place(variable, part.offset, record), part.length * bytes);
      });
    });
  }

  /// The byte behind the last element; 0: it has none.
  std::uint64_t end_of(std::size_t variable) const;

 private:
  bool has_records(std::size_t variable) const;
  std::uint64_t elements_together(std::size_t variable) const;
  std::uint64_t place(std::size_t variable, std::uint64_t element, std::uint64_t record) const;

  const FileContents* contents_ = nullptr;
  std::vector<std::uint64_t> begins_;
  std::uint64_t record_bytes_ = 0;
};

/// Changes elements between the byte order of classic files and that of this machine.
void swap_classic(std::byte* memory, std::uint64_t bytes, ElementType type);

}  // namespace slabmark::convert
