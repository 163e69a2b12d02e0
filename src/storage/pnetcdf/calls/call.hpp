#pragma once

#include <array>
#include <string>

#include <mpi.h>

namespace slabmark::pnetcdf {

enum class Direction { put, get };

/// The first part of the names of PnetCDF's functions.
enum class Verb { put, get, iput, iget, bput, mput, mget };

/// The part of a variable that a call asks for, as the caller passed it.
struct Access {
  enum class Kind { var, var1, vara, vars, varm, varn };

  Kind kind = Kind::var;
  const MPI_Offset* start = nullptr;
  const MPI_Offset* count = nullptr;
  const MPI_Offset* stride = nullptr;
  const MPI_Offset* imap = nullptr;
  int boxes = 1;  ///< of varn
  MPI_Offset* const* starts = nullptr;
  MPI_Offset* const* counts = nullptr;
};

/// The memory of a call, as the caller passed it. Typed calls have count -1, and the type of their
/// name.
struct MemoryArgument {
  void* address = nullptr;
  MPI_Offset count = -1;
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< null in a flexible call: the type of the variable
};

/// A call of the program that moves a part of a variable.
struct Call {
  Direction direction;
  bool buffered;  ///< bput
  int variable;
  Access access;
  MemoryArgument memory;
};

/// The verb that moves data at once.
constexpr Verb moving(const Call& call) {
  return call.direction == Direction::put ? Verb::put : Verb::get;
}
/// The verb that posts a request.
constexpr Verb posting(const Call& call) {
  if (call.direction == Direction::get) return Verb::iget;
  return call.buffered ? Verb::bput : Verb::iput;
}

inline constexpr std::array verb_names = {"put", "get", "iput", "iget", "bput", "mput", "mget"};
inline constexpr std::array kind_names = {"var", "var1", "vara", "vars", "varm", "varn"};

/// "ncmpi_put_vara_all": the flexible function's name.
std::string name_of(Verb verb, Access::Kind kind, bool collective);

}  // namespace slabmark::pnetcdf
