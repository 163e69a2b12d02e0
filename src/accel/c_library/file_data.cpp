#include "accel/c_library/file_data.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "accel/c_library/api/rearrange.h"
#include "accel/c_library/failure.hpp"
#include "storage/mpiio/file_name.hpp"
#include "storage/mpiio/implementation.hpp"

namespace slabmark::rearrange {

namespace {

/// Memory of an I/O rank that has the program go on while it writes: enough for a flush of most.
constexpr std::uint64_t window_of_io_rank = 256u << 20;

/// The directory that relative paths start from; empty where it is no more.
std::string current_directory() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

/// Collective: what the root was given.
FileData::Opening shared(const Comm& all, FileData::Opening opening) {
  const auto share = [&](auto& value) {
    value = static_cast<std::decay_t<decltype(value)>>(
        all.broadcast(static_cast<std::uint64_t>(value)));
  };
  opening.path = all.broadcast(opening.path);
  // The program may have gone elsewhere since I/O ranks were parted from it. Where it has not,
  // names stay short: OMPIO crashes on long ones.
  const std::string directory = all.broadcast(current_directory());
  if (directory != current_directory()) opening.path = mpiio::absolute(opening.path, directory);
  share(opening.mode);
  share(opening.fresh_from);
  share(opening.padding);
  share(opening.swaps_bytes);
  opening.hints = FileData::of_root(all, opening.hints);
  return opening;
}

constexpr std::size_t words_of_part = 5;

/// Describes the arrays that are moved to the I/O ranks.
void add_parts(Message& message, const FileData::Moved& moved) {
  message.push_back(static_cast<std::int64_t>(moved.parts.size()));
  for (std::size_t i = 0; i < moved.parts.size(); ++i) {
    const ArrayPlace& place = moved.parts[i].place;
    message.insert(
        message.end(),
        {static_cast<std::int64_t>(place.offset), static_cast<std::int64_t>(place.element_bytes),
         static_cast<std::int64_t>(place.elements), moved.pieces[i], moved.variables[i]});
  }
}

/// The same from `message`, behind so many numbers, for an I/O rank that has nothing of the arrays;
/// their names stand in `names`.
FileData::Moved parts_of(const Message& message, std::size_t behind,
                         std::vector<std::string>& names, System& system) {
  names.resize(static_cast<std::size_t>(message[behind]));
  FileData::Moved moved;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto* const its = message.data() + behind + 1 + i * words_of_part;
    names[i] = FileData::name_of(static_cast<int>(its[4]));
    moved.parts.push_back({{static_cast<std::uint64_t>(its[0]), static_cast<std::uint64_t>(its[1]),
                            static_cast<std::uint64_t>(its[2])},
                           system.no_pieces(its[3]),
                           nullptr,
                           names[i]});
    moved.pieces.push_back(its[3]);
    moved.variables.push_back(its[4]);
  }
  return moved;
}

}  // namespace

/// How a flush is moved, as all ranks do it.
struct FileData::TransferSpec {
  static constexpr std::int64_t new_plan = -1;

  FileDomain domain;
  std::int64_t plan = new_plan;  ///< of the context's
  bool writing = false, later = false;
};

mpiio::Hints FileData::of_root(const Comm& ranks, mpiio::Hints hints) {
  hints.resize(ranks.broadcast(static_cast<std::uint64_t>(hints.size())));
  for (auto& [name, value] : hints) {
    name = ranks.broadcast(name);
    value = ranks.broadcast(value);
  }
  return hints;
}

std::string FileData::name_of(int variable) { return fmt::format("variable {}", variable); }

FileData::FileData(System& system, std::int64_t number, const Opening& opening)
    : system_(system), number_(number) {
  system_.command({to_word(Command::open), number});
  system_.share_options();
  open(system_.io_ranks() ? shared(system_.all(), opening) : opening);
  system_.add(number_, this);
}

FileData::~FileData() { system_.remove(number_); }

void FileData::open(const Opening& opening) {
  padding_ = static_cast<std::uint64_t>(opening.padding);
  swaps_bytes_ = opening.swaps_bytes;
  const Comm& all = system_.all();
  const bool mine = system_.accesses_files();
  agreed(all, SLABMARK_EARGUMENT, [&] {
    if (mine) mpiio::require_length_for_mpi_io(opening.path);
    if (opening.mode != SLABMARK_CREATE || !mine || !system_.comm().is_root()) return;
    mpiio::File::create(MPI_COMM_SELF, opening.path, collective::with_own_hints(opening.hints))
        .close();
  });
  collective::Overlap overlap = system_.options().overlap();
  if (opening.is_shared || !mine) overlap = {};
  if (overlap.is_on) overlap.is_on = !all.any(!collective::overlap_refusal(opening.path).empty());
  collective::Settings chosen;
  agreed(all, SLABMARK_EARGUMENT, [&] {
    using Access = collective::File::Access;
    if (mine) {
      const Access access = opening.mode == SLABMARK_READ ? Access::read : Access::write;
      data_ = collective::File(system_.comm().get(), opening.path, access, opening.hints, overlap);
      if (overlap.is_on) use_ = collective::FileUse(collective::identity_of(opening.path));
      data_.end_is_zero();
      data_.fresh_from(opening.fresh_from < 0 ? data_.size()
                                              : static_cast<std::uint64_t>(opening.fresh_from));
    }
    chosen = collective::Settings(
        system_.options().of_exchange(), {opening.hints.begin(), opening.hints.end()},
        mine ? data_.hints() : collective::Settings::Hints(), opening.path);
  });
  chosen.agree(all, mine);
  RearrangerSettings settings = chosen.exchange();
  if (overlap.is_on) settings.writers = 0;  // they copy, which needs no turns
  alignment_ = chosen.alignment().value;
  if (const IoRanks* const io = system_.io_ranks()) {
    if (system_.prepare_handover() && system_.is_io_rank()) {
      RearrangerSettings own = settings;
      own.aggregators = io->ranks().size();
      context_of_io_ranks_ = &system_.layout_context(system_.comm(), own);
    }
    settings.dedicated = io->ranks();
    if (system_.writes_in_background() && settings.window == 0) settings.window = window_of_io_rank;
  }
  context_ = &system_.layout_context(all, settings);
}

const Comm& FileData::movers() const {
  return system_.io_ranks() ? system_.comm() : context_->comm();
}

FileData::TransferSpec FileData::spec_of(const LayoutContext& context, const Comm& ranks,
                                         const Moved& moved, bool writing) const {
  TransferSpec spec;
  spec.writing = writing;
  std::array<std::int64_t, System::most_plans> misfits;
  misfits.fill(1);
  const auto failure = caught([&] {
    spec.domain = domain_of(moved);
    const std::uint64_t fitting = context.fitting(layout_of(spec, moved));
    for (std::size_t i = 0; i < misfits.size(); ++i) misfits[i] = ((fitting >> i) & 1) == 0;
  });
  agree(ranks, failure, SLABMARK_EFORMAT, misfits);
  const auto fitting = std::ranges::find(misfits, 0);
  if (fitting != misfits.end()) spec.plan = fitting - misfits.begin();
  return spec;
}

void FileData::move(const Moved& moved, bool writing, bool later) {
  TransferSpec spec = spec_of(*context_, movers(), moved, writing);
  spec.later = later;
  Message message{to_word(Command::move), number_, spec.plan, writing, later};
  if (system_.io_ranks()) add_parts(message, moved);
  system_.command(message);
  move_by(spec, moved);
}

void FileData::follow(const Message& message) {
  std::vector<std::string> names;
  const Moved moved = parts_of(message, 5, names, system_);
  move_by({domain_of(moved), message[2], message[3] != 0, message[4] != 0}, moved);
}

void FileData::hand_over(const Moved& moved, const std::vector<std::uint64_t>& positions) {
  Handover& handover = *system_.handover();
  for (const std::int64_t pieces : handover.forgotten()) {
    system_.command({to_word(Command::forget), pieces});
  }
  Message message{to_word(Command::write), number_, handover.hand_over()};
  add_parts(message, moved);
  message.insert(message.end(), positions.begin(), positions.end());
  system_.command(message);
  handed_over(moved.records);
}

void FileData::handed_over(std::int64_t records) {
  if (system_.comm().is_root()) unanswered_.push_back(records);
  system_.handed_over();
}

void FileData::answered(const std::exception_ptr& failure) {
  const std::int64_t records = unanswered_.front();
  unanswered_.pop_front();
  if (failure) {
    set_deferred_error(failure);
  } else {
    written(records);
  }
}

std::int64_t FileData::records() {
  const std::lock_guard lock(mutex_);
  return records_;
}

void FileData::written(std::int64_t records) {
  const std::lock_guard lock(mutex_);
  records_ = std::max(records_, records);
}

void FileData::write_copies(const Message& message) {
  Handover& handover = *system_.handover();
  std::byte* const memory = handover.await(message[2]);
  std::exception_ptr failure = deferred_error();  // the same on all I/O ranks
  if (!failure) {
    failure = caught([&] {
      std::vector<std::string> names;
      Moved moved = parts_of(message, 3, names, system_);
      const auto* const positions = message.data() + message.size() - moved.parts.size();
      for (std::size_t i = 0; i < moved.parts.size(); ++i) {
        moved.parts[i].pieces = handover.pieces(moved.pieces[i]);
        moved.parts[i].buffer = memory + positions[i];
      }
      LayoutContext& context = *context_of_io_ranks_;
      const TransferSpec spec = spec_of(context, system_.comm(), moved, true);
      take_plan(context, spec, moved);
      agree(system_.comm(), transfer(context, spec, moved), SLABMARK_EIO);
    });
  }
  handover.set_written();
  answer(failure);
}

FileDomain FileData::domain_of(const Moved& moved) const {
  std::vector<ArrayPlace> places;
  for (const collective::Part& part : moved.parts) places.push_back(part.place);
  return FileDomain(places, padding_);
}

collective::Layout FileData::layout_of(const TransferSpec& spec, const Moved& moved) const {
  using collective::Overlaps;
  return {moved.parts, spec.domain, alignment_, spec.writing,
          spec.writing ? Overlaps::refused : Overlaps::allowed};
}

// A failure here is the same on all ranks.
void FileData::take_plan(LayoutContext& context, const TransferSpec& spec,
                         const Moved& moved) const {
  if (spec.plan != TransferSpec::new_plan) {
    context.use(static_cast<std::size_t>(spec.plan));
    return;
  }
  const auto refused = caught([&] { context.make(layout_of(spec, moved)); });
  if (refused) throw failure_of(refused, SLABMARK_EOVERLAP);
}

/// Returns the failure of this rank.
std::exception_ptr FileData::transfer(LayoutContext& context, const TransferSpec& spec,
                                      const Moved& moved) {
  return caught([&] {
    const std::exception_ptr before = spec.writing ? deferred_error() : nullptr;
    const auto leave_out = [](Rearranger& rearranger, const Rearranger::Flush& flush,
                              const Rearranger::FileAccess&) {
      return rearranger.write(flush, [](std::uint64_t, std::byte*, std::uint64_t) {});
    };
    std::vector<std::byte*> buffers;
    for (const collective::Part& part : moved.parts) buffers.push_back(part.buffer);
    data_.move(context.context(),
               {spec.domain, context.plan(), buffers, spec.writing, swaps_bytes_},
               before ? leave_out : collective::File::Mover());
    if (before) std::rethrow_exception(before);
    if (const auto failed = data_.take_failure()) throw *failed;
  });
}

void FileData::move_by(const TransferSpec& spec, const Moved& moved) {
  take_plan(*context_, spec, moved);
  const auto failure = transfer(*context_, spec, moved);
  if (!spec.later) {
    agree(context_->comm(), failure, SLABMARK_EIO);
    written(moved.records);
  } else if (!system_.accesses_files()) {
    handed_over(moved.records);
    if (failure) set_deferred_error(failure);
  } else {
    answer(caught([&] { agree(system_.comm(), failure, SLABMARK_EIO); }));
  }
}

/// Answers ranks that did not wait for this I/O rank, with the failure of all I/O ranks.
void FileData::answer(const std::exception_ptr& failure) {
  if (failure) set_deferred_error(failure);
  const Failure said = failure ? failure_of(failure, SLABMARK_EIO) : Failure(SLABMARK_OK, "");
  system_.io_ranks()->tell({number_, said.code(), said.what()});
}

void FileData::sync() {
  system_.command({to_word(Command::sync), number_});
  agreed(system_.all(), SLABMARK_EIO, [&] {
    if (system_.accesses_files()) data_.sync();
  });
}

void FileData::close() {
  system_.command({to_word(Command::close), number_});
  agreed(system_.all(), SLABMARK_EIO, [&] {
    if (system_.accesses_files()) data_.close();
  });
}

std::exception_ptr FileData::deferred_error() {
  const std::lock_guard lock(mutex_);
  return deferred_error_;
}

void FileData::set_deferred_error(const std::exception_ptr& failure) {
  const std::lock_guard lock(mutex_);
  if (!deferred_error_) deferred_error_ = failure;
}

// A failure here is the same on all ranks, and the others report it.
void FileData::serve(System& system) {
  std::map<std::int64_t, std::unique_ptr<FileData>> files;
  for (;;) {
    const Message message = system.io_ranks()->receive();
    const auto command = static_cast<Command>(message[0]);
    if (command == Command::end) return;
    const std::int64_t number = message[1];
    caught([&] {
      switch (command) {
        case Command::open:
          files[number] = std::make_unique<FileData>(system, number, Opening{});
          break;
        case Command::move:
          files.at(number)->follow(message);
          break;
        case Command::sync:
          files.at(number)->sync();
          break;
        case Command::reserve:
          system.handover()->reserve(static_cast<std::uint64_t>(message[1]));
          break;
        case Command::share:
          system.handover()->learn(message[1]);
          break;
        case Command::forget:
          system.handover()->forget(message[1]);
          break;
        case Command::write:
          files.at(number)->write_copies(message);
          break;
        default:
          files.at(number)->close();
      }
    });
    if (command == Command::close) files.erase(number);
  }
}

}  // namespace slabmark::rearrange
