#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/format/event_flags.hpp"

// The functions that an interposer calls to record the requests of its program.
// libslabmark_recorder.so has them, once in a process, so that all interposers see the same depth
// and write to one spool. It needs neither
// MPI nor a file library. docs/reference/pattern-file.md says what becomes of it.
//
// Nothing here throws, changes errno or fails the program: where recording cannot go on (no memory,
// no space for the spool), it says so once on stderr and stops. All of it may be called by any
// thread, before MPI_Init and after MPI_Finalize. The child of a fork records nothing; what it
// would have is counted by its parent. Where SLABMARK_CAPTURE, the path of the pattern file to be,
// is not set, nothing is recorded.

namespace slabmark::capture {

/// The environment variable that switches capture on: the pattern file; the spool goes beside it.
constexpr char pattern_variable[] = "SLABMARK_CAPTURE";

/// A number of a definition or an opening; `no_id` where recording is off.
using Id = std::uint32_t;
constexpr Id no_id = ~Id{0};

/// A call of a library that an interposer stands in for, while it lives. Make one first thing in
/// each wrapper, also where nothing is captured. Time between the outermost ones is think time.
///
///     Call call;
///     const int error = native(...);
///     if (call.is_user_call()) { ... record(...) }
///
/// The recorder's own I/O counts as inside a call.
class Call {
 public:
  Call() noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// True if the program itself makes it, not a library below another captured call; and recording
  /// is on.
  bool is_user_call() const noexcept { return is_user_call_; }
  /// The same, also where recording was on and has ended early, as for want of space, which may be
  /// on some ranks alone: what interposers ask the ranks together, all of them go on asking.
  bool is_outermost() const noexcept { return outermost_; }

 private:
  bool outermost_;
  bool is_user_call_;
};

/// A function of the program that a library calls from inside a captured call (an operator of
/// H5Literate, say), while it lives: a Call in it is the program's own.
class Callback {
 public:
  Callback() noexcept;
  ~Callback();
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

 private:
  int depth_;
};

/// True if recording is on.
bool is_on() noexcept;

/// The identity of the process, once known; later calls of the same process add to it. `json`: an
/// object with keys of docs/reference/pattern-file.md, such as {"libraries": {"pnetcdf":
/// "1.12.3"}}.
void describe_process(std::string_view json) noexcept;
/// The rank in the program and how many there are. Without it: what launchers say in the
/// environment, else processes are ranks in the order of their start.
void set_rank(int rank, int ranks) noexcept;

/// `path` as the program names it, but from the folder in which the program was started: it may
/// have gone to another one since.
std::string path_from_start(const char* path);
/// The same of a file that this process opens by itself. What got another name since it was opened
/// under this one is another file, so a number follows: "restart.tmp (2)".
std::string own_path(const char* path);
/// Of a file that several ranks open: how often this process has given what it opened so another
/// name. A merge adds up those of all ranks, which the others do not know of.
unsigned times_renamed(const char* path);
/// The file has no longer this name.
void renamed(const char* path) noexcept;

/// An opening of a file: each call is a new one. `json`: as a file in the header.
Id open_file(std::string_view json) noexcept;
/// The objects that events refer to: a dataset, a call, a type, ... `json`: as a definition in the
/// header; the same text is the same definition. Dumped from a std::map, so that ranks have the
/// same text.
Id define(std::string_view json) noexcept;
/// The definition of a call: its name, and what it does, as docs/reference/pattern-file.md has it
/// ("write").
Id define_call(std::string_view name, std::string_view effect) noexcept;

/// Boxes of an array, in the order of their elements in memory. Keep one for many calls: clear()
/// keeps the storage.
class Boxes {
 public:
  /// Of arrays of that many dimensions; 0 for a scalar.
  explicit Boxes(std::size_t rank = 0) { clear(rank); }
  void clear(std::size_t rank);

  /// [start, start + count).
  template <class Start, class Count>
  void add(const Start* start, const Count* count) {
    for (std::size_t d = 0; d < rank_; ++d) {
      starts_.push_back(static_cast<std::int64_t>(start[d]));
      counts_.push_back(static_cast<std::int64_t>(count[d]));
    }
    if (!strides_.empty()) add_unit_stride();
    ++size_;
  }
  /// `count` blocks of `block` elements, `stride` apart. Null: 1.
  template <class Number>
  void add(const Number* start, const Number* stride, const Number* count, const Number* block) {
    bool plain = true;
    for (std::size_t d = 0; d < rank_; ++d) {
      plain = plain && (count[d] <= 1 || !stride || stride[d] == (block ? block[d] : 1));
    }
    if (plain && strides_.empty()) {  // a box in other words
      for (std::size_t d = 0; d < rank_; ++d) {
        starts_.push_back(static_cast<std::int64_t>(start[d]));
        counts_.push_back(static_cast<std::int64_t>(count[d] * (block ? block[d] : 1)));
      }
      ++size_;
      return;
    }
    while (strides_.size() < size_ * rank_) add_unit_stride();
    for (std::size_t d = 0; d < rank_; ++d) {
      starts_.push_back(static_cast<std::int64_t>(start[d]));
      counts_.push_back(static_cast<std::int64_t>(count[d]));
      strides_.push_back(stride ? static_cast<std::int64_t>(stride[d]) : 1);
      blocks_.push_back(block ? static_cast<std::int64_t>(block[d]) : 1);
    }
    ++size_;
  }
  /// In place of boxes: `n` of them, whose starts and counts are where the caller has them, as
  /// PnetCDF's varn. Nothing is copied, so all of it must stay until the event is recorded.
  template <class Number>
  void set_rows(std::size_t n, const Number* const* starts, const Number* const* counts) {
    static_assert(sizeof(Number) == sizeof(std::int64_t));
    clear(rank_);
    size_ = n;
    start_rows_ = reinterpret_cast<const Programs* const*>(starts);
    count_rows_ = reinterpret_cast<const Programs* const*>(counts);
  }
  /// Of memory: the lengths of the array that the boxes are in.
  template <class Number>
  void set_extent(const Number* extent) {
    extent_.assign(extent, extent + rank_);
  }
  /// Of memory, in place of boxes: `count` elements in each dimension, `distance` from one index to
  /// the next, as `imap` of PnetCDF.
  template <class Number>
  void set_map(const Number* distance, const Number* count) {
    clear(rank_);
    add(distance, count);
    is_map_ = true;
  }

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return size_; }

 private:
  friend class ListCoder;
  void add_unit_stride() {
    strides_.insert(strides_.end(), rank_, 1);
    blocks_.insert(blocks_.end(), rank_, 1);
  }

  /// A number of the program's, long or long long.
  using Programs [[gnu::may_alias]] = std::int64_t;
  const Programs* start(std::size_t i) const {
    return start_rows_ ? start_rows_[i] : starts_.data() + i * rank_;
  }
  const Programs* count(std::size_t i) const {
    return count_rows_ ? count_rows_[i] : counts_.data() + i * rank_;
  }

  std::size_t rank_ = 0;
  std::size_t size_ = 0;
  const Programs* const* start_rows_ = nullptr;  ///< or null: they are in the vectors
  const Programs* const* count_rows_ = nullptr;
  std::vector<std::int64_t> starts_, counts_;   ///< box by box
  std::vector<std::int64_t> strides_, blocks_;  ///< the same, or empty: all are 1
  std::vector<std::int64_t> extent_;            ///< empty: not known
  bool is_map_ = false;
};

inline void Boxes::clear(std::size_t rank) {
  rank_ = rank;
  size_ = 0;
  start_rows_ = count_rows_ = nullptr;
  starts_.clear();
  counts_.clear();
  strides_.clear();
  blocks_.clear();
  extent_.clear();
  is_map_ = false;
}

/// The requests that a call waits for.
struct Requests {
  enum class Which { none, all, all_writing, all_reading, listed };
  Which which = Which::none;
  std::span<const std::uint64_t> listed = {};  ///< as record() returned them
};

/// One call, or a part of one (see one_more_part).
struct Event {
  Id call = no_id;     ///< a definition of kind "call"
  Id file = no_id;     ///< an opening
  Id dataset = no_id;  ///< a definition, or none
  unsigned flags = 0;  ///< of event_flags.hpp
  Id type = no_id;     ///< of elements in memory, a definition, or none
  Id details = no_id;  ///< a definition, such as a property list, or none
  /// With writes or reads: what of the dataset. Null: all of it, `rank` dimensions. Boxes without
  /// any box: nothing.
  const Boxes* selection = nullptr;
  std::size_t rank = 0;           ///< dimensions, where `selection` is null
  const Boxes* memory = nullptr;  ///< null: dense, in the order of the selection
  std::span<const std::int64_t> arguments = {};
  Requests requests = {};
};

/// Records a call that was made. Returns the number of its request if it is nonblocking, else 0.
std::uint64_t record(const Event& event) noexcept;

/// Counts a call that is not captured, such as one of a kind that the format does not have.
void count_uncaptured(std::string_view name) noexcept;

/// The connector that captures HDF5 is in it.
void hdf5_is_captured() noexcept;
/// To be told the address from which a file is opened that the program opens itself: counts HDF5
/// where it was to be captured and its connector is not in it, as in one before 1.14.
void count_hdf5_without_connector(const void* caller) noexcept;

/// Does what an interposer does beside a call, of which nothing may reach the program: where there
/// is no memory for it, the call is counted as one that is not captured.
template <class Action>
void quietly(const Action& action) noexcept {
  try {
    action();
  } catch (...) {
    count_uncaptured("calls for which capture had no memory");
  }
}

/// Writes what is not written yet.
void flush() noexcept;
/// The process comes to its end. Called where it is by exit() or a return from main.
void finish() noexcept;

}  // namespace slabmark::capture
