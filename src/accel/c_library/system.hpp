#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accel/c_library/background.hpp"
#include "accel/c_library/copies.hpp"
#include "accel/c_library/handover.hpp"
#include "accel/c_library/io_ranks.hpp"
#include "accel/c_library/options.hpp"
#include "collective/layout_context.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::rearrange {

using collective::LayoutContext;
using collective::PiecesPtr;

class FileData;

/// The ranks that work together, with what their files share.
class System {
 public:
  /// A program that writes several files in turn has a plan for each of them.
  static constexpr std::size_t most_plans = 8;

  /// Collective over `comm`. Throws the same Failure on all ranks where there cannot be so many
  /// I/O ranks.
  explicit System(MPI_Comm comm, int io_ranks = 0);
  ~System();

  /// The ranks of the program, which make the library's calls; on an I/O rank, the I/O ranks.
  const Comm& comm() const { return io_ranks_ ? io_ranks_->group() : all_; }
  const Comm& all() const { return all_; }
  const IoRanks* io_ranks() const { return io_ranks_ ? &*io_ranks_ : nullptr; }
  bool is_io_rank() const { return io_ranks_ && io_ranks_->has_me(); }
  bool accesses_files() const { return !io_ranks_ || io_ranks_->has_me(); }
  /// Tells I/O ranks what to do. Where there are none, and on them, it does nothing.
  void command(const Message& message) const {
    if (io_ranks_ && !io_ranks_->has_me()) io_ranks_->send(message);
  }

  const SystemOptions& options() const { return options_; }
  void set_option(const std::string& name, const std::string& value) {
    options_.set(name, value, io_ranks_.has_value());
  }
  /// Collective, before each file is opened. Throws Failure where ranks have set different ones.
  void agree_on_options() { options_.agree(comm()); }
  /// Collective over all(), with each file: I/O ranks take the options of the others.
  void share_options() {
    if (io_ranks_) options_.share(all_, io_ranks_->has_me());
  }

  /// Collective over `ranks`, all() or the I/O ranks: the context of these settings, in which the
  /// latter are dedicated there, and here not.
  LayoutContext& layout_context(const Comm& ranks, const RearrangerSettings& settings);

  /// Collective over all(), when options are shared: where ranks leave what I/O ranks write while
  /// the program goes on, or null.
  Handover* prepare_handover();
  Handover* handover() { return handover_.get(); }

  Copies& copies() { return copies_; }

  /// A number for what all ranks make together.
  std::int64_t next_number() { return ++number_; }

  /// Most bytes of a rank's buffer in any decomposition, the same on all ranks.
  std::uint64_t largest_buffer() const { return largest_buffer_; }
  void has_buffers_of(std::uint64_t bytes) { largest_buffer_ = std::max(largest_buffer_, bytes); }

  bool writes_in_background() const { return options_.in_flight() > 0; }
  Background& background() { return background_; }
  /// Waits for all that is under way, by the thread or by I/O ranks.
  void wait_for_background();

  /// A flush was handed over to the I/O ranks.
  void handed_over();
  /// Waits until I/O ranks have written all but less than in_flight of them.
  void make_room();

  /// Files, for what is said of them by their number.
  void add(std::int64_t number, FileData* file) { files_[number] = file; }
  void remove(std::int64_t number) { files_.erase(number); }

  /// On an I/O rank, which has nothing of arrays: pieces that are known by their number.
  PiecesPtr no_pieces(std::int64_t number);

 private:
  void take(const IoRanks::Answer& answer);

  Comm all_;
  std::optional<IoRanks> io_ranks_;
  SystemOptions options_;
  std::int64_t number_ = 0;
  std::uint64_t largest_buffer_ = 0;
  std::vector<std::unique_ptr<LayoutContext>> contexts_;
  bool handover_prepared_ = false;
  std::unique_ptr<Handover> handover_;
  Copies copies_;
  std::uint64_t handed_over_ = 0;  ///< to I/O ranks, which have not answered; on the root
  std::map<std::int64_t, FileData*> files_;
  std::map<std::int64_t, PiecesPtr> no_pieces_;
  Background background_;
};

}  // namespace slabmark::rearrange
