#pragma once

#include <utility>

#include <mpi.h>

namespace slabmark {

/// An owned, committed derived datatype.
class Datatype {
 public:
  Datatype() = default;
  /// Commits `type` and takes it over.
  explicit Datatype(MPI_Datatype type);
  ~Datatype();
  Datatype(Datatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  Datatype& operator=(Datatype&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// `count` of `element` as one, so that counts of messages are counts of those.
Datatype contiguous(int count, MPI_Datatype element);

}  // namespace slabmark
