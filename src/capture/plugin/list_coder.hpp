#pragma once

#include <cstdint>
#include <vector>

#include "capture/coding.hpp"
#include "capture/recorder.hpp"

namespace slabmark::capture {

/// Codes boxes as a list of the pattern file.
class ListCoder {
 public:
  explicit ListCoder(const Boxes& boxes) : boxes_(boxes) {}

  bool is_one_box() const { return boxes_.size_ == 1 && boxes_.strides_.empty(); }
  const std::int64_t* counts() const { return boxes_.counts_.data(); }  ///< of the first box
  const std::int64_t* origin() const { return boxes_.starts_.data(); }  ///< its start

  /// What a file's selection is, wherever it lies.
  void put_selection(Bytes& list) const { put(list, false); }
  void put_memory(Bytes& list) const { put(list, true); }

 private:
  void put(Bytes& list, bool is_memory) const;

  const Boxes& boxes_;
};

}  // namespace slabmark::capture
