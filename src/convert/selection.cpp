#include "convert/selection.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark::convert {

namespace {

std::optional<std::size_t> variable_called(const FileContents& contents, const std::string& name) {
  const auto found = std::ranges::find(contents.variables, name, &FileVariable::name);
  if (found == contents.variables.end()) return std::nullopt;
  return static_cast<std::size_t>(found - contents.variables.begin());
}

/// Names of variables that belong to this one.
std::vector<std::string> companions_of(const FileContents& contents, const FileVariable& variable) {
  std::vector<std::string> names;
  for (const std::size_t d : variable.dimensions) names.push_back(contents.dimensions[d].name);
  for (const FileAttribute& attribute : variable.attributes) {
    if (attribute.name != "bounds" && attribute.name != "climatology" &&
        attribute.name != "coordinates") {
      continue;
    }
    std::string text(reinterpret_cast<const char*>(attribute.values.data()),
                     attribute.values.size());
    for (const std::string& one : attribute.strings) text += " " + one;
    std::istringstream words(text);
    for (std::string name; words >> name;) names.push_back(name);
  }
  return names;
}

void take(const FileContents& contents, std::size_t variable, std::vector<bool>& taken) {
  if (taken[variable]) return;
  taken[variable] = true;
  for (const std::string& name : companions_of(contents, contents.variables[variable])) {
    if (const auto found = variable_called(contents, name)) take(contents, *found, taken);
  }
}

std::vector<bool> taken_by(const FileContents& contents, const Selection& selection) {
  std::vector<bool> taken(contents.variables.size(), selection.only.empty());
  for (const std::string& name : selection.only) {
    if (const auto found = variable_called(contents, name)) take(contents, *found, taken);
  }
  for (const std::string& name : selection.skip) {
    if (const auto found = variable_called(contents, name)) taken[*found] = false;
  }
  return taken;
}

class SelectedSource : public Source {
 public:
  SelectedSource(std::shared_ptr<Source> source, const Selection& selection)
      : source_(std::move(source)) {
    const FileContents& all = source_->contents();
    const std::vector<bool> taken = taken_by(all, selection);
    std::vector<bool> has_dimension(all.dimensions.size(), false);
    for (std::size_t v = 0; v < taken.size(); ++v) {
      if (!taken[v]) continue;
      numbers_.push_back(v);
      for (const std::size_t d : all.variables[v].dimensions) has_dimension[d] = true;
    }
    std::vector<std::size_t> number_of(all.dimensions.size());
    for (std::size_t d = 0; d < has_dimension.size(); ++d) {
      if (!has_dimension[d]) continue;
      number_of[d] = contents_.dimensions.size();
      contents_.dimensions.push_back(all.dimensions[d]);
    }
    for (const std::size_t v : numbers_) {
      FileVariable& variable = contents_.variables.emplace_back(all.variables[v]);
      for (std::size_t& d : variable.dimensions) d = number_of[d];
    }
    contents_.attributes = all.attributes;
  }

  void read(std::size_t variable, const Hyperslab& box, std::byte* memory) override {
    source_->read(numbers_[variable], box, memory);
  }

 protected:
  std::vector<Source*> parts() const override { return {source_.get()}; }

 private:
  std::shared_ptr<Source> source_;
  std::vector<std::size_t> numbers_;  ///< in the source, by variable
};

void require_each(std::span<const FileContents* const> files, const std::vector<std::string>& names,
                  const char* option) {
  for (const std::string& name : names) {
    const auto has_it = [&](const FileContents* file) {
      return variable_called(*file, name).has_value();
    };
    if (std::ranges::any_of(files, has_it)) continue;
    throw InputError(fmt::format(
        "{} names '{}', but the input has no such variable; use the names that ncdump -h shows.",
        option, name));
  }
}

}  // namespace

void require_names(std::span<const FileContents* const> files, const Selection& selection) {
  require_each(files, selection.only, "--variables");
  require_each(files, selection.skip, "--skip");
}

std::vector<bool> needed_by_others(const FileContents& contents) {
  std::vector<bool> is_needed(contents.variables.size(), false);
  for (std::size_t v = 0; v < contents.variables.size(); ++v) {
    for (const std::string& name : companions_of(contents, contents.variables[v])) {
      const auto found = variable_called(contents, name);
      if (found && *found != v) is_needed[*found] = true;
    }
  }
  return is_needed;
}

std::vector<Selection> split(const FileContents& contents) {
  const std::vector<bool> is_needed = needed_by_others(contents);
  Selection of_all;
  for (const FileVariable& variable : contents.variables) {
    if (!contents.is_unlimited(variable)) of_all.only.push_back(variable.name);
  }
  std::vector<Selection> selections;
  std::vector<bool> taken(contents.variables.size(), false);
  const auto add = [&](std::size_t v) {
    selections.push_back(of_all);
    auto& only = selections.back().only;
    only.insert(only.begin(), contents.variables[v].name);
    take(contents, v, taken);
  };
  for (std::size_t v = 0; v < contents.variables.size(); ++v) {
    if (!is_needed[v] && contents.is_unlimited(contents.variables[v])) add(v);
  }
  // Variables that need each other.
  for (std::size_t v = 0; v < contents.variables.size(); ++v) {
    if (!taken[v] && contents.is_unlimited(contents.variables[v])) add(v);
  }
  return selections;
}

std::unique_ptr<Source> select(std::shared_ptr<Source> source, const Selection& selection) {
  return std::make_unique<SelectedSource>(std::move(source), selection);
}

}  // namespace slabmark::convert
