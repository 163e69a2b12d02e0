#include "bench/method/as_captured/files.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "bench/pattern/captured/captured_pattern.hpp"

namespace slabmark {

namespace {

/// The part of a pattern that goes to one of the program's files, as a pattern of one file.
struct CapturedFile {
  std::uint64_t number = 0;  ///< of the path
  Pattern pattern;
  std::vector<std::size_t> datasets;  ///< of the whole pattern
};

bool is_in(const CapturedFile& part, std::size_t dataset, const CapturedRun& run) {
  return run.dataset_paths[dataset] == part.number;
}

/// Empty where all is one file. `pattern` outlives them.
std::vector<CapturedFile> parts_of(const Pattern& pattern) {
  const CapturedRun& run = *pattern.captured;
  std::vector<CapturedFile> parts;
  if (run.dataset_paths.empty()) return parts;
  for (const std::uint64_t number : run.files) {
    CapturedFile& part = parts.emplace_back();
    part.number = number;
    part.pattern = pattern;
    part.pattern.datasets.clear();
    std::vector<std::size_t> places(pattern.datasets.size());
    for (std::size_t i = 0; i < pattern.datasets.size(); ++i) {
      if (!is_in(part, i, run)) continue;
      places[i] = part.datasets.size();
      part.datasets.push_back(i);
      part.pattern.datasets.push_back(pattern.datasets[i]);
      part.pattern.datasets.back().name = run.dataset_names[i];
    }
    part.pattern.transfers = [&pattern, &run, number, places](std::uint64_t round) {
      std::vector<Transfer> transfers = pattern.transfers(round);
      std::erase_if(transfers, [&](const Transfer& transfer) {
        return run.dataset_paths[transfer.dataset] != number;
      });
      for (Transfer& transfer : transfers) transfer.dataset = places[transfer.dataset];
      return transfers;
    };
  }
  return parts;
}

class CapturedFilesReader : public PlainReader {
 public:
  CapturedFilesReader(const Comm& comm, FileFormat format, const Pattern& pattern,
                      const std::string& path)
      : parts_(parts_of(pattern)), places_(pattern.datasets.size()) {
    const std::vector<std::string> files = captured_files(pattern, path);
    for (std::size_t f = 0; f < parts_.size(); ++f) {
      const CapturedFile& part = parts_[f];
      readers_.push_back(info_of(format).open(comm, part.pattern, files[f]));
      for (std::size_t i = 0; i < part.datasets.size(); ++i) places_[part.datasets[i]] = {f, i};
    }
  }

  void read(std::size_t dataset, std::uint64_t time, Run run, std::byte* out) override {
    const auto& [file, place] = places_[dataset];
    readers_[file]->read(place, time, run, out);
  }

 private:
  const std::vector<CapturedFile> parts_;
  std::vector<std::unique_ptr<PlainReader>> readers_;
  std::vector<std::pair<std::size_t, std::size_t>> places_;  ///< file, dataset there
};

class CapturedFilesWriter : public Method {
 public:
  CapturedFilesWriter(const MethodInfo& plain, const MethodContext& context)
      : Method(context), parts_(parts_of(context.pattern)) {
    for (const CapturedFile& part : parts_) {
      methods_.push_back(plain.make({context.comm, part.pattern, context.direction,
                                     context.settings, context.clock, nullptr}));
    }
  }

  void choose_hints() override { each(&Method::choose_hints); }
  void create(const std::string& path) override {
    const std::vector<std::string> files = captured_files(context_.pattern, path);
    for (std::size_t f = 0; f < files.size(); ++f) methods_[f]->create(files[f]);
  }
  void define() override { each(&Method::define); }
  void open(const std::string& path) override {
    const std::vector<std::string> files = captured_files(context_.pattern, path);
    for (std::size_t f = 0; f < files.size(); ++f) methods_[f]->open(files[f]);
  }
  void prepare() override { each(&Method::prepare); }
  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const std::vector<Transfer> transfers = context_.pattern.transfers(round);
    for (std::size_t f = 0; f < parts_.size(); ++f) {
      std::vector<std::byte*> own;
      for (std::size_t i = 0; i < transfers.size(); ++i) {
        if (is_in(parts_[f], transfers[i].dataset, *context_.pattern.captured))
          own.push_back(buffers[i]);
      }
      methods_[f]->post(round, own);
    }
  }
  void flush() override { each(&Method::flush); }
  void sync() override { each(&Method::sync); }
  void inspect() override { each(&Method::inspect); }
  void close() override { each(&Method::close); }
  Json effective() const override { return methods_.front()->effective(); }

 private:
  void each(void (Method::*call)()) {
    for (const auto& method : methods_) (method.get()->*call)();
  }

  const std::vector<CapturedFile> parts_;
  std::vector<std::unique_ptr<Method>> methods_;
};

}  // namespace

std::vector<std::string> captured_files(const Pattern& pattern, const std::string& path) {
  std::vector<std::string> files = {path};
  if (!pattern.captured || pattern.captured->dataset_paths.empty()) return files;
  const std::vector<std::uint64_t>& numbers = pattern.captured->files;
  for (std::size_t f = 1; f < numbers.size(); ++f) {
    std::filesystem::path other(path);
    other.replace_filename(fmt::format("{}_file{}{}", other.stem().string(), numbers[f] + 1,
                                       other.extension().string()));
    files.push_back(other.string());
  }
  return files;
}

std::unique_ptr<PlainReader> open_captured_files(const Comm& comm, FileFormat format,
                                                 const Pattern& pattern, const std::string& path) {
  if (pattern.captured->dataset_paths.empty()) return info_of(format).open(comm, pattern, path);
  return std::make_unique<CapturedFilesReader>(comm, format, pattern, path);
}

std::unique_ptr<Method> make_captured_files(const MethodInfo& plain, const MethodContext& context) {
  if (context.pattern.captured->dataset_paths.empty()) return plain.make(context);
  return std::make_unique<CapturedFilesWriter>(plain, context);
}

}  // namespace slabmark
