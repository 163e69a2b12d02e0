#include "capture/interpose/datatype/runs.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/parallel/type_contents.hpp"

namespace slabmark::capture {

void append(ByteRuns& runs, ByteRun run) {
  if (run.bytes == 0) return;
  if (!runs.empty() && runs.back().offset + runs.back().bytes == run.offset) {
    runs.back().bytes += run.bytes;
  } else {
    runs.push_back(run);
  }
}

namespace {

using Runs = ByteRuns;

/// `count` of them in a row from byte `at` on.
void append(Runs& runs, const TypeMap& part, std::int64_t at, std::int64_t count) {
  if (part.runs.size() == 1 && part.runs[0].bytes == part.extent) {
    append(runs, {at + part.runs[0].offset, count * part.extent});
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    for (const auto& run : part.runs) append(runs, {at + i * part.extent + run.offset, run.bytes});
  }
}

/// Types of MPI's own: all are contiguous but the pairs of MINLOC and MAXLOC.
Runs runs_of_named(MPI_Datatype type, std::int64_t size) {
  struct Pair {
    MPI_Datatype type;
    std::int64_t first;
    std::int64_t second_at;
  };
  struct LongInt {
    long first;
    int second;
  };
  struct LongDoubleInt {
    long double first;
    int second;
  };
  struct ShortInt {
    short first;
    int second;
  };
  const Pair pairs[] = {
      {MPI_DOUBLE_INT, sizeof(double), sizeof(double)},
      {MPI_LONG_INT, sizeof(long), offsetof(LongInt, second)},
      {MPI_SHORT_INT, sizeof(short), offsetof(ShortInt, second)},
      {MPI_LONG_DOUBLE_INT, sizeof(long double), offsetof(LongDoubleInt, second)}};
  for (const auto& pair : pairs) {
    if (type != pair.type) continue;
    Runs runs;
    append(runs, {0, pair.first});
    append(runs, {pair.second_at, size - pair.first});
    return runs;
  }
  return size > 0 ? Runs{{0, size}} : Runs{};
}

/// The indices that a process has of one dimension, ascending, as [first, first + count).
using Indices = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// An array of `sizes` elements, of which the product of `indices` is taken; both slowest first.
void append_array(Runs& runs, const TypeMap& element, const std::vector<std::int64_t>& sizes,
                  const std::vector<Indices>& indices, std::size_t dimension, std::int64_t at) {
  std::int64_t stride = element.extent;
  for (std::size_t d = dimension + 1; d < sizes.size(); ++d) stride *= sizes[d];
  for (const auto& [first, count] : indices[dimension]) {
    if (dimension + 1 == sizes.size()) {
      append(runs, element, at + first * stride, count);
      continue;
    }
    for (auto i = first; i < first + count; ++i) {
      append_array(runs, element, sizes, indices, dimension + 1, at + i * stride);
    }
  }
}

Runs runs_of_array(const TypeMap& element, std::vector<std::int64_t> sizes,
                   std::vector<Indices> indices, std::int64_t order) {
  if (order == MPI_ORDER_FORTRAN) {
    std::reverse(sizes.begin(), sizes.end());
    std::reverse(indices.begin(), indices.end());
  }
  Runs runs;
  if (!sizes.empty()) append_array(runs, element, sizes, indices, 0, 0);
  return runs;
}

Runs runs_of_subarray(const std::vector<std::int64_t>& numbers, const TypeMap& element) {
  const auto rank = static_cast<std::size_t>(numbers[0]);
  const auto* sizes = numbers.data() + 1;
  const auto* parts = sizes + rank;
  const auto* starts = parts + rank;
  std::vector<Indices> indices;
  for (std::size_t d = 0; d < rank; ++d) indices.push_back({{starts[d], parts[d]}});
  return runs_of_array(element, {sizes, sizes + rank}, std::move(indices), starts[rank]);
}

/// The part of a dimension of `size` that process `place` of `places` has.
Indices distributed(std::int64_t distribution, std::int64_t argument, std::int64_t size,
                    std::int64_t places, std::int64_t place) {
  if (distribution == MPI_DISTRIBUTE_NONE) return {{0, size}};
  const bool is_default = argument == MPI_DISTRIBUTE_DFLT_DARG;
  const bool is_block = distribution == MPI_DISTRIBUTE_BLOCK;
  const auto block = !is_default ? argument : is_block ? (size + places - 1) / places : 1;
  Indices indices;
  for (auto first = place * block; first < size; first += places * block) {
    indices.emplace_back(first, std::min(block, size - first));
    if (is_block) break;
  }
  return indices;
}

Runs runs_of_darray(const std::vector<std::int64_t>& numbers, const TypeMap& element) {
  const auto rank = static_cast<std::size_t>(numbers[2]);
  const auto* sizes = numbers.data() + 3;
  const auto* distributions = sizes + rank;
  const auto* arguments = distributions + rank;
  const auto* places = arguments + rank;
  std::vector<Indices> indices(rank);
  std::int64_t left = numbers[1];
  for (auto d = rank; d-- > 0;) {  // processes are numbered as in C, whatever the array's order
    indices[d] = distributed(distributions[d], arguments[d], sizes[d], places[d], left % places[d]);
    left /= places[d];
  }
  return runs_of_array(element, {sizes, sizes + rank}, std::move(indices), places[rank]);
}

Runs runs_of_made(const TypeContents& contents, const std::vector<TypeMap>& parts) {
  const auto& numbers = contents.numbers();
  const auto& part = parts.front();
  const auto count = numbers.empty() ? 0 : static_cast<std::size_t>(numbers[0]);
  Runs runs;
  switch (contents.combiner()) {
    case MPI_COMBINER_CONTIGUOUS:
      append(runs, part, 0, numbers[0]);
      break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR: {
      const bool is_in_bytes = contents.combiner() == MPI_COMBINER_HVECTOR;
      const auto stride = numbers[2] * (is_in_bytes ? 1 : part.extent);
      for (std::int64_t i = 0; i < numbers[0]; ++i) append(runs, part, i * stride, numbers[1]);
      break;
    }
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK: {
      const bool is_in_bytes = contents.combiner() == MPI_COMBINER_HINDEXED_BLOCK;
      const auto unit = is_in_bytes ? 1 : part.extent;
      for (std::size_t i = 0; i < count; ++i) append(runs, part, numbers[2 + i] * unit, numbers[1]);
      break;
    }
    case MPI_COMBINER_SUBARRAY:
      return runs_of_subarray(numbers, part);
    case MPI_COMBINER_DARRAY:
      return runs_of_darray(numbers, part);
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return part.runs;
    default: {  // indexed, hindexed and struct
      const auto unit = contents.combiner() == MPI_COMBINER_INDEXED ? part.extent : 1;
      for (std::size_t i = 0; i < count; ++i) {
        append(runs, parts.size() > 1 ? parts[i] : part, numbers[1 + count + i] * unit,
               numbers[1 + i]);
      }
    }
  }
  return runs;
}

bool is_known(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
    case MPI_COMBINER_RESIZED:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool take_apart(MPI_Datatype type, TypeMap& map) {
  if (type == MPI_DATATYPE_NULL) return false;  // of which MPI is not to be asked: it may abort
  MPI_Count lower = 0, extent = 0, size = 0;
  if (PMPI_Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS ||
      PMPI_Type_size_x(type, &size) != MPI_SUCCESS) {
    return false;
  }
  map.extent = extent;
  map.size = size;
  const auto contents = TypeContents::of(type);
  if (!contents) return false;
  if (contents->types().empty()) {
    map.runs = runs_of_named(type, size);
    return true;
  }
  if (!is_known(contents->combiner())) return false;
  std::vector<TypeMap> parts(contents->types().size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!take_apart(contents->types()[i], parts[i])) return false;
  }
  map.runs = runs_of_made(*contents, parts);
  return true;
}

ByteRuns repeated(const TypeMap& map, std::int64_t count) {
  ByteRuns runs;
  append(runs, map, 0, count);
  return runs;
}

}  // namespace slabmark::capture
