#include "bench/harness/running_cell.hpp"

#include <utility>

#include <fmt/format.h>

#include "bench/harness/cell_record.hpp"
#include "bench/harness/file_space.hpp"
#include "bench/harness/page_cache.hpp"
#include "bench/harness/verify.hpp"
#include "bench/measure/memory.hpp"
#include "bench/measure/record_gather.hpp"
#include "bench/method/as_captured/files.hpp"
#include "core/base/error.hpp"
#include "core/base/stopwatch.hpp"
#include "core/parallel/abort.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/program.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark {

namespace {

/// "HDF5 2.2.0, Open MPI v4.1.4"
std::string libraries_of(const MethodInfo& method) {
  const std::string mpi = mpi_library_version();
  const std::string short_mpi = mpi.substr(0, mpi.find(','));
  const FileLibrary* const library = method.file().library;
  if (library == nullptr || library->version == nullptr) return short_mpi;
  return fmt::format("{} {}, {}", library->name, library->version(), short_mpi);
}

}  // namespace

RunningCell::RunningCell(const RunResources& shared, const Cell& cell, std::size_t cells)
    : shared_(shared),
      comm_(shared.comm),
      cell_(cell),
      format_(format_of(cell, moved())),
      record_(begin_record(comm_, cell, shared.options, cells)) {
  agreed(comm_, [&] { require_rounds(); });
}

void RunningCell::require_rounds() const {
  if (!round_is_trial(moved())) return;
  const std::uint64_t bytes = moved_bytes(moved(), 0);
  for (std::uint64_t round = 1; round < moved().rounds; ++round) {
    const std::uint64_t others = moved_bytes(moved(), round);
    if (others == bytes) continue;
    throw InputError(fmt::format(
        "Each round of pattern {} is a trial, so all must move as many bytes, but round "
        "{} moves {} and the first {}. Write them as one trial, to one file.",
        moved().name, round + 1, others, bytes));
  }
  const std::uint64_t trials = shared_.options.rule.max_trials + (shared_.options.warm_up ? 1 : 0);
  if (trials <= moved().rounds) return;
  if (moved().captured) {
    throw InputError(
        fmt::format("The program that was captured has {} files, each of which is a trial, but "
                    "there may be {} trials, with the warm-up; measure fewer.",
                    moved().rounds, trials));
  }
  throw InputError(
      fmt::format("Each round of pattern {} is a trial, and it has {}, but there may be {} trials, "
                  "with the warm-up; give it more rounds, or measure fewer.",
                  moved().name, moved().rounds, trials));
}

std::optional<double> RunningCell::seconds_left() const {
  if (finished()) return 0.0;
  if (record_.trials.empty()) return std::nullopt;
  const double per_trial = spent_ / static_cast<double>(record_.trials.size());
  return shared_.options.rule.seconds_left(measured_seconds(record_.trials), spent_, per_trial);
}

void RunningCell::let_read(RunningCell& reader) {
  if (reader.record_.unsupported.empty()) reader_ = &reader;
}

void RunningCell::run(std::uint64_t round, std::uint64_t position, bool warm_up) {
  {
    const Stopwatch watch(spent_);
    const TellCrash crash(
        fmt::format("Method {} ({})", cell_.method->name, libraries_of(*cell_.method)),
        "Leave the method out with --method, or select another MPI-IO or library.");
    if (reading() && !cell_.existing && files_.empty()) make_files_to_read();
    begin_trial();
    if (reader_) reader_->begin_trial();
    const std::uint64_t trial = record_.trials.size();
    if (appended()) {
      move_round(trial);
    } else if (round_is_trial(moved())) {
      move_file(trial, false);
    } else {
      if (!reading()) files_.clear();  // the previous trial's: every trial starts on fresh files
      for (std::uint64_t i = 0; i < file_count(moved()); ++i) move_file(i, warm_up);
    }
    end_trial(round, position, warm_up);
    if (reader_) reader_->end_trial(round, position, warm_up);
  }
  if (!warm_up) decide();
}

CellRecord RunningCell::finish() {
  if (record_.trials.empty()) return std::move(record_);
  if (open_) finish_open_file();
  for (TrialFile& file : files_) {
    if (shared_.options.keep) file.keep();
  }
  files_.clear();
  record_.memory["buffers"] =
      gather_summary(comm_, static_cast<double>(buffer_bytes(moved(), cell_.rounds_in_memory())));
  if (comm_.is_root()) record_.summary = summarise(record_.trials, record_.pattern.bytes);
  return std::move(record_);
}

void RunningCell::begin_trial() {
  agreed(comm_, [&] { shared_.buffers.fit(moved(), cell_.rounds_in_memory()); });
  times_ = {};
  if (shared_.options.verify) record_.verified = {};
}

void RunningCell::end_trial(std::uint64_t round, std::uint64_t position, bool warm_up) {
  TrialRecord gathered = gather_trial(comm_, times_);
  gathered.warm_up = warm_up;
  gathered.round = round;
  gathered.position = position;
  record_.trials.push_back(std::move(gathered));
}

std::string RunningCell::path_of(std::uint64_t i) const {
  return file_path(moved(), cell_.path, i);
}

// The earlier file is gone on all ranks when the next one is made. A file there now belongs to
// another job: it came after this one had looked, and would be removed with the file of this trial.
void RunningCell::make_file(std::uint64_t i) {
  agreed(comm_, [&] {
    if (comm_.is_root())
      posix::require_free_path(path_of(i), {.choice = shared_.options.output_choice});
  });
  require_space(comm_, cell_, file_part(*cell_.written, i), path_of(i));
  files_.emplace_back(comm_, path_of(i), &format_);
}

void RunningCell::begin_written(CellFile& file) {
  TrialFile& made = files_.back();
  std::function<void()> guard;
  if (format_.companions) guard = [&] { made.guard_companions(); };
  file.begin(made.path(), guard);
}

// The file that all trials read: written and verified outside the measurement.
void RunningCell::make_files_to_read() {
  agreed(comm_, [&] { shared_.buffers.fit(*cell_.written, cell_.rounds_in_memory()); });
  for (std::uint64_t i = 0; i < file_count(*cell_.written); ++i) {
    make_file(i);
    const Pattern part = file_part(*cell_.written, i);
    {
      CellFile file(shared_, cell_, part, Direction::write, &kept_);
      begin_written(file);
      file.move(0, part.rounds);
      file.end();
    }
    verify_written(part, path_of(i));
  }
}

void RunningCell::move_file(std::uint64_t i, bool warm_up) {
  const std::string path = path_of(i);
  const Pattern part = file_part(moved(), i);
  reading() ? drop_pages(path) : make_file(i);
  {
    reset_high_water();
    CellFile file(shared_, cell_, part, cell_.direction, &kept_);
    reading() ? file.begin(path) : begin_written(file);
    file.move(0, part.rounds);
    if (record_.sync) file.sync();
    file.end();
    note_memory();
    times_ += file.take_times();
    enter_effective(comm_, record_, file.effective());
    if (reading()) {
      verify_read(file, path);
    } else if (!shared_.options.verify) {
      require_stored(comm_, cell_, part, path, file.effective());
    }
  }
  if (reading()) return;
  if (shared_.options.verify) verify_written(part, path);
  if (reader_) reader_->move_file(i, warm_up);
  // The last trial is known only after it, so any but the warm-up may have to stay.
  if (warm_up || !shared_.options.keep) files_.pop_back();
}

void RunningCell::move_round(std::uint64_t round) {
  if (!open_) {
    reading() ? drop_pages(cell_.path) : make_file(0);
    open_.emplace(shared_, cell_, moved(), cell_.direction, &kept_);
    reading() ? open_->begin(cell_.path) : begin_written(*open_);
    once_ = open_->take_times();
  }
  reset_high_water();
  open_->move(round, round + 1);
  if (record_.sync) open_->sync();
  note_memory();
  times_ = open_->take_times();
}

void RunningCell::finish_open_file() {
  open_->end();
  once_ += open_->take_times();
  record_.once = gather_trial(comm_, once_);
  enter_effective(comm_, record_, open_->effective());
  if (cell_.completed) agreed(comm_, [&] { cell_.completed(record_.effective); });
  if (reading()) {
    verify_read(*open_, cell_.path);
  } else {
    Pattern done = moved();
    done.rounds = record_.trials.size();
    if (shared_.options.verify) {
      verify_written(done, cell_.path);
    } else {
      require_stored(comm_, cell_, done, cell_.path, open_->effective());
    }
  }
  open_.reset();
}

void RunningCell::drop_pages(const std::string& path) {
  bool cold = !cell_.after && drop_cached_pages(comm_, path);
  if (cold && format_.companions) {
    for (const std::string& other : format_.companions(path)) {
      if (!drop_cached_pages(comm_, other)) cold = false;
    }
  }
  if (record_.cache != "warm") record_.cache = cold ? "cold" : "warm";
}

void RunningCell::verify_written(const Pattern& pattern, const std::string& path) {
  if (cell_.method->format == FileFormat::none) return;
  const bool is_captured = cell_.method->kind == MethodKind::as_captured;
  const FileCheck check = verify_file(comm_, pattern, [&] {
    return is_captured ? open_captured_files(comm_, cell_.method->format, pattern, path)
                       : format_.open(comm_, pattern, path);
  });
  note_check(path, check.elements_checked, check.first_mismatch,
             "plain reader, each rank an equal range");
}

void RunningCell::verify_read(const CellFile& file, const std::string& path) {
  if (cell_.method->format == FileFormat::none || !shared_.options.verify) return;
  const std::string sentence = describe_agreed(comm_, file.mismatch(), moved());
  note_check(path, comm_.sum(file.checked()), sentence,
             cell_.after ? "buffers, each rank its own part" : "buffers, each rank what it read");
}

void RunningCell::note_check(const std::string& path, std::uint64_t elements,
                             const std::string& mismatch, const std::string& by) {
  record_.verified = {mismatch.empty() ? Verified::yes : Verified::no,
                      record_.verified.elements + elements, by, mismatch};
  if (mismatch.empty()) return;
  throw IoError(fmt::format("Verification of {} {} failed in '{}': {}", cell_.method->name,
                            record_.direction, path, mismatch));
}

// Of the last file: greatest resident set while it was moved, so that methods can be told apart
// although they share a process.
void RunningCell::note_memory() {
  const std::uint64_t high = high_water_bytes().value_or(peak_resident_bytes());
  record_.memory["resident_high_water"] = gather_summary(comm_, static_cast<double>(high));
}

// Only root has the gathered times, so root decides.
void RunningCell::decide() {
  std::optional<StopReason> reason;
  if (comm_.is_root()) {
    reason = shared_.options.rule.reason_to_stop(measured_seconds(record_.trials), spent_);
  }
  constexpr std::uint64_t go_on = 1000;
  const std::uint64_t answer =
      comm_.broadcast(reason ? static_cast<std::uint64_t>(*reason) : go_on);
  if (answer != go_on) record_.stop = static_cast<StopReason>(answer);
  if (reader_) reader_->record_.stop = record_.stop;
}

}  // namespace slabmark
