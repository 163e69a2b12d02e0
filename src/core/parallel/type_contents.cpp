#include "core/parallel/type_contents.hpp"

#include <cstddef>
#include <utility>

namespace slabmark {

namespace {

#if MPI_VERSION >= 4
using Count = MPI_Count;
#else
using Count = int;
#endif

struct Envelope {
  Count integers = 0;
  Count addresses = 0;
  Count large_counts = 0;
  Count types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

bool find_envelope(MPI_Datatype type, Envelope& found) {
#if MPI_VERSION >= 4
  return PMPI_Type_get_envelope_c(type, &found.integers, &found.addresses, &found.large_counts,
                                  &found.types, &found.combiner) == MPI_SUCCESS;
#else
  return PMPI_Type_get_envelope(type, &found.integers, &found.addresses, &found.types,
                                &found.combiner) == MPI_SUCCESS;
#endif
}

/// Large counts are listed apart from the integers among which they were given.
void insert_large(int combiner, std::vector<std::int64_t>& numbers,
                  const std::vector<MPI_Count>& large) {
  const std::ptrdiff_t before = combiner == MPI_COMBINER_SUBARRAY ? 1  // dimensions
                                : combiner == MPI_COMBINER_DARRAY ? 3  // size, rank, dimensions
                                                                  : 0;
  numbers.insert(numbers.begin() + before, large.begin(), large.end());
}

}  // namespace

std::optional<TypeContents> TypeContents::of(MPI_Datatype type) {
  Envelope envelope;
  TypeContents contents;
  if (!find_envelope(type, envelope)) return std::nullopt;
  contents.combiner_ = envelope.combiner;
  if (envelope.types == 0) return contents;
  std::vector<int> integers(static_cast<std::size_t>(envelope.integers));
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(envelope.addresses));
  std::vector<MPI_Count> large(static_cast<std::size_t>(envelope.large_counts));
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(envelope.types));
#if MPI_VERSION >= 4
  const int error = PMPI_Type_get_contents_c(type, envelope.integers, envelope.addresses,
                                             envelope.large_counts, envelope.types, integers.data(),
                                             addresses.data(), large.data(), types.data());
#else
  const int error =
      PMPI_Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types,
                             integers.data(), addresses.data(), types.data());
#endif
  if (error != MPI_SUCCESS) return std::nullopt;
  contents.types_ = std::move(types);
  contents.numbers_.assign(integers.begin(), integers.end());
  insert_large(envelope.combiner, contents.numbers_, large);
  contents.numbers_.insert(contents.numbers_.end(), addresses.begin(), addresses.end());
  return contents;
}

TypeContents::~TypeContents() {
  for (MPI_Datatype& type : types_) {
    if (!is_predefined(type)) PMPI_Type_free(&type);
  }
}

int combiner_of(MPI_Datatype type) {
  Envelope envelope;
  find_envelope(type, envelope);
  return envelope.combiner;
}

bool is_predefined(MPI_Datatype type) {
  const int combiner = combiner_of(type);
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_COMPLEX;
}

}  // namespace slabmark
