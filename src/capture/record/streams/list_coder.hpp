#pragma once

#include <cstdint>
#include <vector>

#include "capture/format/coding.hpp"
#include "capture/format/hash.hpp"
#include "capture/record/recorder.hpp"

namespace slabmark::capture {

/// Codes boxes as a list of the pattern file.
class ListCoder {
 public:
  explicit ListCoder(const Boxes& boxes) : boxes_(boxes) {}

  bool is_one_box() const { return boxes_.size_ == 1 && boxes_.strides_.empty(); }
  auto counts() const { return boxes_.count(0); }  ///< of the first box
  auto origin() const { return boxes_.start(0); }  ///< its start

  /// Of a selection in a file, wherever it lies, or of memory: codes it. Two that are coded the
  /// same have the same hash, which takes a small part of the time.
  void put(Bytes& list, bool is_memory) const;
  Hash hash(bool is_memory) const;

 private:
  /// True if starts are coded as distances from the first.
  bool has_origin() const { return boxes_.size_ > 0 && !boxes_.is_map_; }
  std::uint64_t flags(bool is_memory) const;

  const Boxes& boxes_;
};

}  // namespace slabmark::capture
