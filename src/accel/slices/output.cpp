#include "accel/slices/output.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "accel/slices/cut_output.hpp"
#include "core/base/error.hpp"
#include "core/base/stopwatch.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/end_of_mpi.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark::slice {

namespace {

void check_fields(const Declaration& declaration) {
  if (declaration.fields.empty()) {
    throw InputError("The slices have no field; declare at least one.");
  }
  std::set<std::string> names;
  for (const auto& field : declaration.fields) {
    if (field.name.empty() || field.name.find('/') != std::string::npos ||
        !names.insert(field.name).second) {
      throw InputError(fmt::format(
          "'{}' cannot name a field; give each a name of its own, without '/'.", field.name));
    }
    if (field.data == nullptr) {
      throw InputError(fmt::format("The field '{}' has no memory; give its block.", field.name));
    }
  }
}

void check_cut(const Declaration& declaration, const Cut& cut) {
  check_slice(declaration.grid, cut.slice);
  if (cut.every == 0) {
    throw InputError("A slice cannot be written every 0 steps; write it every step or every n-th.");
  }
  for (const auto& name : cut.fields) {
    if (std::any_of(declaration.fields.begin(), declaration.fields.end(),
                    [&](const Field& field) { return field.name == name; })) {
      continue;
    }
    throw InputError(fmt::format("The slice '{}' is of a field '{}' that was not declared.",
                                 cut.slice.name, name));
  }
  // One output is one chunk in the file, whose size HDF5 keeps in 32 bits.
  constexpr std::uint64_t largest = 0xffffffff;
  std::uint64_t bytes = size_of(declaration.type);
  for (const auto& range : cut.slice.ranges) bytes *= range.count();
  if (declaration.mode == FileMode::append && bytes > largest) {
    throw InputError(fmt::format(
        "The slice '{}' has {} bytes a field, more than the {} that can be appended; cut it into "
        "several or write a file an output.",
        cut.slice.name, bytes, largest));
  }
}

}  // namespace

std::string file_of(FileMode mode, const std::string& stem, std::uint64_t step) {
  if (mode == FileMode::append) return fmt::format("{}{}", stem, file_ending);
  return fmt::format("{}_{:06}{}", stem, step, file_ending);
}

void check(const Declaration& declaration, std::uint64_t ranks) {
  check_field(declaration.grid, ranks);
  check_fields(declaration);
  if (declaration.cuts.empty()) throw InputError("There is no slice to write; declare one.");
  std::set<std::string> names;
  for (const auto& cut : declaration.cuts) {
    check_cut(declaration, cut);
    if (names.insert(cut.slice.name).second) continue;
    throw InputError(
        fmt::format("Two slices are called '{}'; give each a name of its own.", cut.slice.name));
  }
  if (declaration.type != ElementType::float32 && declaration.type != ElementType::float64) {
    throw InputError(fmt::format("Slices are written as float32 or float64, not {}.",
                                 name_of(declaration.type)));
  }
  if (declaration.writers > ranks) {
    throw InputError(fmt::format("{} writers are more than the {} ranks; ask for as many or fewer.",
                                 declaration.writers, ranks));
  }
}

class Output::Work {
 public:
  Work(MPI_Comm comm, const Declaration& declaration) : comm_(comm) {
    agreed(comm_, [&] {
      check(declaration, static_cast<std::uint64_t>(comm_.size()));
      hdf5::start();  // on all ranks, before end_before_mpi()
    });
    agreed(comm_, [&] {
      for (std::size_t i = 0; i < declaration.cuts.size(); ++i) {
        cuts_.emplace_back(comm_, declaration, i);
      }
    });
    agreed(comm_, [&] {
      for (const auto& cut : cuts_) cut.clear_the_way(declaration.overwrite);
    });
    try {
      agreed(comm_, [&] {
        for (auto& cut : cuts_) cut.create();
      });
    } catch (...) {
      for (auto& cut : cuts_) cut.remove_created();
      throw;
    }
    const bool writes =
        std::any_of(cuts_.begin(), cuts_.end(), [](const auto& cut) { return cut.writes(); });
    if (declaration.waiting > 0 && writes) thread_.emplace();
    end_before_mpi();
  }

  ~Work() {
    std::erase(living(), this);
    end_quietly();
  }

  void set_block(const std::string& field, const void* data) {
    bool declared = false;
    for (auto& cut : cuts_) declared = cut.set_block(field, data) || declared;
    if (!declared) throw InputError(fmt::format("No slice has a field '{}'.", field));
  }

  void write(std::uint64_t step, double time) {
    require_open();
    Attempt attempt;
    // All begin before the first is written: what comes from a device is on its way meanwhile.
    for (auto& cut : cuts_) {
      if (cut.due(step)) cut.begin(thread(), attempt, tally_);
    }
    for (auto& cut : cuts_) {
      if (cut.due(step)) cut.finish(step, time, thread(), attempt, tally_);
    }
    if (thread() != nullptr) attempt.run([&] { thread()->check(); });
    timed(tally_.agree, [&] { agree_or_end(attempt); });
  }

  void flush() {
    require_open();
    Attempt attempt;
    attempt.run([&] { wait_for_thread(); });
    agree_or_end(attempt);
    for (auto& cut : cuts_) attempt.run([&] { cut.note_count(); });
    agree_or_end(attempt);
  }

  void close() {
    if (!open_) return;
    flush();
    end(true);
  }

  const Tally& tally() const { return tally_; }

  std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (const auto& cut : cuts_) all.insert(all.end(), cut.files().begin(), cut.files().end());
    return all;
  }

 private:
  static std::vector<Work*>& living() {
    static auto& all = *new std::vector<Work*>;  // an output may live longer than static objects
    return all;
  }

  /// HDF5 closes all files when MPI ends, with what they hold then. It has asked for that as it
  /// started, and what was asked for last comes first.
  void end_before_mpi() {
    static bool is_asked_for = false;
    if (!std::exchange(is_asked_for, true)) {
      at_end_of_mpi([] {
        for (auto* work : living()) work->end_quietly();
      });
    }
    living().push_back(this);
  }

  void end_quietly() {
    try {
      end(false);
    } catch (const std::exception&) {
      // close() is there for those who want to know.
    }
  }

  WorkerThread* thread() { return thread_ ? &*thread_ : nullptr; }

  void require_open() const {
    if (open_) return;
    throw IoError("The output of slices is closed, or ended after a failure; declare it anew.");
  }

  void wait_for_thread() {
    if (thread() != nullptr) thread()->wait(thread()->submit([] {}));
  }

  void agree_or_end(const Attempt& attempt) {
    try {
      agree(comm_, attempt.failure());
    } catch (const Error&) {
      try {
        end(true);
      } catch (const std::exception&) {
        // The first failure is the one to tell.
      }
      throw;
    }
  }

  /// Closes all files with the outputs that are whole on all ranks; where the others may be
  /// elsewhere, with those that are whole here.
  void end(bool together) {
    if (!open_) return;
    open_ = false;
    thread_.reset();
    Attempt attempt;
    for (auto& cut : cuts_) {
      const auto whole = together ? comm_.min(cut.whole()) : cut.whole();
      attempt.run([&] { cut.close(whole); });
    }
    if (together) {
      agree(comm_, attempt.failure());
    } else if (attempt.failure()) {
      std::rethrow_exception(attempt.failure());
    }
  }

  Comm comm_;
  bool open_ = true;
  Tally tally_;
  std::deque<CutOutput> cuts_;
  std::optional<WorkerThread> thread_;  // after the cuts, whose buffers it reads
};

Output::Output(MPI_Comm comm, const Declaration& declaration)
    : work_(std::make_unique<Work>(comm, declaration)) {}
Output::~Output() = default;
void Output::set_block(const std::string& field, const void* data) {
  work_->set_block(field, data);
}
void Output::write(std::uint64_t step, double time) { work_->write(step, time); }
void Output::flush() { work_->flush(); }
void Output::close() { work_->close(); }
const Tally& Output::tally() const { return work_->tally(); }
std::vector<std::string> Output::files() const { return work_->files(); }

}  // namespace slabmark::slice
