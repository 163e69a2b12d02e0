#include "method/shared/box_list.hpp"

#include <limits>

#include <hdf5.h>
#include <mpi.h>

#include "method/shared/boxes.hpp"

namespace slabmark {

namespace {

void for_each_box_of(const Selection& selection, std::uint64_t most_elements,
                     const std::function<void(const Extent&, const Extent&)>& visit) {
  Hyperslab slab;
  for (std::uint64_t i = 0; i < selection.hyperslab_count(); ++i) {
    selection.hyperslab(i, slab);
    for_each_box(slab, most_elements, visit);
  }
}

}  // namespace

template <typename Number>
BoxList<Number>::BoxList(const Selection& selection, bool has_time, std::uint64_t most_elements)
    : has_time_(has_time), dims_(selection.extent().size() + (has_time ? 1 : 0)) {
  // Counted first: a vector that grows holds everything twice, and the pointers must not move.
  std::size_t boxes = 0;
  for_each_box_of(selection, most_elements, [&](const Extent&, const Extent&) { ++boxes; });
  numbers_.reserve(2 * dims_ * boxes);
  starts_.reserve(boxes);
  counts_.reserve(boxes);
  for_each_box_of(selection, most_elements, [&](const Extent& start, const Extent& size) {
    add(start, size, most_elements);
  });
}

template <typename Number>
void BoxList<Number>::add(const Extent& start, const Extent& size, std::uint64_t most_elements) {
  starts_.push_back(numbers_.data() + numbers_.size());
  if (has_time_) numbers_.push_back(0);
  for (const auto number : start) numbers_.push_back(static_cast<Number>(number));
  counts_.push_back(numbers_.data() + numbers_.size());
  if (has_time_) numbers_.push_back(1);
  for (const auto number : size) numbers_.push_back(static_cast<Number>(number));

  const auto box = starts_.size() - 1;
  const auto count = elements(box);
  constexpr std::size_t most_boxes = std::numeric_limits<int>::max();
  if (parts_.empty() || parts_.back().elements + count > most_elements ||
      parts_.back().boxes() == most_boxes) {
    parts_.push_back({box, box, 0});
  }
  parts_.back().end = box + 1;
  parts_.back().elements += count;
}

template <typename Number>
std::uint64_t BoxList<Number>::elements(std::size_t box) const {
  std::uint64_t product = 1;
  for (std::size_t d = 0; d < dims_; ++d) product *= static_cast<std::uint64_t>(counts_[box][d]);
  return product;
}

template <typename Number>
void BoxList<Number>::set_time(std::uint64_t time) {
  if (!has_time_ || time == time_) return;
  for (auto* start : starts_) start[0] = static_cast<Number>(time);
  time_ = time;
}

template class BoxList<MPI_Offset>;
template class BoxList<hsize_t>;

}  // namespace slabmark
