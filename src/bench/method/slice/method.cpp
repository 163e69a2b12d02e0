#include "bench/method/slice/method.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/method/slice/reader.hpp"
#include "core/base/error.hpp"
#include "core/base/path.hpp"
#include "storage/posix/file.hpp"

namespace slabmark {

namespace {

using slice::file_ending;

std::string stem_of(const std::string& path) {
  return path.ends_with(file_ending) ? path.substr(0, path.size() - file_ending.size()) : path;
}

/// Stands for a block whose place is not known yet; it begins with a line of memory, as blocks do.
alignas(64) constexpr double some_block = 0.0;

slice::Field field_of(const std::string& name, ElementType type) {
  if (type == ElementType::float64) return {name, &some_block};
  return {name, reinterpret_cast<const float*>(&some_block)};
}

constexpr std::array<std::pair<const char*, double slice::Tally::*>, 5> parts_of_tally = {{
    {"gather", &slice::Tally::gather},
    {"exchange", &slice::Tally::exchange},
    {"write", &slice::Tally::write},
    {"agree", &slice::Tally::agree},
    {"grow", &slice::Tally::grow},
}};

std::optional<std::string> unsupported_reason(const Pattern& pattern, slice::FileMode mode) {
  if (!pattern.slices) return "it writes slices of fields only";
  if (pattern.slices->type != ElementType::float32 &&
      pattern.slices->type != ElementType::float64) {
    return fmt::format("it writes slices of float32 or float64, not {}",
                       name_of(pattern.slices->type));
  }
  auto declaration = declare(pattern, "");
  declaration.mode = mode;
  const auto& processes = declaration.grid.processes;
  try {
    slice::check(declaration, processes[0] * processes[1] * processes[2]);
  } catch (const InputError& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> slice_files_beside(const std::string& path) {
  // STEM, then maybe _z4, then maybe _000042.
  static const std::regex slice_and_output("(_[xyz][0-9]+)?(_[0-9]+)?");
  const auto stem = std::filesystem::path(stem_of(path)).filename().string();
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory_of(path), none)) {
    const auto name = stem_of(entry.path().filename().string());
    if (!name.starts_with(stem) || name == stem || entry.path().extension() != file_ending)
      continue;
    if (!std::regex_match(name.substr(stem.size()), slice_and_output)) continue;
    files.push_back(std::filesystem::path(path).replace_filename(entry.path().filename()).string());
  }
  return files;
}

void SliceMethod::open(const std::string& path) {
  throw InputError(fmt::format(
      "'{}' cannot be read by a method that only writes slices; leave it out, or read the files "
      "with an HDF5 method.",
      path));
}

void SliceMethod::post(std::uint64_t round, std::span<std::byte* const> buffers) {
  const auto before = tally();
  write(round, buffers);
  const auto after = tally();
  for (const auto& [name, part] : parts_of_tally) {
    context_.clock.add_to_span(name, after.*part - before.*part);
  }
  ++outputs_;
}

void SliceMethod::inspect() {
  const auto all = tally();
  const auto an_output = [&](std::uint64_t slice::Tally::*what) {
    return context_.comm.sum(all.*what) / std::max<std::uint64_t>(outputs_, 1);
  };
  effective_ = {{"calls", {{"pwrite", all.requests}}},
                {"bytes_touched", an_output(&slice::Tally::bytes_touched)},
                {"bytes_written", an_output(&slice::Tally::bytes_written)},
                {"bytes_from_device", an_output(&slice::Tally::bytes_from_device)}};
}

SliceFiles::SliceFiles(const Comm& comm, const slice::Declaration& declaration)
    : output(comm.get(), declaration), mode_(declaration.mode) {
  for (const auto& cut : declaration.cuts) {
    stems_.push_back(declaration.prefix + cut.slice.name);
    if (mode_ == slice::FileMode::append) files_.push_back(file_of(mode_, stems_.back(), 0));
  }
}

void SliceFiles::write(std::uint64_t round) {
  if (mode_ == slice::FileMode::file_per_output) {
    for (const auto& stem : stems_) {
      files_.push_back(file_of(mode_, stem, round));
      guards_.emplace_back(files_.back());
    }
  }
  output.write(round, static_cast<double>(round));
}

void SliceFiles::sync() {
  output.flush();
  for (const auto& path : files_) posix::File::open(path, posix::File::Access::write).sync();
}

slice::Declaration declare(const Pattern& pattern, const std::string& path) {
  const auto& source = *pattern.slices;
  slice::Declaration declaration;
  declaration.grid = source.field;
  declaration.device = source.device;
  declaration.prefix = stem_of(path);
  declaration.type = pattern.datasets.front().type;
  for (const auto& dataset : pattern.datasets) {
    declaration.fields.push_back(field_of(dataset.name, source.type));
  }
  for (std::size_t s = 0; s < source.slices.size(); ++s) {
    slice::Cut cut;
    cut.slice = source.slices[s];
    for (std::uint64_t f = 0; f < source.fields; ++f) {
      cut.fields.push_back(declaration.fields[s * source.fields + f].name);
    }
    declaration.cuts.push_back(std::move(cut));
  }
  return declaration;
}

MethodInfo slice_info(std::string name, std::string summary, FileFormat format,
                      slice::FileMode mode) {
  MethodInfo info;
  info.name = std::move(name);
  info.summary = std::move(summary);
  info.format = format;
  info.supports = [mode](const Pattern& pattern, const Settings&) {
    return unsupported_reason(pattern, mode);
  };
  info.kind = MethodKind::slices;
  return info;
}

std::optional<std::string> reason_against_host_slices(const Pattern& pattern) {
  if (auto reason = unsupported_reason(pattern, slice::FileMode::append)) return reason;
  if (pattern.slices->device) return "it reads the fields in the host's memory";
  return std::nullopt;
}

}  // namespace slabmark
