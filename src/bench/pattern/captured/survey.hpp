#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/read/captured_walk.hpp"
#include "capture/read/pending_requests.hpp"
#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Lengths that a definition has by that key; 0 where there is no number.
std::vector<std::uint64_t> lengths_of(const Json& definition, const char* key);

/// The numbers that ranks must add up to know the shapes: in a fixed layout, of which the largest
/// counts.
class Survey {
 public:
  Survey(const PatternFile& file, const Paths& paths, const DatasetNumbers& datasets);

  void add(const PatternFile& file, const Paths& paths, std::uint64_t recorded_rank);

  /// The largest of all ranks.
  void combine(const Comm& comm);

  /// Collective: all ranks' meetings with requests pending.
  void combine_meetings(const Comm& comm);

  /// capture::writes or capture::reads or both: in which elements were moved.
  std::uint32_t directions() { return directions_of(any_written, any_read); }
  /// The same of what Paths leave out.
  std::uint32_t left_out() { return directions_of(left_out_written, left_out_read); }

  // Of a path.
  bool is_created(std::uint64_t path) { return number(path, path_created) != 0; }
  bool is_written(std::uint64_t path) { return number(path, path_written) != 0; }
  bool is_created_again(std::uint64_t path) { return number(path, path_creations) > 1; }
  bool is_shared(std::uint64_t path) {
    return number(path, last_opener) + number(path, first_opener) > ranks_ + 1;
  }

  DatasetShapes shapes(const PatternFile& file, std::uint32_t direction);

 private:
  enum Number : std::size_t { written, read, whole, records, ends };
  enum Total : std::size_t {
    any_written,
    any_read,
    left_out_written,
    left_out_read,
    any_with_nothing,
    any_nonblocking,
    totals
  };
  enum OfPath : std::size_t {
    path_written,
    path_read,
    path_created,
    path_creations,  ///< by one rank
    path_length,     ///< of a file of bytes, as the program set it
    first_opener,    ///< ranks less its number
    last_opener,     ///< its number and 1
    of_path
  };

  /// The pending requests of a recorded rank.
  struct Pending {
    std::map<std::uint64_t, PendingRequests> requests;  ///< by path
    std::map<std::uint64_t, std::uint64_t> meetings;    ///< by path
  };

  void note_meeting(const CapturedEvent& event, const RankReader& reader, const Paths& paths,
                    Pending& pending);

  void note_path(const CapturedEvent& event, const RankReader& reader, std::uint64_t path,
                 std::uint64_t recorded_rank, std::map<std::uint64_t, std::uint64_t>& creations);

  std::size_t paths_end() const { return numbers_.size() - totals; }
  std::uint64_t& number(std::uint64_t path, OfPath which) {
    return numbers_[paths_begin_ + path * of_path + which];
  }
  std::uint32_t directions_of(Total writing, Total reading);
  std::uint64_t& total(Total which) { return numbers_[numbers_.size() - totals + which]; }

  static void add_move(const CapturedEvent& event, const RankReader& reader, std::size_t rank,
                       std::map<std::uint64_t, std::vector<std::uint64_t>>& of_lists,
                       std::uint64_t* of_dataset);

  std::uint64_t ranks_;
  const DatasetNumbers& datasets_;
  std::map<std::uint64_t, std::size_t> begins_;
  std::size_t paths_begin_ = 0;
  std::vector<std::uint64_t> numbers_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> passed_through_;
};

}  // namespace slabmark
