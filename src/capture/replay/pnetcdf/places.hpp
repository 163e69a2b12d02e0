#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <mpi.h>

#include "capture/read/pattern_file.hpp"

namespace slabmark {

/// The part of its variable that a call moves, as the arrays that PnetCDF's functions take.
struct NetcdfPlace {
  std::vector<MPI_Offset> start, count, stride;  ///< of one box; `stride` is empty without strides
  std::vector<MPI_Offset*> starts, counts;       ///< of each box of a list
  MPI_Offset elements = 1;
};

/// The places of recorded events. A list is taken apart once: variables share lists, and each time
/// step has them elsewhere.
class NetcdfPlaces {
 public:
  explicit NetcdfPlaces(const RankReader& recorded) : recorded_(recorded) {}

  /// Good until the next call.
  const NetcdfPlace& of(const CapturedEvent& event);
  MPI_Offset elements_of(const CapturedEvent& event);

 private:
  struct KnownList {
    NetcdfPlace place;
    std::vector<MPI_Offset> numbers;   ///< start and count of each box, one after another
    std::vector<std::int64_t> origin;  ///< from which the starts count now
  };

  KnownList taken_apart(std::uint64_t list) const;
  const NetcdfPlace& of_list(const CapturedEvent& event);

  const RankReader& recorded_;
  NetcdfPlace box_;
  std::map<std::uint64_t, KnownList> lists_;
};

}  // namespace slabmark
