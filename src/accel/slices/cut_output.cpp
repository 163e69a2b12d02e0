#include "accel/slices/cut_output.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/stopwatch.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark::slice {

namespace fs = std::filesystem;

namespace {

std::vector<Field> fields_of(const Declaration& declaration, const Cut& cut) {
  if (cut.fields.empty()) return declaration.fields;
  std::vector<Field> fields;
  fields.reserve(cut.fields.size());
  for (const auto& name : cut.fields) {
    fields.push_back(*std::find_if(declaration.fields.begin(), declaration.fields.end(),
                                   [&](const Field& field) { return field.name == name; }));
  }
  return fields;
}

Description describe(const Declaration& declaration, const Cut& cut) {
  Description description;
  description.slice = cut.slice;
  description.grid = declaration.grid.points;
  if (cut.slice.with_halos) description.before = declaration.grid.halo;
  description.origin = declaration.origin;
  description.spacing = declaration.spacing;
  for (const auto& field : fields_of(declaration, cut)) description.fields.push_back(field.name);
  description.type = declaration.type;
  return description;
}

std::vector<int> writers_of(const Declaration& declaration, const Description& description,
                            std::uint64_t index, std::uint64_t ranks) {
  constexpr std::uint64_t bytes_a_writer = 1 << 20;
  const auto bytes = description.bytes() * description.fields.size();
  auto writers = declaration.writers;
  if (writers == 0) writers = std::min((bytes + bytes_a_writer - 1) / bytes_a_writer, ranks);
  return choose_writers(declaration.grid, description.slice, description.fields.size(), writers,
                        index);
}

/// "DIRECTORY/STEM_000042.vtkhdf" of any number.
bool is_output_of(const std::string& path, const std::string& stem) {
  if (!path.starts_with(stem + "_") || !path.ends_with(file_ending)) return false;
  const auto number =
      path.substr(stem.size() + 1, path.size() - stem.size() - 1 - file_ending.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

CutOutput::CutOutput(const Comm& comm, const Declaration& declaration, std::size_t index)
    : mode_(declaration.mode),
      stem_(declaration.prefix + declaration.cuts[index].slice.name),
      every_(declaration.cuts[index].every),
      description_(describe(declaration, declaration.cuts[index])),
      plan_(make_plan(
          declaration.grid, declaration.cuts[index].slice, description_.fields.size(),
          declaration.type,
          writers_of(declaration, description_, index, static_cast<std::uint64_t>(comm.size())),
          static_cast<std::uint64_t>(comm.rank()))),
      exchange_(std::in_place, comm, plan_.sent, plan_.received),
      gatherer_(declaration.device, plan_, fields_of(declaration, declaration.cuts[index]),
                declaration.type),
      appended_(comm, plan_.writers.front(), description_.fields.size()) {
  if (!writes()) return;
  if (!appends()) frame_ = FileFrame(description_, plan_.write_bytes, keeps());
  const auto bytes = plan_.write_bytes + frame_.bytes();
  slots_.resize(std::max<std::uint64_t>(declaration.waiting, 1));
  for (auto& slot : slots_) slot.buffer = make_buffer(bytes, declaration.device);
}

void CutOutput::clear_the_way(bool overwrite) const {
  if (!keeps()) return;
  posix::require_free_path(file_of(FileMode::append, stem_, 0), {overwrite});
  if (appends()) return;
  auto directory = fs::path(stem_).parent_path();
  const bool here = directory.empty();
  for (const auto& entry : fs::directory_iterator(here ? "." : directory)) {
    const auto path = here ? entry.path().filename().string() : entry.path().string();
    if (is_output_of(path, stem_)) posix::require_free_path(path, {overwrite});
  }
}

void CutOutput::create() {
  if (!appends() || !keeps()) return;
  files_.push_back(path_of(0));
  appended_.create(files_.front(), description_);
}

void CutOutput::remove_created() noexcept {
  appended_.drop();
  std::error_code ignored;
  for (const auto& path : files_) fs::remove(path, ignored);
}

// A thread of any rank may still have as many outputs to write as there are slots. The earlier
// outputs are whole: every rank waited for them before it agreed on the last one.
void CutOutput::grow(const WorkerThread* thread, Attempt& attempt) {
  const auto waiting = std::min<std::uint64_t>(thread == nullptr ? 0 : slots_.size(), count_);
  if (!appended_.grow(count_ - waiting, attempt)) return;
  if (writes() && !file_.is_open()) {
    attempt.run([&] { file_ = posix::File::open(path_of(0), posix::File::Access::write); });
  }
}

// Neighbours in the file that are neighbours in the buffer too become one request.
std::vector<Piece> CutOutput::pieces_of_output() const {
  const auto front = frame_.front();
  std::vector<Piece> pieces;
  if (front > 0) pieces.push_back(frame_.pieces().front());
  const auto* bases = appends() ? appended_.data_of(count_) : frame_.data();
  for (const auto& stretch : plan_.stretches) {
    append(pieces,
           {bases[stretch.field] + stretch.in_field, front + stretch.offset, stretch.bytes});
  }
  const auto rest = std::span(frame_.pieces()).subspan(front > 0 ? 1 : 0);
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  return pieces;
}

void CutOutput::write_pieces(const std::string& path, const std::byte* buffer,
                             const std::vector<Piece>& pieces) {
  posix::File own;
  if (!appends()) own = posix::File::open_or_create(path);
  auto& file = appends() ? file_ : own;
  for (const auto& piece : pieces) file.write_at(piece.file, buffer + piece.buffer, piece.length);
  own.close();
  ++whole_;
}

void CutOutput::begin(WorkerThread* thread, Attempt& attempt, Tally& tally) {
  if (thread != nullptr && writes()) {
    timed(tally.write, [&] { attempt.run([&] { thread->wait(slot()->work); }); });
  }
  if (appends() && appended_.is_full(count_)) timed(tally.grow, [&] { grow(thread, attempt); });
  timed(tally.gather, [&] {
    attempt.run([&] {
      gatherer_.begin(writes() ? slot()->buffer.get() + frame_.front() : nullptr, tally);
    });
  });
}

void CutOutput::finish(std::uint64_t step, double time, WorkerThread* thread, Attempt& attempt,
                       Tally& tally) {
  timed(tally.gather, [&] {
    attempt.run([&] {
      gatherer_.finish();
      if (gathered_ == count_) ++gathered_;
    });
  });
  timed(tally.exchange, [&] {
    exchange_->run(gatherer_.outgoing(),
                   writes() ? slot()->buffer.get() + frame_.front() : nullptr);
  });
  timed(tally.write, [&] { attempt.run([&] { hand_over(step, time, thread, tally); }); });
  ++count_;
}

// To the file, or to the thread that writes it there.
void CutOutput::hand_over(std::uint64_t step, double time, WorkerThread* thread, Tally& tally) {
  const auto path = path_of(step);
  if (keeps() && appends()) appended_.series().set_time(count_, time);
  if (keeps() && !appends()) {
    files_.push_back(path);
    frame_.store(time, slot()->buffer.get());
  }
  if (!writes() || (appends() && appended_.data_of(count_) == nullptr))
    return;  // the keeper found no room
  auto pieces = pieces_of_output();
  tally.requests += pieces.size();
  for (const auto& piece : pieces) tally.bytes_written += piece.length;
  const auto* buffer = slot()->buffer.get();
  if (thread == nullptr) return write_pieces(path, buffer, pieces);
  slot()->work = thread->submit(
      [this, path, buffer, pieces = std::move(pieces)] { write_pieces(path, buffer, pieces); });
}

void CutOutput::note_count() {
  if (appended_.is_open()) appended_.series().count(count_);
}

void CutOutput::close(std::uint64_t outputs) {
  exchange_.reset();
  if (writes()) file_.close();
  if (appended_.is_open()) {
    appended_.series().close(outputs);
    appended_.drop();
    return;
  }
  // The half-written output of a failure.
  std::error_code ignored;
  for (auto i = outputs; i < files_.size(); ++i) fs::remove(files_[i], ignored);
  files_.resize(std::min<std::uint64_t>(files_.size(), outputs));
}

}  // namespace slabmark::slice
