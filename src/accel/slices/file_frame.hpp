#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "accel/slices/slice_file.hpp"
#include "core/geometry/piece.hpp"

namespace slabmark::slice {

/// The bytes of a file of one output that are not data. Every writer needs the places of the data.
/// The keeper writes all other bytes. The bytes before the data lie in front of its buffer, so that
/// both are written as one piece.
class FileFrame {
 public:
  FileFrame() = default;  ///< of appended outputs: nothing

  /// `written` is the number of bytes of data that this rank writes.
  FileFrame(const Description& description, std::uint64_t written, bool keeps);

  std::uint64_t front() const { return front_; }  ///< bytes of the buffer before the data
  std::uint64_t bytes() const;                    ///< of all pieces
  const std::vector<Piece>& pieces() const { return pieces_; }
  const std::uint64_t* data() const { return image_.data.data(); }  ///< where each field begins

  /// Stores the pieces of the output at `time` in a buffer. Only on the keeper.
  void store(double time, std::byte* buffer);

 private:
  std::uint64_t front_ = 0;
  FileImage image_;  ///< its bytes only on the keeper
  std::vector<Piece> pieces_;
};

}  // namespace slabmark::slice
