#include "bench/running_cell.hpp"

#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "bench/cell_record.hpp"
#include "bench/page_cache.hpp"
#include "bench/verify.hpp"
#include "measure/memory.hpp"
#include "measure/record_gather.hpp"
#include "parallel/agree.hpp"

namespace slabmark {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

RunningCell::RunningCell(const RunResources& shared, const Cell& cell, std::size_t cells)
    : shared_(shared),
      comm_(shared.comm),
      cell_(cell),
      record_(begin_record(comm_, cell, shared.options, cells)) {}

void RunningCell::run(std::uint64_t round, std::uint64_t position, bool warm_up) {
  const auto start = std::chrono::steady_clock::now();
  if (reading() && !cell_.existing && !file_) make_file_to_read();
  agreed(comm_, [&] { shared_.buffers.fit(moved(), cell_.rounds_in_memory()); });
  reset_high_water();
  const Trial trial = reading() ? run_read() : run_write();
  note_memory();
  if (!reading()) check_written(warm_up);
  TrialRecord gathered = gather_trial(comm_, trial.times);
  gathered.warm_up = warm_up;
  gathered.round = round;
  gathered.position = position;
  record_.trials.push_back(std::move(gathered));
  enter_effective(comm_, record_, trial.effective);
  spent_ += seconds_since(start);
  if (!warm_up) decide();
}

CellRecord RunningCell::finish() {
  if (!record_.unsupported.empty()) return std::move(record_);
  if (file_ && shared_.options.keep) file_->keep();
  file_.reset();
  record_.memory["buffers"] =
      gather_summary(comm_, static_cast<double>(buffer_bytes(moved(), cell_.rounds_in_memory())));
  if (comm_.is_root()) record_.summary = summarise(record_.trials, record_.pattern.bytes);
  return std::move(record_);
}

// What all trials read: written and verified outside the measurement.
void RunningCell::make_file_to_read() {
  agreed(comm_, [&] { shared_.buffers.fit(*cell_.written, cell_.rounds_in_memory()); });
  file_ = std::make_unique<mpiio::TrialFile>(comm_, cell_.path, cell_.method->companions);
  write_trial(comm_, cell_, *file_, shared_.buffers, false, shared_.deadline, &kept_);
  verify_written();
}

Trial RunningCell::run_write() {
  file_.reset();  // the previous trial's: every trial starts on a fresh file
  comm_.barrier();
  file_ = std::make_unique<mpiio::TrialFile>(comm_, cell_.path, cell_.method->companions);
  return write_trial(comm_, cell_, *file_, shared_.buffers, shared_.options.sync, shared_.deadline,
                     &kept_);
}

void RunningCell::check_written(bool warm_up) {
  if (shared_.options.verify) verify_written();
  // Which trial is the last is known only after it, so any but the warm-up may have to stay.
  if (warm_up || !shared_.options.keep) file_.reset();
}

void RunningCell::verify_written() {
  if (cell_.method->format == FileFormat::none) return;
  const FileCheck check = verify_file(comm_, cell_.method->format, *cell_.written, cell_.path);
  note_check(check.elements_checked, check.first_mismatch,
             "plain reader, each rank an equal range");
}

Trial RunningCell::run_read() {
  bool cold = drop_cached_pages(comm_, cell_.path);
  if (cell_.method->companions) {
    for (const std::string& path : cell_.method->companions(cell_.path)) {
      if (!drop_cached_pages(comm_, path)) cold = false;
    }
  }
  if (record_.cache != "warm") record_.cache = cold ? "cold" : "warm";
  const Trial trial =
      read_trial(comm_, cell_, shared_.buffers, shared_.options.verify, shared_.deadline, &kept_);
  if (cell_.method->format == FileFormat::none || !shared_.options.verify) return trial;
  const std::string sentence = describe_agreed(comm_, trial.mismatch, moved());
  note_check(comm_.sum(trial.checked), sentence, "buffers, each rank another rank's part");
  return trial;
}

void RunningCell::note_check(std::uint64_t elements, const std::string& mismatch,
                             const std::string& by) {
  record_.verified = {mismatch.empty() ? Verified::yes : Verified::no, elements, by, mismatch};
  if (mismatch.empty()) return;
  throw IoError(fmt::format("Verification of method {} failed: {}", cell_.method->name, mismatch));
}

// Of the last trial: greatest resident set while it ran, so that methods can be told apart although
// they share a process.
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
}

}  // namespace slabmark
