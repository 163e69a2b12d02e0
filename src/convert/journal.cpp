#include "convert/journal.hpp"

#include <cerrno>
#include <cstdio>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/version.hpp"

namespace slabmark::convert {

namespace {

/// Size and time of the last change; null: there is no such file.
Json stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return nullptr;
  return Json::array({status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec});
}

void rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return;
  throw IoError(fmt::format("Cannot rename '{}' to '{}': {}.", from, to, posix::explain(errno)));
}

}  // namespace

std::string resumable_name(const std::string& output) { return output + ".partial-resume"; }

Json conversion_identity(const std::vector<std::string>& inputs, const Json& options, int ranks) {
  Json stamps = Json::array();
  for (const std::string& input : inputs) stamps.push_back(Json::array({input, stamp_of(input)}));
  return Json::object({{"version", version()},
                       {"options", options},
                       {"ranks", ranks},
                       {"inputs", std::move(stamps)}});
}

Journal::Journal(const std::string& output, Json identity)
    : output_(output), path_(output + ".resume"), identity_(std::move(identity)) {
  if (stamp_of(path_).is_null()) return;
  file_ = locked(posix::File::open(path_, posix::File::Access::write), path_);
  std::string text(file_.size(), '\0');
  file_.read_at(0, reinterpret_cast<std::byte*>(text.data()), text.size());
  if (!text.empty()) parse(text);
}

// Between opening and locking, another run may have put a new journal in the place of this one.
posix::File Journal::locked(posix::File file, const std::string& path) {
  for (;;) {
    const bool is_held = file.try_lock(false) == posix::File::Lock::held_by_another;
    if (is_held) {
      throw InputError(
          fmt::format("Another run has '{}'; wait for its end, or write to another file.", path));
    }
    if (file.is_at_its_name()) return file;
    file = posix::File::open_or_create(path);
  }
}

void Journal::parse(const std::string& text) {
  const std::size_t end = text.find('\n');
  try {
    const Json content = Json::parse(std::string_view(text).substr(0, end));
    require_same(content.at("identity"));
    finished_ = content.at("finished");
    batches_ = content.at("batches").get<std::uint64_t>();
    state_.size = content.at("size").get<std::uint64_t>();
    std::uint64_t bytes = 0;
    for (const Json& range : content.at("ranges")) {
      state_.ranges.push_back({range.at(0), range.at(1)});
      bytes += state_.ranges.back().length;
    }
    if (end == std::string::npos || text.size() - end - 1 != bytes) throw JsonError("bytes");
    const auto* begin = reinterpret_cast<const std::byte*>(text.data()) + end + 1;
    state_.bytes.assign(begin, begin + bytes);
  } catch (const JsonError&) {
    throw InputError(fmt::format(
        "'{}' is no journal of a conversion, or damaged; remove it to begin anew.", path_));
  }
  if (stamp_of(resumable_name(output_)).is_null()) batches_ = 0;
}

void Journal::require_same(const Json& other) const {
  const auto refuse = [&](const std::string& what) {
    throw InputError(
        fmt::format("Cannot resume '{}': {}. Repeat that run, or remove '{}' to begin anew.",
                    output_, what, path_));
  };
  if (other.at("version") != identity_.at("version")) refuse("another Slabmark began it");
  if (other.at("ranks") != identity_.at("ranks")) {
    refuse(fmt::format("it was begun on {} ranks", other.at("ranks").dump()));
  }
  if (other.at("options") != identity_.at("options")) refuse("it was begun with other options");
  const Json& inputs = identity_.at("inputs");
  if (other.at("inputs").size() != inputs.size()) refuse("it was begun with other inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (other.at("inputs").at(i) == inputs.at(i)) continue;
    refuse(fmt::format("input '{}' is another, or was changed since",
                       inputs.at(i).at(0).get<std::string>()));
  }
}

bool Journal::is_finished() {
  if (finished_.is_null()) return false;
  const std::string partial = resumable_name(output_);
  if (stamp_of(partial) == finished_) rename(partial, output_);
  return stamp_of(output_) == finished_;
}

void Journal::restore() const {
  posix::File file = posix::File::open(resumable_name(output_), posix::File::Access::write);
  file.resize(state_.size);
  const std::byte* bytes = state_.bytes.data();
  for (const Run& range : state_.ranges) {
    file.write_at(range.offset, bytes, range.length);
    bytes += range.length;
  }
  file.close();
}

void Journal::begin() {
  if (!file_.is_open()) file_ = locked(posix::File::open_or_create(path_), path_);
  if (batches_ == 0) posix::unlink(resumable_name(output_));
}

void Journal::save(std::uint64_t batches, const TargetState& state) {
  Json ranges = Json::array();
  for (const Run& range : state.ranges) {
    ranges.push_back(Json::array({range.offset, range.length}));
  }
  replace(Json::object({{"identity", identity_},
                        {"finished", nullptr},
                        {"batches", batches},
                        {"size", state.size},
                        {"ranges", std::move(ranges)}}),
          state.bytes);
  batches_ = batches;
}

void Journal::finish() {
  replace(Json::object({{"identity", identity_},
                        {"finished", stamp_of(resumable_name(output_))},
                        {"batches", 0},
                        {"size", 0},
                        {"ranges", Json::array()}}),
          {});
  rename(resumable_name(output_), output_);
  file_ = {};
}

// A kill leaves the old journal or the new one, and whichever it is has a lock.
void Journal::replace(const Json& content, const std::vector<std::byte>& bytes) {
  const std::string fresh = path_ + "-new";
  posix::unlink(fresh);
  posix::File file = posix::File::create(fresh);
  static_cast<void>(file.try_lock(false));
  const std::string text = content.dump() + '\n';
  file.write_at(0, reinterpret_cast<const std::byte*>(text.data()), text.size());
  file.write_at(text.size(), bytes.data(), bytes.size());
  file.sync();
  rename(fresh, path_);
  file_ = std::move(file);
}

void Journal::remove() {
  posix::unlink(path_ + "-new");
  posix::unlink(path_);
  file_ = {};
}

}  // namespace slabmark::convert
