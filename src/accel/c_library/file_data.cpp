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

using Order = IoRanks::Order;
using Words = IoRanks::Words;

/// Memory of an I/O rank that has the program go on while it writes: enough for a flush of most.
constexpr std::uint64_t window_of_io_rank = 256u << 20;

std::int64_t word(Order order) { return static_cast<std::int64_t>(order); }

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

/// What I/O ranks are told of the arrays that are moved.
void add_parts(Words& words, const FileData::Moved& moved) {
  words.push_back(static_cast<std::int64_t>(moved.parts.size()));
  for (std::size_t i = 0; i < moved.parts.size(); ++i) {
    const ArrayPlace& place = moved.parts[i].place;
    words.insert(
        words.end(),
        {static_cast<std::int64_t>(place.offset), static_cast<std::int64_t>(place.element_bytes),
         static_cast<std::int64_t>(place.elements), moved.pieces[i], moved.variables[i]});
  }
}

/// The same from `words`, behind so many others, for an I/O rank that has nothing of the arrays;
/// their names stand in `names`.
FileData::Moved parts_of(const Words& words, std::size_t behind, std::vector<std::string>& names,
                         System& system) {
  names.resize(static_cast<std::size_t>(words[behind]));
  FileData::Moved moved;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto* const its = words.data() + behind + 1 + i * words_of_part;
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
struct FileData::Way {
  static constexpr std::int64_t new_plan = -1;

  FileDomain domain;
  std::int64_t plan = new_plan;  ///< of the engine's
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
  system_.order({word(Order::open), number});
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
    mpiio::File::create(MPI_COMM_SELF, opening.path, with_own_hints(opening.hints)).close();
  });
  RearrangerSettings settings;
  agreed(all, SLABMARK_EARGUMENT, [&] {
    if (mine) {
      const auto access =
          opening.mode == SLABMARK_READ ? DataFile::Access::read : DataFile::Access::write;
      data_ = DataFile(system_.comm().get(), opening.path, access, opening.hints);
      data_.end_is_zero();
      data_.fresh_from(opening.fresh_from < 0 ? data_.size()
                                              : static_cast<std::uint64_t>(opening.fresh_from));
    }
    const Choices choices(system_.options(), opening.hints, opening.path,
                          mine ? data_.hints() : std::map<std::string, std::string>());
    settings = choices.for_rearranger();
    alignment_ = choices.alignment().value;
  });
  // All ranks must choose the same, also where the file system looks different to them.
  const auto least = [&](std::uint64_t value) {
    return all.min(mine ? value : std::numeric_limits<std::uint64_t>::max());
  };
  settings.stripes = least(settings.stripes);
  settings.writers = least(settings.writers);
  settings.aggregators = least(settings.aggregators);
  alignment_ = least(alignment_);
  if (const IoRanks* const io = system_.io_ranks()) {
    if (system_.prepare_handover() && system_.is_io_rank()) {
      RearrangerSettings own = settings;
      own.aggregators = io->ranks().size();
      engine_of_io_ranks_ = &system_.engine(system_.comm(), own);
    }
    settings.dedicated = io->ranks();
    if (system_.writes_in_background() && settings.window == 0) settings.window = window_of_io_rank;
  }
  engine_ = &system_.engine(all, settings);
}

const Comm& FileData::movers() const {
  return system_.io_ranks() ? system_.comm() : engine_->comm();
}

FileData::Way FileData::way_of(const Engine& engine, const Comm& ranks, const Moved& moved,
                               bool writing) const {
  Way way;
  way.writing = writing;
  std::array<std::int64_t, System::most_plans> misfits;
  misfits.fill(1);
  const auto failure = caught([&] {
    way.domain = domain_of(moved);
    const auto fitting = engine.fitting({moved.parts, way.domain, alignment_, writing});
    std::ranges::transform(fitting, misfits.begin(), [](bool fits) { return !fits; });
  });
  agree(ranks, failure, SLABMARK_EFORMAT, misfits);
  const auto fitting = std::ranges::find(misfits, 0);
  if (fitting != misfits.end()) way.plan = fitting - misfits.begin();
  return way;
}

void FileData::move(const Moved& moved, bool writing, bool later) {
  Way way = way_of(*engine_, movers(), moved, writing);
  way.later = later;
  Words words{word(Order::move), number_, way.plan, writing, later};
  if (system_.io_ranks()) add_parts(words, moved);
  system_.order(words);
  move_by(way, moved);
}

void FileData::follow(const Words& words) {
  std::vector<std::string> names;
  const Moved moved = parts_of(words, 5, names, system_);
  move_by({domain_of(moved), words[2], words[3] != 0, words[4] != 0}, moved);
}

void FileData::hand_over(const Moved& moved, const std::vector<std::uint64_t>& positions) {
  Handover& handover = *system_.handover();
  for (const std::int64_t pieces : handover.forgotten()) {
    system_.order({word(Order::forget), pieces});
  }
  Words words{word(Order::write), number_, handover.hand_over()};
  add_parts(words, moved);
  words.insert(words.end(), positions.begin(), positions.end());
  system_.order(words);
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
    breaks(failure);
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

void FileData::write_copies(const Words& words) {
  Handover& handover = *system_.handover();
  std::byte* const memory = handover.await(words[2]);
  std::exception_ptr failure = broken();  // the same on all I/O ranks
  if (!failure) {
    failure = caught([&] {
      std::vector<std::string> names;
      Moved moved = parts_of(words, 3, names, system_);
      const auto* const positions = words.data() + words.size() - moved.parts.size();
      for (std::size_t i = 0; i < moved.parts.size(); ++i) {
        moved.parts[i].pieces = handover.pieces(moved.pieces[i]);
        moved.parts[i].buffer = memory + positions[i];
      }
      Engine& engine = *engine_of_io_ranks_;
      const Way way = way_of(engine, system_.comm(), moved, true);
      take_plan(engine, {moved.parts, way.domain, alignment_, true}, way.plan);
      agree(system_.comm(), transfer(engine, way, moved), SLABMARK_EIO);
    });
  }
  handover.set_written();
  answer(failure);
}

FileDomain FileData::domain_of(const Moved& moved) const {
  std::vector<ArrayPlace> places;
  for (const Part& part : moved.parts) places.push_back(part.place);
  return FileDomain(places, padding_);
}

// What fails does so on all ranks.
void FileData::take_plan(Engine& engine, const Layout& layout, std::int64_t plan) {
  if (plan != Way::new_plan) {
    engine.use(static_cast<std::size_t>(plan));
    return;
  }
  const auto refused = caught([&] { engine.make(layout); });
  if (refused) throw failure_of(refused, SLABMARK_EOVERLAP);
}

/// What fails on this rank.
std::exception_ptr FileData::transfer(Engine& engine, const Way& way, const Moved& moved) {
  return caught([&] {
    const std::exception_ptr before = way.writing ? broken() : nullptr;
    const auto leave_out = [](Rearranger& rearranger, const Rearranger::Flush& flush,
                              const Rearranger::FileAccess&) {
      return rearranger.write(flush, [](std::uint64_t, std::byte*, std::uint64_t) {});
    };
    std::vector<std::byte*> buffers;
    for (const Part& part : moved.parts) buffers.push_back(part.buffer);
    data_.move(engine, way.domain, buffers, way.writing, swaps_bytes_,
               before ? leave_out : DataFile::Mover());
    if (before) std::rethrow_exception(before);
  });
}

void FileData::move_by(const Way& way, const Moved& moved) {
  take_plan(*engine_, {moved.parts, way.domain, alignment_, way.writing}, way.plan);
  const auto failure = transfer(*engine_, way, moved);
  if (!way.later) {
    agree(engine_->comm(), failure, SLABMARK_EIO);
    written(moved.records);
  } else if (!system_.accesses_files()) {
    handed_over(moved.records);
    if (failure) breaks(failure);
  } else {
    answer(caught([&] { agree(system_.comm(), failure, SLABMARK_EIO); }));
  }
}

/// Of an I/O rank to those who did not wait, with what failed on all of them.
void FileData::answer(const std::exception_ptr& failure) {
  if (failure) breaks(failure);
  const Failure said = failure ? failure_of(failure, SLABMARK_EIO) : Failure(SLABMARK_OK, "");
  system_.io_ranks()->tell({number_, said.code(), said.what()});
}

void FileData::sync() {
  system_.order({word(Order::sync), number_});
  agreed(system_.all(), SLABMARK_EIO, [&] {
    if (system_.accesses_files()) data_.sync();
  });
}

void FileData::close() {
  system_.order({word(Order::close), number_});
  agreed(system_.all(), SLABMARK_EIO, [&] {
    if (system_.accesses_files()) data_.close();
  });
}

std::exception_ptr FileData::broken() {
  const std::lock_guard lock(mutex_);
  return broken_;
}

void FileData::breaks(const std::exception_ptr& failure) {
  const std::lock_guard lock(mutex_);
  if (!broken_) broken_ = failure;
}

// What fails does so on all ranks, and is told by the others.
void FileData::serve(System& system) {
  std::map<std::int64_t, std::unique_ptr<FileData>> files;
  for (;;) {
    const Words words = system.io_ranks()->next_order();
    const auto order = static_cast<Order>(words[0]);
    if (order == Order::end) return;
    const std::int64_t number = words[1];
    caught([&] {
      switch (order) {
        case Order::open:
          files[number] = std::make_unique<FileData>(system, number, Opening{});
          break;
        case Order::move:
          files.at(number)->follow(words);
          break;
        case Order::sync:
          files.at(number)->sync();
          break;
        case Order::reserve:
          system.handover()->reserve(static_cast<std::uint64_t>(words[1]));
          break;
        case Order::share:
          system.handover()->learn(words[1]);
          break;
        case Order::forget:
          system.handover()->forget(words[1]);
          break;
        case Order::write:
          files.at(number)->write_copies(words);
          break;
        default:
          files.at(number)->close();
      }
    });
    if (order == Order::close) files.erase(number);
  }
}

}  // namespace slabmark::rearrange
