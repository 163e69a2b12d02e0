#include "convert/merge.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark::convert {

namespace {

/// The place in `ordered` before which the thing behind `at` in `of_file` belongs: so the order of
/// every file is kept where the files agree.
template <class Thing>
auto place_in(std::vector<Thing>& ordered, const std::vector<Thing>& of_file, std::size_t at) {
  for (std::size_t next = at + 1; next < of_file.size(); ++next) {
    const auto found = std::ranges::find(ordered, of_file[next].name, &Thing::name);
    if (found != ordered.end()) return found;
  }
  return ordered.end();
}

/// Where a variable is.
struct Holder {
  std::size_t file = 0, variable = 0;
};

class Merged : public Source {
 public:
  explicit Merged(std::vector<SeriesFile> files) : files_(std::move(files)) {
    contents_.attributes = files_.front().source->contents().attributes;
    for (const SeriesFile& file : files_) add_dimensions(file);
    std::map<std::string, std::vector<Holder>> holders;
    for (std::size_t f = 0; f < files_.size(); ++f) add_variables(f, holders);
    for (const FileVariable& variable : contents_.variables) {
      holders_.push_back(holders.at(variable.name));
    }
  }

  void read(std::size_t variable, const Hyperslab& box, std::byte* memory) override {
    const std::vector<Holder>& holders = holders_[variable];
    read_from(holders.front(), box, memory);
    if (holders.size() == 1) return;
    const FileVariable& shared = contents_.variables[variable];
    std::vector<std::byte> other(element_count(box) * size_of(shared.type));
    for (std::size_t h = 1; h < holders.size(); ++h) {
      read_from(holders[h], box, other.data());
      if (std::equal(other.begin(), other.end(), memory)) continue;
      refuse(files_[holders.front().file], files_[holders[h].file],
             fmt::format("both have the variable '{}', with other elements", shared.name));
    }
  }

 protected:
  std::vector<Source*> parts() const override { return sources_of(files_); }

 private:
  void read_from(Holder holder, const Hyperslab& box, std::byte* memory) {
    files_[holder.file].source->read(holder.variable, box, memory);
  }

  [[noreturn]] static void refuse(const SeriesFile& one, const SeriesFile& other,
                                  const std::string& reason) {
    throw InputError(fmt::format(
        "Cannot merge '{}' and '{}': {}. Leave the variable out with --skip, or convert the files "
        "one by one.",
        one.path, other.path, reason));
  }

  /// The first file that has such a thing.
  template <class Has>
  const SeriesFile& first_with(const Has& has) const {
    return *std::ranges::find_if(
        files_, [&](const SeriesFile& file) { return has(file.source->contents()); });
  }

  void add_dimensions(const SeriesFile& file) {
    const auto& dimensions = file.source->contents().dimensions;
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const FileDimension& one = dimensions[d];
      const auto known = std::ranges::find(contents_.dimensions, one.name, &FileDimension::name);
      if (known == contents_.dimensions.end()) {
        contents_.dimensions.insert(place_in(contents_.dimensions, dimensions, d), one);
      } else if (*known != one) {
        const auto has = [&](const FileContents& contents) {
          return std::ranges::count(contents.dimensions, one.name, &FileDimension::name) > 0;
        };
        refuse(first_with(has), file,
               fmt::format("dimension '{}' is {} in the one and {} in the other", one.name,
                           described(*known), described(one)));
      }
    }
  }

  static std::string described(const FileDimension& dimension) {
    return fmt::format("{}{}", dimension.length, dimension.is_unlimited ? " (unlimited)" : "");
  }

  void add_variables(std::size_t f, std::map<std::string, std::vector<Holder>>& holders) {
    const std::vector<FileVariable> variables = renumbered(files_[f].source->contents());
    for (std::size_t v = 0; v < variables.size(); ++v) {
      std::vector<Holder>& of_name = holders[variables[v].name];
      if (of_name.empty()) {
        contents_.variables.insert(place_in(contents_.variables, variables, v), variables[v]);
      } else {
        require_same(files_[of_name.front().file], files_[f], variables[v]);
      }
      of_name.push_back({f, v});
    }
  }

  /// The variables of a file with the numbers of dimensions that these have here.
  std::vector<FileVariable> renumbered(const FileContents& contents) const {
    std::vector<FileVariable> variables = contents.variables;
    for (FileVariable& variable : variables) {
      for (std::size_t& d : variable.dimensions) {
        const auto found = std::ranges::find(contents_.dimensions, contents.dimensions[d].name,
                                             &FileDimension::name);
        d = static_cast<std::size_t>(found - contents_.dimensions.begin());
      }
    }
    return variables;
  }

  void require_same(const SeriesFile& first, const SeriesFile& file,
                    const FileVariable& variable) const {
    const auto& known = *std::ranges::find(contents_.variables, variable.name, &FileVariable::name);
    if (is_same_variable(known, variable)) return;
    refuse(first, file,
           fmt::format("type, dimensions or attributes of variable '{}' differ", variable.name));
  }

  std::vector<SeriesFile> files_;
  std::vector<std::vector<Holder>> holders_;  ///< by variable
};

std::set<std::string> names_in(const SeriesFile& file) {
  std::set<std::string> names;
  for (const FileVariable& variable : file.source->contents().variables) {
    names.insert(variable.name);
  }
  return names;
}

}  // namespace

std::unique_ptr<Source> merge(std::vector<SeriesFile> files) {
  return std::make_unique<Merged>(std::move(files));
}

std::unique_ptr<Source> combine(std::vector<SeriesFile> files) {
  std::map<std::set<std::string>, std::size_t> group_of;
  std::vector<std::vector<SeriesFile>> groups;
  for (SeriesFile& file : files) {
    const std::size_t group = group_of.try_emplace(names_in(file), groups.size()).first->second;
    if (group == groups.size()) groups.emplace_back();
    groups[group].push_back(std::move(file));
  }
  std::vector<SeriesFile> joined;
  for (auto& group : groups) {
    const std::string path = group.front().path;
    joined.push_back(
        {path, group.size() == 1 ? std::move(group.front().source) : join(std::move(group))});
  }
  return joined.size() == 1 ? std::move(joined.front().source) : merge(std::move(joined));
}

}  // namespace slabmark::convert
