#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/method/method.hpp"
#include "bench/pattern/pattern.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Outcome of reading a finished file back.
struct FileCheck {
  std::uint64_t elements_checked = 0;  ///< over all ranks
  std::uint64_t elements_wrong = 0;    ///< over all ranks
  std::string first_mismatch;          ///< one sentence; empty if all is right

  bool passed() const { return elements_wrong == 0; }
};

/// Collective. Reads the file with the plain reader of its format and compares every element that
/// any rank wrote with its closed form. Each rank checks an equal range of every dataset, so nearly
/// all elements are read by another rank than wrote them; where they lie is taken from the
/// dataset's shape alone, not from the selection that the method was given.
FileCheck verify_file(const Comm& comm, FileFormat format, const Pattern& pattern,
                      const std::string& path);

/// The same through the reader that `open` opens on all ranks.
FileCheck verify_file(const Comm& comm, const Pattern& pattern,
                      const std::function<std::unique_ptr<PlainReader>()>& open);

}  // namespace slabmark
