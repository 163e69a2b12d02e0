#include "capture/read/spool_reader.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

namespace {

constexpr std::size_t magic_bytes = sizeof capture::SpoolFrame::magic;

/// The offset of the next place from `offset` on that has the magic bytes, or the end.
std::uint64_t next_magic(std::ifstream& file, std::uint64_t offset, std::uint64_t end) {
  std::vector<char> window(std::size_t{1} << 20);
  while (offset + magic_bytes <= end) {
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(window.data(),
              static_cast<std::streamsize>(std::min<std::uint64_t>(window.size(), end - offset)));
    const auto got = static_cast<std::size_t>(file.gcount());
    const auto found =
        std::search(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(got),
                    capture::spool_magic, capture::spool_magic + magic_bytes);
    const auto at = static_cast<std::size_t>(found - window.begin());
    if (at < got) return offset + at;
    if (got < magic_bytes) break;
    offset += got - magic_bytes + 1;
  }
  return end;
}

}  // namespace

SpoolReader::SpoolReader(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == capture::spool_file_ending)
      paths_.push_back(entry.path().string());
    if (entry.path().extension() == capture::spool_children_ending)
      paths_of_children_.push_back(entry.path().string());
  }
  if (error) {
    throw InputError(fmt::format("The spool '{}' cannot be read: {}.", folder, error.message()));
  }
  if (paths_.empty()) {
    throw InputError(
        fmt::format("'{}' holds no file that a captured program left (*{}); did it open a file "
                    "through PnetCDF, "
                    "HDF5, MPI-IO or what else was captured?",
                    folder, capture::spool_file_ending));
  }
  std::sort(paths_.begin(), paths_.end());
  for (std::size_t file = 0; file < paths_.size(); ++file) scan(file);
  for (auto& [number, frames] : found_) {
    Process& process = processes_[number];
    for (const auto& [place, frame] : frames) {
      if (place != process.frames.size()) {
        process.cut = true;
        break;
      }
      process.frames.push_back(frame);
      if (frame.stream == capture::Stream::events) process.last_block.reset();
      if (frame.stream == capture::Stream::pending) process.last_block = place;
    }
    if (process.frames.empty()) processes_.erase(number);
  }
  found_.clear();
  count_calls_of_children();
  if (processes_.empty()) {
    throw InputError(
        fmt::format("'{}' is no file that a captured program left, or nothing in it is whole.",
                    paths_.front()));
  }
}

void SpoolReader::count_calls_of_children() {
  for (const std::string& path : paths_of_children_) {
    std::uint64_t calls = 0;
    std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&calls), sizeof calls);
    const auto of = std::find_if(processes_.begin(), processes_.end(), [&](const auto& process) {
      return std::filesystem::path(path).stem() == std::to_string(process.first);
    });
    (of == processes_.end() ? other_calls_of_children_ : of->second.calls_of_children) += calls;
  }
}

void SpoolReader::scan(std::size_t number) {
  std::ifstream file(paths_[number], std::ios::binary | std::ios::ate);
  if (!file) throw InputError(fmt::format("'{}' cannot be read.", paths_[number]));
  const auto end = static_cast<std::uint64_t>(file.tellg());
  std::vector<std::byte> payload;
  for (std::uint64_t offset = 0; offset < end;) {
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    capture::SpoolFrame frame;
    file.read(reinterpret_cast<char*>(&frame), sizeof frame);
    bool whole = file.gcount() == sizeof frame &&
                 std::memcmp(frame.magic, capture::spool_magic, magic_bytes) == 0 &&
                 frame.bytes <= end - offset - sizeof frame;
    if (whole) {
      payload.resize(frame.bytes);
      file.read(reinterpret_cast<char*>(payload.data()), frame.bytes);
      whole = file.gcount() == static_cast<std::streamsize>(frame.bytes) &&
              frame.checksum == frame.checksum_of(payload);
    }
    if (!whole) {
      ++damaged_;
      offset = next_magic(file, offset + 1, end);
      continue;
    }
    found_[frame.process][frame.number] = {number, offset + sizeof frame, frame.bytes,
                                           static_cast<capture::Stream>(frame.stream)};
    offset += sizeof frame + frame.bytes;
  }
}

void SpoolReader::read(const Process& process, capture::Stream stream,
                       const std::function<void(std::span<const std::uint8_t>)>& take) const {
  std::vector<std::uint8_t> payload;
  std::ifstream file;
  std::size_t open = paths_.size();
  for (std::size_t i = 0; i < process.frames.size(); ++i) {
    const Frame& frame = process.frames[i];
    const bool is_last_block = stream == capture::Stream::events && process.last_block == i;
    if (frame.stream != stream && !is_last_block) continue;
    if (frame.file != open) {
      file = std::ifstream(paths_[frame.file], std::ios::binary);
      open = frame.file;
    }
    payload.resize(frame.bytes);
    file.seekg(static_cast<std::streamoff>(frame.offset));
    if (!file.read(reinterpret_cast<char*>(payload.data()), frame.bytes)) {
      throw IoError(fmt::format("'{}' became shorter while it was read.", paths_[frame.file]));
    }
    take(payload);
  }
}

}  // namespace slabmark
