#include "bench/pattern/pattern.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "bench/pattern/content.hpp"

namespace slabmark {

namespace {

/// First time of each dataset in a round.
std::map<std::size_t, std::uint64_t> first_times(const Pattern& pattern, std::uint64_t round) {
  std::map<std::size_t, std::uint64_t> first;
  for (const Transfer& transfer : pattern.transfers(round)) {
    auto& time = first.emplace(transfer.dataset, transfer.time).first->second;
    time = std::min(time, transfer.time);
  }
  return first;
}

/// Contents whose times begin later.
class LaterContent : public Content {
 public:
  LaterContent(std::shared_ptr<const Content> all, std::map<std::size_t, std::uint64_t> first)
      : all_(std::move(all)), first_(std::move(first)) {}

  void fill(std::size_t dataset, std::uint64_t time, const Extent& start, const Extent& count,
            std::byte* out) const override {
    all_->fill(dataset, first_.at(dataset) + time, start, count, out);
  }
  bool same_at_all_times() const override { return all_->same_at_all_times(); }

 private:
  std::shared_ptr<const Content> all_;
  std::map<std::size_t, std::uint64_t> first_;
};

Pattern part_of_round(const Pattern& pattern, std::uint64_t round) {
  const auto first = first_times(pattern, round);
  Pattern part = pattern;
  part.rounds = 1;
  part.transfers = [all = pattern.transfers, round, first](std::uint64_t) {
    auto transfers = all(round);
    for (Transfer& transfer : transfers) transfer.time -= first.at(transfer.dataset);
    return transfers;
  };
  if (pattern.content) part.content = std::make_shared<LaterContent>(pattern.content, first);
  return part;
}

}  // namespace

bool round_is_trial(const Pattern& pattern) {
  return pattern.file_policy == FilePolicy::a_round || pattern.file_policy == FilePolicy::appended;
}

std::uint64_t file_count(const Pattern& pattern) {
  if (pattern.file_policy == FilePolicy::several) return pattern.files;
  return pattern.file_policy == FilePolicy::a_round ? pattern.rounds : 1;
}

std::string file_path(const Pattern& pattern, const std::string& path, std::uint64_t i) {
  if (pattern.file_policy == FilePolicy::one || pattern.file_policy == FilePolicy::appended) {
    return path;
  }
  std::filesystem::path numbered(path);
  numbered.replace_filename(
      fmt::format("{}_{}{}", numbered.stem().string(), i + 1, numbered.extension().string()));
  return numbered.string();
}

Pattern file_part(const Pattern& pattern, std::uint64_t i) {
  Pattern part = pattern.file_policy == FilePolicy::a_round ? part_of_round(pattern, i) : pattern;
  part.file_policy = FilePolicy::one;
  part.files = 1;
  part.file = i;
  return part;
}

std::uint64_t buffer_bytes(const Transfer& transfer, const Dataset& dataset) {
  if (!transfer.buffer) return moved_bytes(transfer, dataset);
  return element_count(transfer.buffer->extent()) * size_of(dataset.type);
}

std::uint64_t moved_bytes(const Transfer& transfer, const Dataset& dataset) {
  return transfer.file->element_count() * size_of(dataset.type);
}

std::uint64_t moved_bytes(const Pattern& pattern, std::uint64_t round) {
  std::uint64_t bytes = 0;
  for (const Transfer& transfer : pattern.transfers(round)) {
    bytes += moved_bytes(transfer, pattern.datasets[transfer.dataset]);
  }
  return bytes;
}

std::uint64_t moved_bytes(const Pattern& pattern) {
  std::uint64_t bytes = 0;
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    bytes += moved_bytes(pattern, round);
  }
  return bytes;
}

std::uint64_t request_count(const Pattern& pattern) {
  std::uint64_t requests = 0;
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    for (const Transfer& transfer : pattern.transfers(round)) {
      requests += transfer.file->hyperslab_count();
    }
  }
  return requests;
}

}  // namespace slabmark
