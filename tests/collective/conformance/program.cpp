#include "collective/conformance/program.hpp"

#include <cstring>

#include <fmt/format.h>

namespace slabmark::conformance {

namespace {

/// The largest that all types of that size hold exactly.
std::uint64_t most_of(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return 120;
    case 2:
      return 32000;
    case 4:
      return std::uint64_t{1} << 24;
    default:
      return std::uint64_t{1} << 52;
  }
}

std::int64_t value_of(std::size_t bytes, std::size_t step, std::size_t request, int rank,
                      std::size_t position) {
  std::uint64_t hash = 0;
  for (const std::uint64_t part : {std::uint64_t{step}, std::uint64_t{request},
                                   static_cast<std::uint64_t>(rank), std::uint64_t{position}}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u + 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return static_cast<std::int64_t>(1 + hash % most_of(bytes));
}

}  // namespace

Buffers values_of(const Program& program, std::size_t step, int rank) {
  Buffers buffers = empty_buffers(program, step, rank);
  for (std::size_t r = 0; r < buffers.size(); ++r) {
    const ElementType type = program.array_of(program.steps[step][r]).type;
    const std::size_t bytes = size_of(type);
    for (std::size_t i = 0; i * bytes < buffers[r].size(); ++i) {
      with_type(type, [&](auto value) {
        value = static_cast<decltype(value)>(value_of(bytes, step, r, rank, i));
        std::memcpy(&buffers[r][i * bytes], &value, bytes);
      });
    }
  }
  return buffers;
}

Buffers empty_buffers(const Program& program, std::size_t step, int rank) {
  Buffers buffers;
  for (const Request& request : program.steps[step]) {
    const std::uint64_t elements = total_length(request.runs[static_cast<std::size_t>(rank)]);
    buffers.emplace_back(elements * size_of(program.array_of(request).type));
  }
  return buffers;
}

std::vector<std::int64_t> decode(ElementType type, const std::vector<std::byte>& bytes) {
  std::vector<std::int64_t> values(bytes.size() / size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = with_type(type, [&](auto value) {
      std::memcpy(&value, &bytes[i * sizeof value], sizeof value);
      return static_cast<std::int64_t>(value);
    });
  }
  return values;
}

void Contents::write(std::size_t step, Overlap overlap) {
  const Step& requests = program_->steps[step];
  const auto ranks = requests.empty() ? 0 : static_cast<int>(requests.front().runs.size());
  if (overlap == Overlap::later_call) {
    for (std::size_t r = 0; r < requests.size(); ++r) {
      for (int rank = 0; rank < ranks; ++rank) write(step, r, rank);
    }
  } else {
    for (int rank = 0; rank < ranks; ++rank) {
      for (std::size_t r = 0; r < requests.size(); ++r) write(step, r, rank);
    }
  }
}

void Contents::write(std::size_t step, std::size_t request, int rank) {
  const Request& its = program_->steps[step][request];
  const std::size_t bytes = size_of(program_->array_of(its).type);
  Elements& elements = arrays_[{its.array, its.record}];
  std::size_t position = 0;
  for (const Run run : its.runs[static_cast<std::size_t>(rank)]) {
    for (std::uint64_t e = run.offset; e < run.end(); ++e) {
      elements[e] = value_of(bytes, step, request, rank, position++);
    }
  }
}

std::string Contents::difference(std::size_t step, int rank, const Buffers& read) const {
  for (std::size_t r = 0; r < read.size(); ++r) {
    const Request& request = program_->steps[step][r];
    const Array& array = program_->array_of(request);
    const auto found = arrays_.find({request.array, request.record});
    if (found == arrays_.end()) continue;
    const auto values = decode(array.type, read[r]);
    std::size_t position = 0;
    for (const Run run : request.runs[static_cast<std::size_t>(rank)]) {
      for (std::uint64_t e = run.offset; e < run.end(); ++e, ++position) {
        const auto written = found->second.find(e);
        if (written == found->second.end() || written->second == values[position]) continue;
        return fmt::format("element {} of record {} of '{}' is {} instead of {}", e, request.record,
                           array.name, values[position], written->second);
      }
    }
  }
  return "";
}

}  // namespace slabmark::conformance
