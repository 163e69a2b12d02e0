#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <mpi.h>

#include "capture/replay/pnetcdf/file.hpp"
#include "capture/replay/pnetcdf/places.hpp"
#include "core/parallel/datatype.hpp"
#include "storage/mpiio/datatype.hpp"

namespace slabmark {

/// The arguments of a call that describe its memory.
struct NetcdfMemory {
  std::byte* address = nullptr;
  MPI_Offset count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<MPI_Offset> imap = {};  ///< empty: none
};

/// The MPI datatypes of a program's calls, made once as programs make them.
class NetcdfDatatypes {
 public:
  explicit NetcdfDatatypes(const RankReader& recorded) : recorded_(recorded) {}

  /// Returns the MPI datatype of the elements of a dataset.
  MPI_Datatype element(std::uint64_t dataset);
  /// Memory at `address` for `elements` of a call.
  NetcdfMemory memory(const CapturedEvent& event, MPI_Offset elements, std::byte* address);
  /// Memory of several parts of one call, in a datatype that lives in `apart`.
  NetcdfMemory memory(std::span<const CapturedEvent> parts, std::span<std::byte* const> addresses,
                      NetcdfPlaces& places, Datatype& apart);
  /// The parts of a call by a datatype of the file, from where the variable of the first begins.
  MPI_Datatype filetype(std::span<const CapturedEvent> parts, ReplayedNetcdf& file,
                        NetcdfPlaces& places);
  /// Forgets datatypes of this file, whose variables may have moved.
  void forget_filetypes(const ReplayedNetcdf& file) { filetypes_.erase(file.id()); }

 private:
  struct Filetype {
    Datatype type;
    std::vector<std::int64_t> where;  ///< origins and counts of all parts
  };
  using Key = std::vector<std::uint64_t>;  ///< dataset and list of each part

  void add_memory(std::uint64_t list, MPI_Aint address, mpiio::BlockList& blocks) const;
  void add_part(const CapturedEvent& part, MPI_Offset begin, ReplayedNetcdf& file,
                NetcdfPlaces& places, mpiio::BlockList& blocks);

  const RankReader& recorded_;
  std::map<std::uint64_t, MPI_Datatype> elements_;                           ///< by dataset
  std::map<std::pair<std::uint64_t, MPI_Datatype>, Datatype> memory_types_;  ///< by list, element
  std::map<int, std::map<Key, Filetype>> filetypes_;                         ///< by file
};

}  // namespace slabmark
