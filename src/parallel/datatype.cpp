#include "parallel/datatype.hpp"

#include "parallel/comm.hpp"

namespace slabmark {

Datatype::Datatype(MPI_Datatype type) : type_(type) {
  check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
}

Datatype contiguous(int count, MPI_Datatype element) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(count, element, &type), "MPI_Type_contiguous");
  return Datatype(type);
}

}  // namespace slabmark
