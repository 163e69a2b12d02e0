#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <mpi.h>

namespace slabmark {

/// How a datatype was made. MPI is asked by the names of its profiling interface, and by calls that
/// also know types of large counts (MPI 4): those that do not end the program there.
class TypeContents {
 public:
  /// Nothing where MPI does not say it.
  static std::optional<TypeContents> of(MPI_Datatype type);

  TypeContents(TypeContents&&) = default;
  TypeContents& operator=(TypeContents&&) = delete;
  ~TypeContents();

  int combiner() const { return combiner_; }
  /// What the constructor was given besides types, in its order, addresses and large counts among
  /// it. Where it has lists, their length comes first, as MPI_Type_get_contents has it.
  const std::vector<std::int64_t>& numbers() const { return numbers_; }
  /// None of a type that MPI has without a constructor. They live as long as this.
  const std::vector<MPI_Datatype>& types() const { return types_; }

 private:
  TypeContents() = default;

  int combiner_ = MPI_COMBINER_NAMED;
  std::vector<std::int64_t> numbers_;
  std::vector<MPI_Datatype> types_;
};

/// MPI_COMBINER_NAMED of MPI's own types.
int combiner_of(MPI_Datatype type);

/// True if a type is MPI's own, which nobody may free: also those that Fortran asks for by a range.
bool is_predefined(MPI_Datatype type);

}  // namespace slabmark
