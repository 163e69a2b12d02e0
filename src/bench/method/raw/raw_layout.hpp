#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/method/method.hpp"
#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// Where elements lie in a file of FileFormat::raw, which has no header: first the datasets without
/// time, one after another in the pattern's order; then the records, each of which holds one time
/// step of every dataset that has time, again in order. Elements are row-major in the machine's
/// byte order. This is classic NetCDF without header, alignment and byte swap.
class RawLayout {
 public:
  /// Throws InputError where the file would not fit in 63 bits (see too_large_for_raw).
  explicit RawLayout(const Pattern& pattern);

  /// Byte of the file at which a dataset (at `time`, if it has time) begins.
  std::uint64_t offset(std::size_t dataset, std::uint64_t time) const;

  std::uint64_t bytes() const { return bytes_; }  ///< of a file with all records of the pattern

 private:
  std::vector<std::uint64_t> begin_;  ///< of each dataset, in the file or in its record
  std::vector<bool> has_time_;
  std::uint64_t record_begin_ = 0;
  std::uint64_t record_bytes_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Number of time steps that the rounds of `pattern` touch; 0 if no dataset has time. The same on
/// all ranks, for transfers without elements count too.
std::uint64_t record_count(const Pattern& pattern);

/// Why the pattern's file cannot be addressed with 63 bits, if it cannot.
std::optional<std::string> too_large_for_raw(const Pattern& pattern);

/// MethodInfo::supports of methods that no other pattern is too much for.
inline std::optional<std::string> fits_raw(const Pattern& pattern, const Settings&) {
  return too_large_for_raw(pattern);
}

}  // namespace slabmark
