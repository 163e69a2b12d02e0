#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/geometry/element_type.hpp"
#include "core/geometry/extent.hpp"
#include "core/geometry/run.hpp"

/// Programs that write arrays, and what their files must hold. They know no file library.
namespace slabmark::conformance {

/// A dataset of HDF5, a variable of netCDF, or a range of bytes of a file without header.
struct Array {
  std::string name;
  ElementType type = ElementType::int32;
  Extent extent;  ///< of one record
  bool has_records = false;
};

/// The elements of one array, or of one record of it, that the ranks move in one call.
struct Request {
  std::size_t array = 0;
  std::uint64_t record = 0;
  std::vector<RunList> runs;  ///< by rank, in the order in which they lie in its memory
};

/// Calls whose data are in the file after the flush that ends the step.
using Step = std::vector<Request>;

struct Program {
  std::vector<Array> arrays;
  std::vector<Step> steps;

  const Array& array_of(const Request& request) const { return arrays[request.array]; }
};

/// A rank's memory for each request of a step.
using Buffers = std::vector<std::vector<std::byte>>;

/// Returns the values that the rank writes in a step. No value is zero, and hardly any two values
/// of a program are equal.
Buffers values_of(const Program& program, std::size_t step, int rank);

/// Memory to read into.
Buffers empty_buffers(const Program& program, std::size_t step, int rank);

std::vector<std::int64_t> decode(ElementType type, const std::vector<std::byte>& bytes);

/// Which of two values of an element holds that ranks write in one step.
enum class Overlap {
  later_call,   ///< of the later request, and in it of the higher rank
  higher_rank,  ///< of the higher rank, and of that the later request
};

/// The elements that were written, by array, record and place.
class Contents {
 public:
  explicit Contents(const Program& program) : program_(&program) {}

  void write(std::size_t step, Overlap overlap = Overlap::later_call);

  using Elements = std::map<std::uint64_t, std::int64_t>;
  const std::map<std::pair<std::size_t, std::uint64_t>, Elements>& arrays() const {
    return arrays_;
  }

  /// Which elements that a rank has read in a step are not what was written; empty: none. What
  /// nobody wrote may be anything.
  std::string difference(std::size_t step, int rank, const Buffers& read) const;

 private:
  void write(std::size_t step, std::size_t request, int rank);

  const Program* program_;
  std::map<std::pair<std::size_t, std::uint64_t>, Elements> arrays_;
};

}  // namespace slabmark::conformance
