#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "accel/c_library/system.hpp"
#include "collective/file.hpp"
#include "collective/layout_context.hpp"

namespace slabmark::rearrange {

/// The data of a file that a system has open. What is said to be collective is so over all ranks of
/// the system: those of the program call it, and I/O ranks do it when they are told. It throws the
/// same Failure on all of them.
class FileData {
 public:
  struct Opening {
    std::string path;
    int mode = 0;
    mpiio::Hints hints;
    std::int64_t fresh_from = 0;  ///< see slabmark_format
    std::int64_t padding = 0;
    bool swaps_bytes = false;
    bool is_shared = false;  ///< its file library has it open, too
  };

  /// Collective. `number` is that of the file, the same on all ranks.
  FileData(System& system, std::int64_t number, const Opening& opening);
  ~FileData();
  FileData(const FileData&) = delete;
  FileData& operator=(const FileData&) = delete;

  /// Arrays that are moved, with the variable of each part, and a number of its pieces that is the
  /// same on all ranks.
  struct Moved {
    std::vector<collective::Part> parts;
    std::vector<std::int64_t> pieces, variables;
    std::int64_t records = 0;  ///< that the file has when it is written, see records()
  };
  static std::string name_of(int variable);                            ///< for messages
  static mpiio::Hints of_root(const Comm& ranks, mpiio::Hints hints);  ///< collective

  std::int64_t number() const { return number_; }

  /// Collective. Returns when all is moved; with `later` when I/O ranks have it, see
  /// deferred_error().
  void move(const Moved& moved, bool writing, bool later);
  /// Collective: has I/O ranks write what was copied for them: of each part the position there. See
  /// Handover and deferred_error().
  void hand_over(const Moved& moved, const std::vector<std::uint64_t>& positions);
  /// Counts records that are known to be in the file. The root alone knows of those that I/O ranks
  /// write later.
  std::int64_t records();
  void written(std::int64_t records);
  /// Takes the answer of the I/O ranks for the oldest flush that they write later; null: it is in
  /// the file.
  void answered(const std::exception_ptr& failure);

  void sync();   ///< collective
  void close();  ///< collective

  /// The first failure that nobody waited for, as far as this rank knows; null: none. Nothing is
  /// written after it.
  std::exception_ptr deferred_error();
  void set_deferred_error(const std::exception_ptr& failure);

  /// The ranks that call move(), for a thread of its own.
  const Comm& movers() const;

  /// On an I/O rank: does as it is told until there is no more to do.
  static void serve(System& system);

 private:
  struct TransferSpec;
  void open(const Opening& opening);
  void follow(const Message& message);
  void write_copies(const Message& message);
  void handed_over(std::int64_t records);
  void answer(const std::exception_ptr& failure);
  FileDomain domain_of(const Moved& moved) const;
  collective::Layout layout_of(const TransferSpec& spec, const Moved& moved) const;
  TransferSpec spec_of(const LayoutContext& context, const Comm& ranks, const Moved& moved,
                       bool writing) const;
  void take_plan(LayoutContext& context, const TransferSpec& spec, const Moved& moved) const;
  std::exception_ptr transfer(LayoutContext& context, const TransferSpec& spec, const Moved& moved);
  void move_by(const TransferSpec& spec, const Moved& moved);

  System& system_;
  std::int64_t number_;
  collective::File data_;
  collective::FileUse use_;  ///< where data may wait
  LayoutContext* context_ = nullptr;
  LayoutContext* context_of_io_ranks_ = nullptr;  ///< on one, where there is a Handover
  std::uint64_t alignment_ = 1, padding_ = 0;
  bool swaps_bytes_ = false;

  std::mutex mutex_;
  std::exception_ptr deferred_error_;
  std::int64_t records_ = 0;
  std::deque<std::int64_t> unanswered_;  ///< records of what I/O ranks write later; on the root
};

}  // namespace slabmark::rearrange
