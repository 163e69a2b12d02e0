#include "core/parallel/datatype.hpp"

#include "core/parallel/comm.hpp"
#include "core/parallel/end_of_mpi.hpp"

namespace slabmark {

Datatype::Datatype(MPI_Datatype type) : type_(type) {
  check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
}

Datatype::~Datatype() {
  if (type_ != MPI_DATATYPE_NULL && !mpi_has_ended()) MPI_Type_free(&type_);
}

Datatype contiguous(int count, MPI_Datatype element) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(count, element, &type), "MPI_Type_contiguous");
  return Datatype(type);
}

}  // namespace slabmark
